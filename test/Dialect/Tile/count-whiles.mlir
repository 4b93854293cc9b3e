// What makes counted loops of whiles: up and down, with and without the bound, by 32 bits and more.
// RUN: tile-opt %s -split-input-file --tile-count-whiles | FileCheck %s

// CHECK-LABEL: tile.kernel @up
// CHECK: %[[SUM:.*]] = scf.for %[[K:.*]] = %c0 to %[[N:.*]] step %c64 iter_args(%[[ARG:.*]] = %{{.*}}) -> (tensor<64x64xf32>) {
// CHECK-NEXT: %[[X:.*]] = tile.load %a[%c0, %[[K]]]
// CHECK-NEXT: %[[D:.*]] = tile.dot %[[X]], %[[X]], %[[ARG]]
// CHECK-NEXT: scf.yield %[[D]]
// CHECK-NEXT: } {tile.depth = 3 : i64}
tile.kernel @up(%a: !tile.view<?x?xbf16>, %c: !tile.view<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %first = arith.constant 0 : i32
  %by = arith.constant 64 : i32
  %none = arith.constant dense<0.0> : tensor<64x64xf32>
  %n = tile.dim %a, 1 : !tile.view<?x?xbf16>
  %r:2 = scf.while (%k = %first, %sum = %none) : (i32, tensor<64x64xf32>) -> (i32, tensor<64x64xf32>) {
    %at = arith.index_cast %k : i32 to index
    %goes = arith.cmpi slt, %at, %n : index
    scf.condition(%goes) %k, %sum : i32, tensor<64x64xf32>
  } do {
  ^bb0(%k: i32, %sum: tensor<64x64xf32>):
    %at = arith.index_cast %k : i32 to index
    %x = tile.load %a[%c0, %at] : !tile.view<?x?xbf16> -> tensor<64x64xbf16>
    %d = tile.dot %x, %x, %sum transpose_b : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
    %next = arith.addi %k, %by : i32
    scf.yield %next, %d : i32, tensor<64x64xf32>
  } attributes {tile.depth = 3 : i64}
  tile.store %r#1, %c[%c0, %c0] : tensor<64x64xf32>, !tile.view<?x?xf32>
  tile.return
}

// -----

// What grows beside the counter follows from it, and both are known behind the loop.
// CHECK-LABEL: tile.kernel @down
// CHECK: scf.for %[[T:.*]] = %c0 to %{{.*}} step %c1 {
// CHECK: %[[K:.*]] = arith.muli %[[T]], %c32
// CHECK: tile.load %a[%[[K]]]
// CHECK: %[[TRIPS:.*]] = arith.maxsi %{{.*}}, %c0
// CHECK: arith.muli %[[TRIPS]], %c32
tile.kernel @down(%a: !tile.view<?xi32>, %n: i32) {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1 : i32
  %none = arith.constant 0 : i32
  %c32 = arith.constant 32 : index
  %r:2 = scf.while (%left = %n, %k = %c0) : (i32, index) -> (i32, index) {
    %goes = arith.cmpi sge, %left, %one : i32
    scf.condition(%goes) %left, %k : i32, index
  } do {
  ^bb0(%left: i32, %k: index):
    %x = tile.load %a[%k] : !tile.view<?xi32> -> tensor<32xi32>
    tile.store %x, %a[%k] : tensor<32xi32>, !tile.view<?xi32>
    %fewer = arith.subi %left, %one : i32
    %more = arith.addi %c32, %k : index
    scf.yield %fewer, %more : i32, index
  }
  %end = tile.load %a[%r#1] : !tile.view<?xi32> -> tensor<32xi32>
  tile.store %end, %a[%c0] : tensor<32xi32>, !tile.view<?xi32>
  tile.return
}

// -----

// Not counted: a bound that a trip changes, a step that is no constant, few bits, not a comparison.
// CHECK-LABEL: tile.kernel @uncounted
// CHECK-COUNT-5: scf.while
tile.kernel @uncounted(%a: !tile.view<?xi32>, %n: i32, %by: i32, %few: i8) {
  %c0 = arith.constant 0 : index
  %none = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %small = arith.constant 1 : i8
  %r0:2 = scf.while (%i = %none, %end = %n) : (i32, i32) -> (i32, i32) {
    %goes = arith.cmpi slt, %i, %end : i32
    scf.condition(%goes) %i, %end : i32, i32
  } do {
  ^bb0(%i: i32, %end: i32):
    %next = arith.addi %i, %one : i32
    %fewer = arith.shrsi %end, %one : i32
    scf.yield %next, %fewer : i32, i32
  }
  %r1 = scf.while (%i = %r0#0) : (i32) -> i32 {
    %goes = arith.cmpi slt, %i, %n : i32
    scf.condition(%goes) %i : i32
  } do {
  ^bb0(%i: i32):
    %next = arith.addi %i, %by : i32
    scf.yield %next : i32
  }
  %r2 = scf.while (%i = %small) : (i8) -> i8 {
    %goes = arith.cmpi slt, %i, %few : i8
    scf.condition(%goes) %i : i8
  } do {
  ^bb0(%i: i8):
    %next = arith.addi %i, %small : i8
    scf.yield %next : i8
  }
  %r3 = scf.while (%i = %r1) : (i32) -> i32 {
    %goes = arith.cmpi ne, %i, %n : i32
    scf.condition(%goes) %i : i32
  } do {
  ^bb0(%i: i32):
    %next = arith.addi %i, %one : i32
    scf.yield %next : i32
  }
  // It goes away from its bound.
  %r4 = scf.while (%i = %r3) : (i32) -> i32 {
    %goes = arith.cmpi sgt, %i, %n : i32
    scf.condition(%goes) %i : i32
  } do {
  ^bb0(%i: i32):
    %next = arith.addi %i, %one : i32
    scf.yield %next : i32
  }
  %wide = arith.extsi %r2 : i8 to i32
  %sum = arith.addi %r4, %wide : i32
  %t = tile.splat %sum : tensor<1xi32>
  tile.store %t, %a[%c0] : tensor<1xi32>, !tile.view<?xi32>
  tile.return
}

// -----

// What is decided of an op of the condition would be of no op of the loop: this one is left as it is.
// CHECK-LABEL: tile.kernel @decided
// CHECK: scf.while
// CHECK: arith.cmpi slt, %{{.*}} {tile.stage = 1 : i64}
tile.kernel @decided(%a: !tile.view<?xi32>, %n: i32) {
  %c0 = arith.constant 0 : index
  %none = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %r = scf.while (%i = %none) : (i32) -> i32 {
    %goes = arith.cmpi slt, %i, %n {tile.stage = 1 : i64} : i32
    scf.condition(%goes) %i : i32
  } do {
  ^bb0(%i: i32):
    %next = arith.addi %i, %one : i32
    scf.yield %next : i32
  }
  %t = tile.splat %r : tensor<1xi32>
  tile.store %t, %a[%c0] : tensor<1xi32>, !tile.view<?xi32>
  tile.return
}
