// An scf.while whose trips overlap: each says a trip ahead whether there is another.
// RUN: tile-opt %s --tile-rotate-loops --tile-realise-warp-groups --tile-complete-stages --tile-realise-stages | FileCheck %s

!view = !tile.view<?xf32>
!t = tensor<128xf32>
#facts = #tile.facts<noalias>
#roles = [#tile.role<"all", warps = 4>]

// The first trip asks in front of the loop, all others the trip before. What the load is of goes
// through the loop, so that the store is a trip behind.
// CHECK-LABEL: tile.kernel @ahead
// CHECK: %[[ANY:.*]] = arith.cmpi slt, %{{.*}}, %n
// CHECK: scf.if %[[ANY]] {
// CHECK-NEXT: %[[T0:.*]] = tile.load %a[%[[C0:.*]]]
// CHECK: %[[I1:.*]] = arith.addi %[[C0]]
// CHECK: %[[GOES1:.*]] = arith.cmpi slt, %[[I1]], %n
// CHECK: %[[LAST:.*]]:{{.*}} = scf.while (
// CHECK: scf.condition(
// CHECK: } do {
// CHECK: tile.load %a
// CHECK: tile.store %{{.*}}, %b
// CHECK: arith.cmpi slt
// CHECK-NEXT: scf.yield
// CHECK: }
// CHECK-NEXT: tile.store %[[LAST]]{{.*}}, %b[%[[LAST]]
// CHECK-NOT: stage
tile.kernel @ahead(%a: !view, %b: !view {tile.facts = #facts}, %n: index) attributes {tile.roles = #roles} {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %end = scf.while (%i = %c0) : (index) -> index {
    %goes = arith.cmpi slt, %i, %n : index
    scf.condition(%goes) %i : index
  } do {
  ^bb0(%i: index):
    %t = tile.load %a[%i] {stage = 0, role = "all"} : !view -> !t
    tile.store %t, %b[%i] {stage = 1, role = "all"} : !t, !view
    %next = arith.addi %i, %c128 : index
    scf.yield %next : index
  }
  tile.return
}

// With fewer iterations than stages, these alone run: one that begins is in the condition of all
// before it, and beside it stand the trips that end those.
// CHECK-LABEL: tile.kernel @few
// CHECK: scf.if
// CHECK: tile.load
// CHECK: scf.if
// CHECK: tile.load
// CHECK: arith.negf
// CHECK: scf.while
// CHECK: tile.load
// CHECK: arith.negf
// CHECK: tile.store
// CHECK: arith.negf
// CHECK: tile.store
// CHECK: tile.store
// CHECK: } else {
// CHECK-NEXT: arith.negf
// CHECK-NEXT: tile.store
// CHECK-NEXT: }
// CHECK-NEXT: } else {
// CHECK-NEXT: }
tile.kernel @few(%a: !view, %b: !view {tile.facts = #facts}, %n: index) attributes {tile.roles = #roles} {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %end = scf.while (%i = %c0) : (index) -> index {
    %goes = arith.cmpi slt, %i, %n : index
    scf.condition(%goes) %i : index
  } do {
  ^bb0(%i: index):
    %t = tile.load %a[%i] {stage = 0, role = "all"} : !view -> !t
    %u = arith.negf %t {tile.stage = 1, tile.role = "all"} : !t
    tile.store %u, %b[%i] {stage = 2, role = "all"} : !t, !view
    %next = arith.addi %i, %c128 : index
    scf.yield %next : index
  }
  tile.return
}
