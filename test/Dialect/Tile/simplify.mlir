// What carries a decision is neither merged, folded nor hoisted; what carries none is.
// RUN: tile-opt %s --tile-simplify --tile-hoist-invariants | FileCheck %s

!view = !tile.view<?xf32>
#roles = [#tile.role<"mma", warps = 4>]

// CHECK-LABEL: tile.kernel @merged
// CHECK: %[[X:.*]] = arith.addf %{{.*}}, %{{.*}} : f32
// CHECK: %[[Y:.*]] = arith.addf %{{.*}}, %{{.*}} {tile.role = "mma"} : f32
// CHECK: %[[Z:.*]] = arith.addf %{{.*}}, %{{.*}} {tile.role = "mma"} : f32
// CHECK: tile.print "values" (%[[X]], %[[X]], %[[Y]], %[[Z]])
tile.kernel @merged(%a: f32, %b: f32) attributes {tile.roles = #roles} {
  %w = arith.addf %a, %b : f32
  %x = arith.addf %a, %b : f32
  %y = arith.addf %a, %b {tile.role = "mma"} : f32
  %z = arith.addf %a, %b {tile.role = "mma"} : f32
  tile.print "values" (%w, %x, %y, %z) : f32, f32, f32, f32
  tile.return
}

// CHECK-LABEL: tile.kernel @folded
// CHECK: %[[P:.*]] = arith.addi %{{.*}}, %{{.*}} {tile.role = "mma"} : i32
// CHECK: tile.print "values" (%c3_i32, %[[P]])
tile.kernel @folded() attributes {tile.roles = #roles} {
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  %f = arith.addi %one, %two : i32
  %p = arith.addi %one, %two {tile.role = "mma"} : i32
  tile.print "values" (%f, %p) : i32, i32
  tile.return
}

// CHECK-LABEL: tile.kernel @hoisted
// CHECK: arith.mulf
// CHECK: scf.for
// CHECK-NEXT: %{{.*}} = arith.addf %{{.*}}, %{{.*}} {tile.role = "mma", tile.stage = 0 : i64}
tile.kernel @hoisted(%a: f32, %n: index) attributes {tile.roles = #roles} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %x = arith.mulf %a, %a : f32
    %y = arith.addf %a, %a {tile.role = "mma", tile.stage = 0} : f32
    tile.print "values" (%x, %y) : f32, f32
  }
  tile.return
}

// A loop of one trip for these sizes is a loop to what is decided about its trips.
// CHECK-LABEL: tile.kernel @one_trip
// CHECK: scf.for
// CHECK-NEXT: arith.addf %{{.*}}, %{{.*}} {tile.role = "mma", tile.stage = 0 : i64}
// CHECK: }
// CHECK-NOT: scf.for
// CHECK: tile.return
tile.kernel @one_trip(%a: f32) attributes {tile.roles = #roles} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %c1 step %c1 {
    %y = arith.addf %a, %a {tile.role = "mma", tile.stage = 0} : f32
    tile.print "values" (%y) : f32
  }
  scf.for %i = %c0 to %c1 step %c1 {
    tile.print "values" (%a) : f32
  }
  tile.return
}
