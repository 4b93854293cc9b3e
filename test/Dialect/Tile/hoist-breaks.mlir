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
