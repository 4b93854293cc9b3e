// Loops that are left in front of all else that a trip does ask so in front of the trip.
// RUN: tile-opt %s -split-input-file --tile-hoist-breaks | FileCheck %s

// CHECK-LABEL: tile.kernel @first
// CHECK: %[[R:.*]] = scf.while (%[[I:.*]] = %c0, %[[S:.*]] = %{{.*}}) : (index, tensor<64xf32>) -> (index, tensor<64xf32>) {
// CHECK-NEXT: %[[MORE:.*]] = arith.cmpi slt, %[[I]], %n
// CHECK-NEXT: %[[LOADED:.*]] = tile.load %lengths[%c0]
// CHECK-NEXT: %[[LENGTH:.*]] = tile.to_scalar %[[LOADED]]
// CHECK-NEXT: %[[END:.*]] = arith.index_cast %[[LENGTH]]
// CHECK-NEXT: %[[STAYS:.*]] = arith.cmpi slt, %[[I]], %[[END]]
// CHECK-NEXT: %[[GOES:.*]] = arith.andi %[[MORE]], %[[STAYS]]
// CHECK-NEXT: scf.condition(%[[GOES]]) %[[I]], %[[S]]
// CHECK-NEXT: } do {
// CHECK-NEXT: ^bb0(%[[J:.*]]: index, %[[SUM:.*]]: tensor<64xf32>):
// CHECK-NEXT: %[[NEXT:.*]] = arith.addi %[[J]], %c64
// CHECK-NEXT: %[[X:.*]] = tile.load %a[%[[J]]]
// CHECK-NEXT: %[[NEW:.*]] = arith.addf %[[SUM]], %[[X]] {tile.stage = 1 : i64}
// CHECK-NEXT: scf.yield %[[NEXT]], %[[NEW]]
// CHECK-NEXT: } attributes {tile.depth = 2 : i64}
tile.kernel @first(%a: !tile.view<?xf32>, %lengths: !tile.view<?xi32>, %n: index, %o: !tile.view<?xf32> {tile.facts = #tile.facts<noalias>}) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %false = arith.constant false
  %true = arith.constant true
  %none = arith.constant dense<0.0> : tensor<64xf32>
  %r:2 = scf.while (%i = %c0, %left = %false, %s = %none) : (index, i1, tensor<64xf32>) -> (index, tensor<64xf32>) {
    %more = arith.cmpi slt, %i, %n : index
    %stays = arith.xori %left, %true : i1
    %goes = arith.andi %more, %stays : i1
    scf.condition(%goes) %i, %s : index, tensor<64xf32>
  } do {
  ^bb0(%i: index, %s: tensor<64xf32>):
    %next = arith.addi %i, %c64 : index
    %loaded = tile.load %lengths[%c0] : !tile.view<?xi32> -> tensor<1xi32>
    %length = tile.to_scalar %loaded : tensor<1xi32>
    %end = arith.index_cast %length : i32 to index
    %leaves = arith.cmpi sge, %i, %end : index
    %sum = scf.if %leaves -> (tensor<64xf32>) {
      scf.yield %s : tensor<64xf32>
    } else {
      %x = tile.load %a[%i] : !tile.view<?xf32> -> tensor<64xf32>
      %new = arith.addf %s, %x {tile.stage = 1 : i64} : tensor<64xf32>
      scf.yield %new : tensor<64xf32>
    }
    scf.yield %next, %leaves, %sum : index, i1, tensor<64xf32>
  } attributes {tile.depth = 2 : i64}
  tile.store %r#1, %o[%c0] : tensor<64xf32>, !tile.view<?xf32>
  tile.return
}

// -----

// What the loop is worth, if a trip is left, is what it hands on behind that trip.
// CHECK-LABEL: tile.kernel @counts
// CHECK: %[[R:.*]]:2 = scf.while
// CHECK: %[[MORE:.*]] = arith.cmpi slt
// CHECK: %[[LEAVES:.*]] = arith.cmpi eq
// CHECK: %[[IS:.*]] = arith.andi %[[MORE]], %[[LEAVES]]
// CHECK: arith.select %[[IS]], %{{.*}}, %{{.*}} : index
// CHECK: tile.store {{.*}}%{{.*}}[%[[R]]#0]
tile.kernel @counts(%o: !tile.view<?xf32>, %n: index, %at: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %false = arith.constant false
  %true = arith.constant true
  %none = arith.constant dense<0.0> : tensor<64xf32>
  %one = arith.constant dense<1.0> : tensor<64xf32>
  %r:2 = scf.while (%i = %c0, %left = %false, %s = %none) : (index, i1, tensor<64xf32>) -> (index, tensor<64xf32>) {
    %more = arith.cmpi slt, %i, %n : index
    %stays = arith.xori %left, %true : i1
    %goes = arith.andi %more, %stays : i1
    scf.condition(%goes) %i, %s : index, tensor<64xf32>
  } do {
  ^bb0(%i: index, %s: tensor<64xf32>):
    %next = arith.addi %i, %c1 : index
    %leaves = arith.cmpi eq, %i, %at : index
    %sum = scf.if %leaves -> (tensor<64xf32>) {
      scf.yield %s : tensor<64xf32>
    } else {
      %new = arith.addf %s, %one : tensor<64xf32>
      scf.yield %new : tensor<64xf32>
    }
    scf.yield %next, %leaves, %sum : index, i1, tensor<64xf32>
  }
  tile.store %r#1, %o[%r#0] : tensor<64xf32>, !tile.view<?xf32>
  tile.return
}

// -----

// Nothing is asked in front of a trip that is decided of, or that a product of the trip tells.
// CHECK-LABEL: tile.kernel @decided
// CHECK: scf.while ({{.*}} = %false
// CHECK: scf.while ({{.*}} = %false
tile.kernel @decided(%a: !tile.view<?xf32>, %o: !tile.view<?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %false = arith.constant false
  %true = arith.constant true
  %low = arith.constant 0.0 : f32
  %none = arith.constant dense<0.0> : tensor<64xf32>
  %r:2 = scf.while (%i = %c0, %left = %false, %s = %none) : (index, i1, tensor<64xf32>) -> (index, tensor<64xf32>) {
    %more = arith.cmpi slt, %i, %n : index
    %stays = arith.xori %left, %true : i1
    %goes = arith.andi %more, %stays : i1
    scf.condition(%goes) %i, %s : index, tensor<64xf32>
  } do {
  ^bb0(%i: index, %s: tensor<64xf32>):
    %next = arith.addi %i, %c1 {tile.stage = 0 : i64} : index
    %leaves = arith.cmpi eq, %next, %n : index
    %sum = scf.if %leaves -> (tensor<64xf32>) {
      scf.yield %s : tensor<64xf32>
    } else {
      %x = tile.load %a[%i] : !tile.view<?xf32> -> tensor<64xf32>
      scf.yield %x : tensor<64xf32>
    }
    scf.yield %next, %leaves, %sum : index, i1, tensor<64xf32>
  }
  tile.store %r#1, %o[%c0] : tensor<64xf32>, !tile.view<?xf32>
  %t:2 = scf.while (%i = %c0, %left = %false, %s = %none) : (index, i1, tensor<64xf32>) -> (index, tensor<64xf32>) {
    %more = arith.cmpi slt, %i, %n : index
    %stays = arith.xori %left, %true : i1
    %goes = arith.andi %more, %stays : i1
    scf.condition(%goes) %i, %s : index, tensor<64xf32>
  } do {
  ^bb0(%i: index, %s: tensor<64xf32>):
    %next = arith.addi %i, %c1 : index
    %all = tile.reduce %s axis = 0 : tensor<64xf32> -> tensor<f32> {
    ^bb0(%p: f32, %q: f32):
      %m = arith.maximumf %p, %q : f32
      tile.yield %m : f32
    }
    %most = tile.to_scalar %all : tensor<f32>
    %leaves = arith.cmpf ogt, %most, %low : f32
    %sum = scf.if %leaves -> (tensor<64xf32>) {
      scf.yield %s : tensor<64xf32>
    } else {
      %x = tile.load %a[%i] : !tile.view<?xf32> -> tensor<64xf32>
      scf.yield %x : tensor<64xf32>
    }
    scf.yield %next, %leaves, %sum : index, i1, tensor<64xf32>
  }
  tile.store %t#1, %o[%c0] : tensor<64xf32>, !tile.view<?xf32>
  tile.return
}

// -----

// The trip that is left has effects behind the condition, too: it stays.
// CHECK-LABEL: tile.kernel @behind
// CHECK: scf.while
// CHECK: scf.if
// CHECK: tile.store
tile.kernel @behind(%a: !tile.view<?xf32>, %o: !tile.view<?xf32>, %n: index, %at: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %false = arith.constant false
  %true = arith.constant true
  %none = arith.constant dense<0.0> : tensor<64xf32>
  %r:2 = scf.while (%i = %c0, %left = %false, %s = %none) : (index, i1, tensor<64xf32>) -> (index, tensor<64xf32>) {
    %more = arith.cmpi slt, %i, %n : index
    %stays = arith.xori %left, %true : i1
    %goes = arith.andi %more, %stays : i1
    scf.condition(%goes) %i, %s : index, tensor<64xf32>
  } do {
  ^bb0(%i: index, %s: tensor<64xf32>):
    %next = arith.addi %i, %c1 : index
    %leaves = arith.cmpi eq, %i, %at : index
    %sum = scf.if %leaves -> (tensor<64xf32>) {
      scf.yield %s : tensor<64xf32>
    } else {
      %x = tile.load %a[%i] : !tile.view<?xf32> -> tensor<64xf32>
      scf.yield %x : tensor<64xf32>
    }
    tile.store %sum, %o[%i] : tensor<64xf32>, !tile.view<?xf32>
    scf.yield %next, %leaves, %sum : index, i1, tensor<64xf32>
  }
  tile.return
}

// -----

// What two values are made of is made once, however long the chain.
// CHECK-LABEL: tile.kernel @chain
// CHECK: scf.while
// CHECK-COUNT-20: arith.addi
// CHECK: scf.condition
tile.kernel @chain(%a: !tile.view<?xf32>, %o: !tile.view<?xi64>, %n: index, %at: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 1 : i64
  %false = arith.constant false
  %true = arith.constant true
  %r:2 = scf.while (%i = %c0, %left = %false, %s = %zero) : (index, i1, i64) -> (index, i64) {
    %more = arith.cmpi slt, %i, %n : index
    %stays = arith.xori %left, %true : i1
    %goes = arith.andi %more, %stays : i1
    scf.condition(%goes) %i, %s : index, i64
  } do {
  ^bb0(%i: index, %s: i64):
    %next = arith.addi %i, %c1 : index
    %leaves = arith.cmpi eq, %i, %at : index
    %d0 = scf.if %leaves -> (i64) {
      scf.yield %s : i64
    } else {
      %x = arith.index_cast %i : index to i64
      scf.yield %x : i64
    }
    %d1 = arith.addi %d0, %d0 : i64
    %d2 = arith.addi %d1, %d1 : i64
    %d3 = arith.addi %d2, %d2 : i64
    %d4 = arith.addi %d3, %d3 : i64
    %d5 = arith.addi %d4, %d4 : i64
    %d6 = arith.addi %d5, %d5 : i64
    %d7 = arith.addi %d6, %d6 : i64
    %d8 = arith.addi %d7, %d7 : i64
    %d9 = arith.addi %d8, %d8 : i64
    %d10 = arith.addi %d9, %d9 : i64
    %d11 = arith.addi %d10, %d10 : i64
    %d12 = arith.addi %d11, %d11 : i64
    %d13 = arith.addi %d12, %d12 : i64
    %d14 = arith.addi %d13, %d13 : i64
    %d15 = arith.addi %d14, %d14 : i64
    %d16 = arith.addi %d15, %d15 : i64
    %d17 = arith.addi %d16, %d16 : i64
    %d18 = arith.addi %d17, %d17 : i64
    %d19 = arith.addi %d18, %d18 : i64
    %d20 = arith.addi %d19, %d19 : i64
    %d21 = arith.addi %d20, %d20 : i64
    %d22 = arith.addi %d21, %d21 : i64
    %d23 = arith.addi %d22, %d22 : i64
    %d24 = arith.addi %d23, %d23 : i64
    %d25 = arith.addi %d24, %d24 : i64
    %d26 = arith.addi %d25, %d25 : i64
    %d27 = arith.addi %d26, %d26 : i64
    %d28 = arith.addi %d27, %d27 : i64
    %d29 = arith.addi %d28, %d28 : i64
    %d30 = arith.addi %d29, %d29 : i64
    %d31 = arith.addi %d30, %d30 : i64
    %d32 = arith.addi %d31, %d31 : i64
    %d33 = arith.addi %d32, %d32 : i64
    %d34 = arith.addi %d33, %d33 : i64
    %d35 = arith.addi %d34, %d34 : i64
    %d36 = arith.addi %d35, %d35 : i64
    %d37 = arith.addi %d36, %d36 : i64
    %d38 = arith.addi %d37, %d37 : i64
    %d39 = arith.addi %d38, %d38 : i64
    %d40 = arith.addi %d39, %d39 : i64
    scf.yield %next, %leaves, %d40 : index, i1, i64
  }
  %t = tile.splat %r#1 : tensor<16xi64>
  tile.store %t, %o[%c0] : tensor<16xi64>, !tile.view<?xi64>
  tile.return
}
