// Roles of ops that say none.
// RUN: tile-opt %s --tile-complete-roles | FileCheck %s

!view = !tile.view<?xf32>
// An op belongs to the role that makes its operands, or else to that which uses its results.
// CHECK-LABEL: tile.kernel @told
tile.kernel @told(%a: !view, %b: !view) attributes {tile.roles = [#tile.role<"load", warps = 1>, #tile.role<"work", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  // What only computes is each role's own.
  // CHECK: %[[ONE:.*]] = arith.constant dense
  // CHECK-NOT: tile.role
  %one = arith.constant dense<1.0> : tensor<64xf32>
  scf.for %i = %c0 to %c8 step %c1 {
    // CHECK: tile.load {{.*}}role = "load", tile.atom
    %x = tile.load %a[%i] {tile.atom = "tma", role = "load"} : !view -> tensor<64xf32>
    // CHECK: tile.load {{.*}} {role = "work"}
    %y = tile.load %b[%i] : !view -> tensor<64xf32>
    // CHECK: arith.negf {{.*}} {tile.role = "work"}
    %n = arith.negf %x : tensor<64xf32>
    // CHECK: arith.addf %{{[^ ]*}}, %{{[^ ]*}} : tensor
    %s = arith.addf %n, %one : tensor<64xf32>
    // CHECK: arith.mulf {{.*}} {tile.role = "work"}
    %p = arith.mulf %s, %y {tile.role = "work"} : tensor<64xf32>
    // CHECK: scf.if
    %is = arith.cmpi eq, %i, %c1 : index
    scf.if %is {
      // CHECK: tile.store {{.*}} {role = "work"}
      tile.store %p, %b[%i] : tensor<64xf32>, !view
    // CHECK: } {tile.role = "work", tile.stage = 1 : i64}
    } {tile.stage = 1}
  }
  tile.return
}

// In a kernel of one role all is its own.
// CHECK-LABEL: tile.kernel @one
tile.kernel @one(%a: !view) attributes {tile.roles = [#tile.role<"all", warps = 4>]} {
  %c0 = arith.constant 0 : index
  // CHECK: tile.load {{.*}} {role = "all"}
  %x = tile.load %a[%c0] : !view -> tensor<64xf32>
  // CHECK: tile.store {{.*}} {role = "all"}
  tile.store %x, %a[%c0] : tensor<64xf32>, !view
  tile.return
}

// What is combined with what a role makes belongs to that role, whoever uses the whole.
// CHECK-LABEL: tile.kernel @combined
tile.kernel @combined(%a: !view, %b: !view) attributes {tile.roles = [#tile.role<"load", warps = 1>, #tile.role<"work", warps = 4>, #tile.role<"out", warps = 1>]} {
  %c0 = arith.constant 0 : index
  %x = tile.load %a[%c0] {tile.atom = "tma", role = "load"} : !view -> tensor<64xf32>
  %y = tile.load %b[%c0] {role = "work"} : !view -> tensor<64xf32>
  // CHECK: arith.negf {{.*}} {tile.role = "work"}
  %n = arith.negf %x : tensor<64xf32>
  %s = arith.addf %n, %y : tensor<64xf32>
  tile.store %s, %b[%c0] {role = "out"} : tensor<64xf32>, !view
  tile.return
}

// Loads of one ring are of one role; a condition that is pinned without one is of what makes its
// result.
// CHECK-LABEL: tile.kernel @together
tile.kernel @together(%a: !view, %b: !view) attributes {tile.roles = [#tile.role<"load", warps = 1>, #tile.role<"work", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant dense<0.0> : tensor<64xf32>
  %all = scf.for %i = %c0 to %c8 step %c1 iter_args(%s = %zero) -> tensor<64xf32> {
    // CHECK-COUNT-2: tile.load {{.*}}role = "load", tile.atom
    %x = tile.load %a[%i] {tile.atom = "tma"} : !view -> tensor<64xf32>
    %y = tile.load %b[%i] {tile.atom = "tma", role = "load"} : !view -> tensor<64xf32>
    %p = arith.mulf %x, %y {tile.role = "work"} : tensor<64xf32>
    %is = arith.cmpi eq, %i, %c1 : index
    %q = scf.if %is -> tensor<64xf32> {
      %n = arith.negf %p : tensor<64xf32>
      scf.yield %n : tensor<64xf32>
    } else {
      scf.yield %p : tensor<64xf32>
    // CHECK: } {tile.order = 1 : i64, tile.role = "work"}
    } {tile.order = 1}
    %t = arith.addf %q, %s : tensor<64xf32>
    scf.yield %t : tensor<64xf32>
  }
  tile.store %all, %b[%c0] {role = "work"} : tensor<64xf32>, !view
  tile.return
}

// A number that is computed from a role's tensors, in front of a loop, in it or behind it, tells the
// role of what is written of it, and so do those of conditions.
// CHECK-LABEL: tile.kernel @numbers
tile.kernel @numbers(%a: !view, %b: !view) attributes {tile.roles = [#tile.role<"load", warps = 1>, #tile.role<"work", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %none = arith.constant -1.0 : f32
  %most = scf.for %i = %c0 to %c8 step %c1 iter_args(%m = %none) -> f32 {
    %x = tile.load %a[%i] {tile.atom = "tma", role = "load"} : !view -> tensor<64xf32>
    %n = arith.negf %x {tile.role = "work"} : tensor<64xf32>
    %r = tile.reduce %n axis = 0 : tensor<64xf32> -> tensor<f32> {
    ^bb0(%l: f32, %o: f32):
      %u = arith.maximumf %l, %o : f32
      tile.yield %u : f32
    }
    %e = tile.to_scalar %r : tensor<f32>
    %g = arith.maximumf %m, %e : f32
    scf.yield %g : f32
  }
  %s = arith.addf %most, %none : f32
  %w = tile.splat %s : tensor<1xf32>
  // CHECK: tile.store {{.*}} {role = "work"}
  tile.store %w, %b[%c0] : tensor<1xf32>, !view
  // CHECK: tile.assert {{.*}} {role = "work"}
  %is = arith.cmpf ogt, %s, %none : f32
  tile.assert %is, "small" : i1
  scf.if %is {
    %one = arith.constant dense<1.0> : tensor<1xf32>
    // CHECK: tile.store {{.*}} {role = "work"}
    tile.store %one, %b[%c1] : tensor<1xf32>, !view
  }
  %y = tile.load %b[%c0] {role = "work"} : !view -> tensor<64xf32>
  tile.store %y, %b[%c0] {role = "work"} : tensor<64xf32>, !view
  tile.return
}

// What clean-ups made one op of, each role computes itself, and what no role is said to compute with
// it.
// CHECK-LABEL: tile.kernel @shared
tile.kernel @shared(%a: !tile.view<?xf16>, %b: !view) attributes {tile.roles = [#tile.role<"load", warps = 1>, #tile.role<"x", warps = 4>, #tile.role<"y", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %t = tile.load %a[%c0] {tile.atom = "tma", role = "load"} : !tile.view<?xf16> -> tensor<64xf16>
  // CHECK-DAG: %[[Y:.*]] = arith.extf {{.*}} {tile.role = "y"}
  // CHECK-DAG: %[[X:.*]] = arith.extf {{.*}} {tile.role = "x"}
  // CHECK-DAG: %[[NX:.*]] = arith.negf %[[X]] : tensor
  // CHECK-DAG: %[[NY:.*]] = arith.negf %[[Y]] : tensor
  // CHECK: tile.store %[[NX]], {{.*}} {role = "x"}
  // CHECK: tile.store %[[NY]], {{.*}} {role = "y"}
  %e = arith.extf %t : tensor<64xf16> to tensor<64xf32>
  %n = arith.negf %e : tensor<64xf32>
  tile.store %n, %b[%c0] {role = "x"} : tensor<64xf32>, !view
  tile.store %n, %b[%c0] {role = "y"} : tensor<64xf32>, !view
  tile.return
}

// A reduction is no op to compute twice: who alone uses it has the cast in front of it, too.
// CHECK-LABEL: tile.kernel @reduced
tile.kernel @reduced(%a: !tile.view<?xf16>, %b: !view, %c: !tile.view<?xf32>) attributes {tile.roles = [#tile.role<"load", warps = 1>, #tile.role<"x", warps = 4>, #tile.role<"y", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %t = tile.load %a[%c0] {tile.atom = "tma", role = "load"} : !tile.view<?xf16> -> tensor<64xf16>
  // CHECK-DAG: %[[Y:.*]] = arith.extf {{.*}} {tile.role = "y"}
  // CHECK-DAG: %[[X:.*]] = arith.extf {{.*}} {tile.role = "x"}
  // CHECK-DAG: tile.reduce %[[X]]
  // CHECK-DAG: tile.store %[[Y]], {{.*}} {role = "y"}
  %e = arith.extf %t : tensor<64xf16> to tensor<64xf32>
  %m = tile.reduce %e axis = 0 : tensor<64xf32> -> tensor<f32> {
  ^bb0(%p: f32, %q: f32):
    %0 = arith.maximumf %p, %q : f32
    tile.yield %0 : f32
  }
  %r = tile.reshape %m {role = "x"} : tensor<f32> -> tensor<1xf32>
  tile.store %r, %c[%c0] {role = "x"} : tensor<1xf32>, !tile.view<?xf32>
  tile.store %e, %b[%c0] {role = "y"} : tensor<64xf32>, !view
  tile.return
}

// Each role has in its own registers what the loop hands on.
// CHECK-LABEL: tile.kernel @handed_on
tile.kernel @handed_on(%a: !tile.view<?xf16>, %b: !view, %c: !view, %n: index) attributes {tile.roles = [#tile.role<"load", warps = 1>, #tile.role<"x", warps = 4>, #tile.role<"y", warps = 8>]} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  // CHECK: %[[INIT:.*]] = arith.constant dense<0.0
  // CHECK: %[[OWN:.*]] = arith.constant dense<0.0
  %zero = arith.constant dense<0.0> : tensor<64xf16>
  // CHECK: scf.for {{.*}} iter_args(%[[X:[^ ]*]] = %[[INIT]], %[[Y:[^ ]*]] = %[[OWN]])
  %last = scf.for %i = %c0 to %n step %c64 iter_args(%before = %zero) -> tensor<64xf16> {
    // CHECK: %[[T:.*]] = tile.load
    %t = tile.load %a[%i] {tile.atom = "tma", role = "load"} : !tile.view<?xf16> -> tensor<64xf16>
    // CHECK-DAG: %[[EX:.*]] = arith.extf %[[X]]
    // CHECK-DAG: %[[EY:.*]] = arith.extf %[[Y]]
    %e = arith.extf %before : tensor<64xf16> to tensor<64xf32>
    // CHECK-DAG: tile.store %[[EX]], {{.*}} {role = "y"}
    // CHECK-DAG: tile.store %[[EY]], {{.*}} {role = "x"}
    tile.store %e, %b[%i] {role = "x"} : tensor<64xf32>, !view
    tile.store %e, %c[%i] {role = "y"} : tensor<64xf32>, !view
    // CHECK: scf.yield %[[T]], %[[T]]
    scf.yield %t : tensor<64xf16>
  }
  tile.return
}
