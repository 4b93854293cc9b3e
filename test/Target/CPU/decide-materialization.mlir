// RUN: tile-opt %s --cpu-decide-materialization --split-input-file | FileCheck %s

// Loads, arithmetic and the broadcast row maximum are computed in the store's loop; the maximum
// itself and the exponentials, which two ops use, are kept. The sum keeps the exponentials as it
// reads them.

// CHECK-LABEL: tile.kernel @softmax(
// CHECK-SAME:    attributes {cpu.buffer_bytes = array<i64: 64, 256, 64>}
// CHECK:         tile.load {{[^{]*}} : !tile.view
// CHECK:         tile.reduce %{{.*}} axis = 1 {cpu.buffers = array<i64: 2>}
// CHECK:         tile.broadcast %{{.*}} : tensor
// CHECK:         arith.subf %{{.*}} : tensor
// CHECK:         math.exp %{{.*}} {cpu.buffers = array<i64: 1>, cpu.fused}
// CHECK:         tile.reduce %{{.*}} axis = 1 {cpu.buffers = array<i64: 0>}
// CHECK:         arith.divf %{{.*}} : tensor
tile.kernel @softmax(%x: !tile.view<?x?xf32>, %y: !tile.view<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0, %c0] : !tile.view<?x?xf32> -> tensor<1x64xf32>
  %m = tile.reduce %a axis = 1 : tensor<1x64xf32> -> tensor<1xf32> {
  ^bb0(%l: f32, %r: f32):
    %s = arith.maximumf %l, %r : f32
    tile.yield %s : f32
  }
  %m1 = tile.reshape %m : tensor<1xf32> -> tensor<1x1xf32>
  %mb = tile.broadcast %m1 : tensor<1x1xf32> -> tensor<1x64xf32>
  %d = arith.subf %a, %mb : tensor<1x64xf32>
  %e = math.exp %d : tensor<1x64xf32>
  %sum = tile.reduce %e axis = 1 : tensor<1x64xf32> -> tensor<1xf32> {
  ^bb0(%l: f32, %r: f32):
    %s = arith.addf %l, %r : f32
    tile.yield %s : f32
  }
  %s1 = tile.reshape %sum : tensor<1xf32> -> tensor<1x1xf32>
  %sb = tile.broadcast %s1 : tensor<1x1xf32> -> tensor<1x64xf32>
  %q = arith.divf %e, %sb : tensor<1x64xf32>
  tile.store %q, %y[%c0, %c0] : tensor<1x64xf32>, !tile.view<?x?xf32>
  tile.return
}

// -----

// The accumulator has one buffer, the loop's, that the dot adds into; its operands are packed
// into buffers of its own, straight from memory.

// CHECK-LABEL: tile.kernel @accumulate(
// CHECK:         scf.for
// CHECK:           tile.load {{[^{]*}} : !tile.view
// CHECK:           tile.dot {{.*}} {cpu.buffers = array<i64: [[ACC:[0-9]+]]>, cpu.temps = array<i64: {{[0-9]+}}, {{[0-9]+}}>}
// CHECK:           scf.yield {cpu.temps = array<i64: -1>}
// CHECK:         } {cpu.buffers = array<i64: [[ACC]]>}
tile.kernel @accumulate(%x: !tile.view<?x?xf32>, %y: !tile.view<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %acc = scf.for %k = %c0 to %c8 step %c1 iter_args(%s = %zero) -> tensor<16x16xf32> {
    %a = tile.load %x[%c0, %k] : !tile.view<?x?xf32> -> tensor<16x8xf32>
    %b = tile.load %x[%k, %c0] : !tile.view<?x?xf32> -> tensor<8x16xf32>
    %d = tile.dot %a, %b, %s : tensor<16x8xf32>, tensor<8x16xf32> -> tensor<16x16xf32>
    scf.yield %d : tensor<16x16xf32>
  }
  tile.store %acc, %y[%c0, %c0] : tensor<16x16xf32>, !tile.view<?x?xf32>
  tile.return
}

// -----

// Of two values that the loop swaps one goes through a buffer between: neither may overwrite what
// the other still reads.

// CHECK-LABEL: tile.kernel @swap(
// CHECK:           scf.yield {cpu.temps = array<i64: {{[0-9]+}}, -1>}
tile.kernel @swap(%x: !tile.view<?xf32>, %y: !tile.view<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = tile.load %x[%c0] : !tile.view<?xf32> -> tensor<16xf32>
  %b = tile.load %y[%c0] : !tile.view<?xf32> -> tensor<16xf32>
  %p, %q = scf.for %i = %c0 to %c1 step %c1 iter_args(%s = %a, %t = %b)
      -> (tensor<16xf32>, tensor<16xf32>) {
    scf.yield %t, %s : tensor<16xf32>, tensor<16xf32>
  }
  %d = arith.subf %p, %q : tensor<16xf32>
  tile.store %d, %y[%c0] : tensor<16xf32>, !tile.view<?xf32>
  tile.return
}

// -----

// What is computed of another carried tensor is written before that one is overwritten: no copy.

// CHECK-LABEL: tile.kernel @feeds(
// CHECK:           scf.yield {cpu.temps = array<i64: -1, -1>}
tile.kernel @feeds(%x: !tile.view<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant dense<0.0> : tensor<16xf32>
  %one = arith.constant dense<1.0> : tensor<16xf32>
  %p, %q = scf.for %i = %c0 to %c3 step %c1 iter_args(%m = %zero, %w = %zero)
      -> (tensor<16xf32>, tensor<16xf32>) {
    %n = arith.addf %m, %one : tensor<16xf32>
    %v = arith.addf %w, %n : tensor<16xf32>
    scf.yield %n, %v : tensor<16xf32>, tensor<16xf32>
  }
  tile.store %q, %x[%c0] : tensor<16xf32>, !tile.view<?xf32>
  tile.return
}

// -----

// A carried tensor that is read at other places than it is written needs one; what else is
// computed of it does not.

// CHECK-LABEL: tile.kernel @turned(
// CHECK:           scf.yield {cpu.temps = array<i64: {{[0-9]+}}, -1, -1>}
tile.kernel @turned(%x: !tile.view<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0, %c0] : !tile.view<?x?xf32> -> tensor<8x8xf32>
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %p, %q, %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%m = %a, %w = %a, %u = %a)
      -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
    %t = tile.transpose %m [1, 0] : tensor<8x8xf32> -> tensor<8x8xf32>
    %n = arith.addf %t, %m : tensor<8x8xf32>
    %v = arith.addf %w, %m : tensor<8x8xf32>
    scf.yield %n, %v, %w : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
  }
  %s = arith.addf %q, %r : tensor<8x8xf32>
  tile.store %s, %x[%c0, %c0] : tensor<8x8xf32>, !tile.view<?x?xf32>
  tile.return
}

// -----

// A load is not moved past a write; one that the store itself might overlap gets a buffer to
// be copied to.

// CHECK-LABEL: tile.kernel @ordered(
// CHECK:         %[[A:.*]] = tile.load %{{.*}} {cpu.buffers = array<i64: {{[0-9]+}}>}
// CHECK:         tile.store {{.*}} {cpu.temps = array<i64>}
// CHECK:         %[[B:.*]] = tile.load %arg1[%{{.*}}] : !tile.view
// CHECK:         tile.store {{.*}} {cpu.temps = array<i64: {{[0-9]+}}>}
tile.kernel @ordered(%arg0: !tile.view<?xf32>, %arg1: !tile.view<?xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<16xf32>
  %a = tile.load %arg0[%c0] : !tile.view<?xf32> -> tensor<16xf32>
  tile.store %zero, %arg0[%c0] : tensor<16xf32>, !tile.view<?xf32>
  %b = tile.load %arg1[%c0] : !tile.view<?xf32> -> tensor<16xf32>
  %s = arith.addf %a, %b : tensor<16xf32>
  tile.store %s, %arg0[%c0] : tensor<16xf32>, !tile.view<?xf32>
  tile.return
}

// -----

// What no other argument reaches needs no copy.

// CHECK-LABEL: tile.kernel @alone(
// CHECK:         tile.store {{.*}} {cpu.temps = array<i64>}
tile.kernel @alone(%x: !tile.view<?xf32> {tile.facts = #tile.facts<noalias>},
                   %y: !tile.view<?xf32>) {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0] : !tile.view<?xf32> -> tensor<16xf32>
  tile.store %a, %y[%c0] : tensor<16xf32>, !tile.view<?xf32>
  tile.return
}
