// Loops whose trips overlap as stages say, and trips whose ops go by their order.
// RUN: tile-opt %s --tile-realise-warp-groups --tile-complete-stages --tile-realise-stages | FileCheck %s

!view = !tile.view<?xf32>
!t = tensor<128xf32>
#facts = #tile.facts<noalias>
#roles = [#tile.role<"all", warps = 4>]

// A load is a trip ahead of what uses it: one load in front of the loop, one use behind it.
// CHECK-LABEL: tile.kernel @ahead
// CHECK: %[[ANY:.*]] = arith.cmpi slt, %[[LOWER:.*]], %n
// CHECK: scf.if %[[ANY]] {
// CHECK-NEXT: %[[T0:.*]] = tile.load %a[%[[LOWER]]]
// CHECK-NEXT: %[[SECOND:.*]] = arith.addi %[[LOWER]], %[[STEP:[^ ]*]]
// CHECK-NEXT: %[[LAST:.*]] = scf.for %[[I:.*]] = %[[SECOND]] to %n step %[[STEP]] iter_args(%[[T:.*]] = %[[T0]])
// CHECK-NEXT: %[[NEXT:.*]] = tile.load %a[%[[I]]]
// CHECK: %[[BEFORE:.*]] = arith.addi %[[I]]
// CHECK-NEXT: tile.store %[[T]], %b[%[[BEFORE]]]
// CHECK-NEXT: scf.yield %[[NEXT]]
// CHECK: tile.store %[[LAST]], %b
// CHECK-NOT: stage
tile.kernel @ahead(%a: !view, %b: !view {tile.facts = #facts}, %n: index) attributes {tile.roles = #roles} {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  scf.for %i = %c0 to %n step %c128 {
    %t = tile.load %a[%i] {stage = 0, role = "all"} : !view -> !t
    tile.store %t, %b[%i] {stage = 1, role = "all"} : !t, !view
  }
  tile.return
}

// What the loop carries is carried from the stage that makes it: the sum at stage 1, the count at 0.
// CHECK-LABEL: tile.kernel @carried
// CHECK: %[[R:.*]]:2 = scf.if
// CHECK: %[[L:.*]]:3 = scf.for %{{.*}} iter_args(%[[SUM:.*]] = %{{.*}}, %[[T:.*]] = %{{.*}}, %[[COUNT:.*]] = %{{.*}})
// CHECK: %[[NEXT:.*]] = tile.load
// CHECK: %[[MORE:.*]] = arith.addf %[[SUM]], %[[T]]
// CHECK: %[[NUMBER:.*]] = arith.addi %[[COUNT]]
// CHECK: scf.yield %[[MORE]], %[[NEXT]], %[[NUMBER]]
// CHECK: %[[END:.*]] = arith.addf %[[L]]#0, %[[L]]#1
// CHECK: scf.yield %[[END]], %[[L]]#2
// CHECK: } else {
// CHECK-NEXT: scf.yield %{{.*}}, %{{.*}} : tensor<128xf32>, index
tile.kernel @carried(%a: !view, %b: !view {tile.facts = #facts}, %n: index) attributes {tile.roles = #roles} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  %zero = arith.constant dense<0.0> : !t
  %r:2 = scf.for %i = %c0 to %n step %c128 iter_args(%s = %zero, %count = %c0) -> (!t, index) {
    %t = tile.load %a[%i] {stage = 0, role = "all"} : !view -> !t
    %d = arith.addf %s, %t {tile.stage = 1, tile.role = "all"} : !t
    %more = arith.addi %count, %c1 : index
    scf.yield %d, %more : !t, index
  }
  tile.store %r#0, %b[%r#1] {role = "all"} : !t, !view
  tile.return
}

// With fewer iterations than stages, these alone run.
// CHECK-LABEL: tile.kernel @few
// CHECK: scf.if
// CHECK-COUNT-2: tile.load
// CHECK: scf.for
// CHECK: tile.load
// CHECK: tile.store
// CHECK-COUNT-2: tile.store
// CHECK: } else {
// CHECK: scf.if
// CHECK-NEXT: tile.load
// CHECK-NEXT: arith.negf
// CHECK-NEXT: tile.store
tile.kernel @few(%a: !view, %b: !view {tile.facts = #facts}, %n: index) attributes {tile.roles = #roles} {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  scf.for %i = %c0 to %n step %c128 {
    %t = tile.load %a[%i] {stage = 0, role = "all"} : !view -> !t
    %u = arith.negf %t {tile.stage = 1, tile.role = "all"} : !t
    tile.store %u, %b[%i] {stage = 2, role = "all"} : !t, !view
  }
  tile.return
}

// A loop that surely has an iteration needs no question. Ops go by their order; one that has none
// stays behind the op that it follows, and in front of what needs it.
// CHECK-LABEL: tile.kernel @order
// CHECK-NOT: scf.if
// CHECK: scf.for
// CHECK: %[[Y:.*]] = tile.load %b
// CHECK-NEXT: %[[ABS:.*]] = math.absf %[[Y]]
// CHECK-NEXT: %[[X:.*]] = tile.load %a
// CHECK-NEXT: %[[NEG:.*]] = arith.negf %[[X]]
// CHECK-NEXT: tile.store %[[NEG]]
// CHECK-NEXT: %{{.*}} = arith.addi
// CHECK-NEXT: tile.store %[[ABS]]
tile.kernel @order(%a: !view, %b: !view, %c: !view {tile.facts = #facts}) attributes {tile.roles = #roles} {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %c512 = arith.constant 512 : index
  scf.for %i = %c0 to %c512 step %c128 {
    %x = tile.load %a[%i] {stage = 0, order = 1, role = "all"} : !view -> !t
    %neg = arith.negf %x : !t
    tile.store %neg, %c[%i] {stage = 0, order = 2, role = "all"} : !t, !view
    %y = tile.load %b[%i] {stage = 0, order = 0, role = "all"} : !view -> !t
    %abs = math.absf %y : !t
    %at = arith.addi %i, %c512 : index
    tile.store %abs, %c[%at] {stage = 0, order = 3, role = "all"} : !t, !view
  }
  tile.return
}
