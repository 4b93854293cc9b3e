// RUN: tile-opt %s --tile-pipeline="target=nvptx:sm_90a stop-after=target" | FileCheck %s
// Ops that need what stands elsewhere: totals go between lanes, then through shared memory; a sort
// is a network of compare-exchanges there; bins are counted by shared atomics.

// CHECK-LABEL: func.func @scan(
// CHECK-COUNT-5: gpu.shuffle xor
// CHECK-NOT: gpu.barrier
// CHECK: llvm.store {{.*}}!llvm.ptr<3>
// CHECK: gpu.barrier
// CHECK: llvm.load {{.*}}!llvm.ptr<3>
tile.kernel @scan(%x: !tile.view<?xf32>, %y: !tile.view<?xf32>) {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%c0] : !tile.view<?xf32> -> tensor<4096xf32>
  %s = tile.scan %t axis = 0 : tensor<4096xf32> -> tensor<4096xf32> {
  ^bb0(%l: f32, %r: f32):
    %a = arith.addf %l, %r : f32
    tile.yield %a : f32
  }
  tile.store %s, %y[%c0] : tensor<4096xf32>, !tile.view<?xf32>
  tile.return
}

// CHECK-LABEL: func.func @sort(
// CHECK: scf.for
// CHECK: scf.for
// CHECK: scf.for
// CHECK: arith.cmpi ugt
// CHECK: gpu.barrier
tile.kernel @sort(%x: !tile.view<?xf32>, %y: !tile.view<?xf32>) {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%c0] : !tile.view<?xf32> -> tensor<64xf32>
  %s = tile.sort %t axis = 0 : tensor<64xf32> -> tensor<64xf32>
  tile.store %s, %y[%c0] : tensor<64xf32>, !tile.view<?xf32>
  tile.return
}

// CHECK-LABEL: func.func @histogram(
// CHECK: llvm.atomicrmw add {{.*}} syncscope("program") monotonic {{.*}}!llvm.ptr<3>
tile.kernel @histogram(%x: !tile.view<?xi32>, %y: !tile.view<?xi32>) {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%c0] : !tile.view<?xi32> -> tensor<256xi32>
  %h = tile.histogram %t : tensor<256xi32> -> tensor<16xi32>
  tile.store %h, %y[%c0] : tensor<16xi32>, !tile.view<?xi32>
  tile.return
}
