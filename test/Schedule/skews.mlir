// Copies that lag behind one another meet in each trip that uses a ring: around their dots, or as
// often where none of these may run.
// RUN: tile-opt %s --tile-realise-rings --tile-decide-hand-overs --tile-realise-hand-overs --tile-realise-warp-groups --tile-complete-stages --tile-realise-stages | FileCheck %s

#rows = #tile.layout<offset = [[0,1],[0,2],[0,4],[0,8],[0,16],[1,0],[2,8],[4,16],[8,0],[16,0]]>
!view = !tile.view<?x?xf16>
!tile_ = !tile.buffer<32x32xf16, #rows>
!t = tensor<32x32xf16>
!sums = tensor<32x32xf32>
#copy = #nvptx.tma
#mma = #nvptx.wgmma<"m64n64k16", f16, f32>
#roles = [#tile.role<"load", warps = 4>, #tile.role<"mma", warps = 4, copies = 2, skew = 1>]

// A trip has no dot if a condition does not hold.
// CHECK-LABEL: tile.kernel @condition
// CHECK: role #tile.role<"mma"
// CHECK: scf.for
// CHECK: tile.get
// CHECK: scf.if
// CHECK-NEXT: tile.pend
// CHECK-NEXT: tile.barrier all_copies
// CHECK-NEXT: tile.start_dot
// CHECK-NEXT: tile.barrier all_copies
// CHECK-NEXT: tile.wait
// CHECK-NOT: tile.barrier
// CHECK: } else {
// CHECK-NEXT: tile.release
// CHECK-NEXT: tile.barrier all_copies
// CHECK-NEXT: tile.barrier all_copies
// CHECK-NEXT: scf.yield
// CHECK-NOT: tile.barrier
// CHECK: tile.store
tile.kernel @condition(%a: !view, %n: index, %m: index) attributes {tile.roles = #roles} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : !sums
  %r = scf.for %i = %c0 to %n step %c32 iter_args(%s = %zero) -> !sums {
    %x = tile.load %a[%i, %c0] {atom = #copy, buffer = !tile_, stage = 0, role = "load"} : !view -> !t
    %some = arith.cmpi slt, %i, %m : index
    %e = scf.if %some -> !sums {
      %d = tile.dot %x, %x, %s transpose_b {atom = #mma, role = "mma", in_flight = 0} : !t, !t -> !sums
      scf.yield %d : !sums
    } else {
      scf.yield %s : !sums
    }
    scf.yield %e : !sums
  } {tile.depth = 2}
  %t = arith.truncf %r : !sums to !t
  tile.store %t, %a[%c0, %c0] {role = "mma"} : !t, !view
  tile.return
}

// What is used in the condition alone nobody goes round without dots.
// CHECK-LABEL: tile.kernel @inside
// CHECK: role #tile.role<"mma"
// CHECK: scf.for
// CHECK: scf.if
// CHECK: tile.barrier all_copies
// CHECK-NEXT: tile.start_dot
// CHECK-NEXT: tile.barrier all_copies
// CHECK: } else {
// CHECK-NOT: tile.barrier
// CHECK: tile.store
tile.kernel @inside(%a: !view, %n: index, %m: index) attributes {tile.roles = #roles} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : !sums
  %r = scf.for %i = %c0 to %n step %c32 iter_args(%s = %zero) -> !sums {
    %some = arith.cmpi slt, %i, %m : index
    %e = scf.if %some -> !sums {
      %x = tile.load %a[%i, %c0] {atom = #copy, buffer = !tile_, role = "load", depth = 2} : !view -> !t
      %d = tile.dot %x, %x, %s transpose_b {atom = #mma, role = "mma", in_flight = 0} : !t, !t -> !sums
      scf.yield %d : !sums
    } else {
      scf.yield %s : !sums
    }
    scf.yield %e : !sums
  }
  %t = arith.truncf %r : !sums to !t
  tile.store %t, %a[%c0, %c0] {role = "mma"} : !t, !view
  tile.return
}

// Nor is it asked of trips with dots besides.
// CHECK-LABEL: tile.kernel @besides
// CHECK: role #tile.role<"mma"
// CHECK: scf.for
// CHECK: tile.barrier all_copies
// CHECK-NEXT: tile.start_dot
// CHECK-NEXT: tile.barrier all_copies
// CHECK: scf.if
// CHECK: tile.barrier all_copies
// CHECK-NEXT: tile.start_dot
// CHECK-NEXT: tile.barrier all_copies
// CHECK: } else {
// CHECK-NOT: tile.barrier
// CHECK: tile.store
tile.kernel @besides(%a: !view, %n: index, %m: index) attributes {tile.roles = #roles} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : !sums
  %r = scf.for %i = %c0 to %n step %c32 iter_args(%s = %zero) -> !sums {
    %x = tile.load %a[%i, %c0] {atom = #copy, buffer = !tile_, stage = 0, role = "load"} : !view -> !t
    %f = tile.dot %x, %x, %s transpose_b {atom = #mma, role = "mma", in_flight = 0} : !t, !t -> !sums
    %some = arith.cmpi slt, %i, %m : index
    %e = scf.if %some -> !sums {
      %d = tile.dot %x, %x, %f transpose_b {atom = #mma, role = "mma", in_flight = 0} : !t, !t -> !sums
      scf.yield %d : !sums
    } else {
      scf.yield %f : !sums
    }
    scf.yield %e : !sums
  } {tile.depth = 2}
  %t = arith.truncf %r : !sums to !t
  tile.store %t, %a[%c0, %c0] {role = "mma"} : !t, !view
  tile.return
}

// Of a loop in the trip, what says that it has trips is the condition.
// CHECK-LABEL: tile.kernel @nest
// CHECK: role #tile.role<"mma"
// CHECK: scf.for
// CHECK: tile.get
// CHECK: scf.if
// CHECK: scf.for
// CHECK: tile.barrier all_copies
// CHECK-NEXT: tile.start_dot
// CHECK-NEXT: tile.barrier all_copies
// CHECK-NOT: tile.barrier
// CHECK: } else {
// CHECK-NEXT: tile.release
// CHECK-NEXT: tile.barrier all_copies
// CHECK-NEXT: tile.barrier all_copies
// CHECK-NEXT: scf.yield
// CHECK-NOT: tile.barrier
// CHECK: tile.store
tile.kernel @nest(%a: !view, %n: index, %m: index) attributes {tile.roles = #roles} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : !sums
  %r = scf.for %i = %c0 to %n step %c32 iter_args(%s = %zero) -> !sums {
    %x = tile.load %a[%i, %c0] {atom = #copy, buffer = !tile_, stage = 0, role = "load"} : !view -> !t
    %e = scf.for %j = %c0 to %m step %c32 iter_args(%u = %s) -> !sums {
      %d = tile.dot %x, %x, %u transpose_b {atom = #mma, role = "mma", in_flight = 0} : !t, !t -> !sums
      scf.yield %d : !sums
    }
    scf.yield %e : !sums
  } {tile.depth = 2}
  %t = arith.truncf %r : !sums to !t
  tile.store %t, %a[%c0, %c0] {role = "mma"} : !t, !view
  tile.return
}

// A loop whose sum nobody holds stands in no condition: what asks follows it.
// CHECK-LABEL: tile.kernel @behind
// CHECK: role #tile.role<"mma"
// CHECK: scf.for
// CHECK: tile.get
// CHECK: scf.for %{{.*}} = %[[FROM:.*]] to %[[TO:.*]] step
// CHECK: tile.barrier all_copies
// CHECK-NEXT: tile.start_dot
// CHECK-NEXT: tile.barrier all_copies
// CHECK: }
// CHECK-NEXT: %[[NONE:.*]] = arith.cmpi sge, %[[FROM]], %[[TO]] : index
// CHECK-NEXT: scf.if %[[NONE]] {
// CHECK-NEXT: tile.barrier all_copies
// CHECK-NEXT: tile.barrier all_copies
// CHECK-NEXT: }
// CHECK: tile.store
tile.kernel @behind(%a: !view, %n: index, %m: index) attributes {tile.roles = #roles} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : !sums
  %r = scf.for %i = %c0 to %n step %c32 iter_args(%s = %zero) -> !sums {
    %x = tile.load %a[%i, %c0] {atom = #copy, buffer = !tile_, stage = 0, role = "load"} : !view -> !t
    %e = scf.for %j = %c0 to %m step %c32 iter_args(%u = %s) -> !sums {
      %d = tile.dot %x, %x, %zero transpose_b {atom = #mma, role = "mma", in_flight = 0} : !t, !t -> !sums
      %v = arith.mulf %d, %u {tile.role = "mma"} : !sums
      scf.yield %v : !sums
    }
    scf.yield %e : !sums
  } {tile.depth = 2}
  %t = arith.truncf %r : !sums to !t
  tile.store %t, %a[%c0, %c0] {role = "mma"} : !t, !view
  tile.return
}

// A loop that nobody counts tells whether it has had a trip.
// CHECK-LABEL: tile.kernel @uncounted
// CHECK: role #tile.role<"mma"
// CHECK: scf.for
// CHECK: tile.get
// CHECK: %[[TRUE:.*]] = arith.constant true
// CHECK: %[[LOOP:.*]]:3 = scf.while ({{.*}}, %[[NONE:.*]] = %[[TRUE]])
// CHECK: scf.condition({{.*}}) {{.*}}, %[[NONE]] :
// CHECK: tile.barrier all_copies
// CHECK-NEXT: tile.start_dot
// CHECK-NEXT: tile.barrier all_copies
// CHECK: %[[FALSE:.*]] = arith.constant false
// CHECK-NEXT: scf.yield {{.*}}, %[[FALSE]] :
// CHECK: scf.if %[[LOOP]]#2 {
// CHECK-NEXT: tile.barrier all_copies
// CHECK-NEXT: tile.barrier all_copies
// CHECK-NEXT: }
// CHECK: tile.store
tile.kernel @uncounted(%a: !view, %n: index, %m: index) attributes {tile.roles = #roles} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : !sums
  %r = scf.for %i = %c0 to %n step %c32 iter_args(%s = %zero) -> !sums {
    %x = tile.load %a[%i, %c0] {atom = #copy, buffer = !tile_, stage = 0, role = "load"} : !view -> !t
    %e:2 = scf.while (%u = %s, %j = %c0) : (!sums, index) -> (!sums, index) {
      %goes = arith.cmpi slt, %j, %m : index
      scf.condition(%goes) %u, %j : !sums, index
    } do {
    ^bb0(%u: !sums, %j: index):
      %d = tile.dot %x, %x, %zero transpose_b {atom = #mma, role = "mma", in_flight = 0} : !t, !t -> !sums
      %v = arith.mulf %d, %u {tile.role = "mma"} : !sums
      %next = arith.addi %j, %i : index
      scf.yield %v, %next : !sums, index
    }
    scf.yield %e#0 : !sums
  } {tile.depth = 2}
  %t = arith.truncf %r : !sums to !t
  tile.store %t, %a[%c0, %c0] {role = "mma"} : !t, !view
  tile.return
}
