// An scf.while whose ops have stages carries what it asks.
// RUN: tile-opt %s --tile-rotate-loops | FileCheck %s
// RUN: tile-opt %s --tile-rotate-loops --tile-rotate-loops | FileCheck %s

!view = !tile.view<?xi32>
!t = tensor<128xi32>
#roles = [#tile.role<"all", warps = 4>]

// What the condition is made of, a load too, runs in front of the loop and at the end of each trip.
// What is handed on that is not carried is carried from there on.
// CHECK-LABEL: tile.kernel @chain
// CHECK: %[[C0:.*]] = arith.constant 0 : i32
// CHECK: %[[AT:.*]] = arith.index_cast %first : i32 to index
// CHECK: %[[T:.*]] = tile.load %next[%[[AT]]]
// CHECK: %[[S:.*]] = tile.to_scalar
// CHECK: %[[ANY:.*]] = arith.cmpi ne, %[[S]], %[[C0]]
// CHECK: %{{.*}}:2 = scf.while (%[[GOES:.*]] = %[[ANY]], %[[A:.*]] = %[[S]], %[[B:.*]] = %[[SUM:.*]]) : (i1, i32, tensor<128xi32>) -> (i32, tensor<128xi32>) {
// CHECK-NEXT: scf.condition(%[[GOES]]) %[[A]], %[[B]] : i32, tensor<128xi32>
// CHECK-NEXT: } do {
// CHECK-NEXT: ^bb0(%[[I:.*]]: i32, %[[OLD:.*]]: tensor<128xi32>):
// CHECK: %[[NEW:.*]] = arith.addi %[[OLD]], %{{.*}} {tile.role = "all", tile.stage = 1 : i64}
// CHECK: %[[AT2:.*]] = arith.index_cast %[[I]] : i32 to index
// CHECK: %[[T2:.*]] = tile.load %next[%[[AT2]]]
// CHECK: %[[S2:.*]] = tile.to_scalar
// CHECK: %[[MORE:.*]] = arith.cmpi ne, %[[S2]], %[[C0]]
// CHECK: scf.yield %[[MORE]], %[[S2]], %[[NEW]] : i1, i32, tensor<128xi32>
tile.kernel @chain(%next: !view, %a: !view, %first: i32) attributes {tile.roles = #roles} {
  %c0 = arith.constant 0 : i32
  %i0 = arith.constant 0 : index
  %zero = arith.constant dense<0> : !t
  %end:2 = scf.while (%i = %first, %s = %zero) : (i32, !t) -> (i32, !t) {
    %at = arith.index_cast %i : i32 to index
    %t1 = tile.load %next[%at] : !view -> tensor<1xi32>
    %t0 = tile.reshape %t1 : tensor<1xi32> -> tensor<i32>
    %n = tile.to_scalar %t0 : tensor<i32>
    %goes = arith.cmpi ne, %n, %c0 : i32
    scf.condition(%goes) %n, %s : i32, !t
  } do {
  ^bb0(%i: i32, %s: !t):
    %at = arith.index_cast %i : i32 to index
    %x = tile.load %a[%at] {stage = 0, role = "all"} : !view -> !t
    %sum = arith.addi %s, %x {tile.stage = 1, tile.role = "all"} : !t
    scf.yield %i, %sum : i32, !t
  }
  tile.store %end#1, %a[%i0] {role = "all"} : !t, !view
  tile.return
}

// Where nobody says when something runs, the loop stays as it is.
// CHECK-LABEL: tile.kernel @plain
// CHECK: scf.while
// CHECK-NEXT: arith.cmpi
tile.kernel @plain(%a: !view, %n: i32) attributes {tile.roles = #roles} {
  %c1 = arith.constant 1 : i32
  %end = scf.while (%i = %n) : (i32) -> i32 {
    %goes = arith.cmpi sgt, %i, %c1 : i32
    scf.condition(%goes) %i : i32
  } do {
  ^bb0(%i: i32):
    %less = arith.subi %i, %c1 : i32
    scf.yield %less : i32
  }
  tile.return
}
