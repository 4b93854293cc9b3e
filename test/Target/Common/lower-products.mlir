// RUN: tile-opt %s --tile-realise-parts --tile-order-shared --tile-lower-to-threads --canonicalize | FileCheck %s

// A product by multiply-adds takes one k after the other, and reads what it needs when it needs it.
#sum = #tile.layout<register = [[0,1],[16,0]], lane = [[0,2],[1,0],[2,0],[4,0],[8,0]], warp = []>
#a = #tile.layout<register = [[16,0],[0,1],[0,2]], lane = [[0,0],[1,0],[2,0],[4,0],[8,0]], warp = []>
#b = #tile.layout<register = [[0,1],[1,0],[2,0]], lane = [[0,2],[0,0],[0,0],[0,0],[0,0]], warp = []>
#inA = #tile.layout<offset = [[0,1],[0,2],[1,0],[2,0],[4,0],[8,0],[16,0]]>
#inB = #tile.layout<offset = [[0,1],[0,2],[1,0],[2,0]]>

module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
  // Four k of two rows at a time, and two columns of one k.
  // CHECK-LABEL: func.func @product
  // CHECK: gpu.barrier
  // CHECK-COUNT-2: llvm.load {{.*}} !llvm.ptr<3> -> vector<4xi32>
  // CHECK: llvm.load {{.*}} !llvm.ptr<3> -> vector<2xi32>
  // CHECK-COUNT-4: math.fma
  // CHECK: llvm.load {{.*}} !llvm.ptr<3> -> vector<2xi32>
  // CHECK-COUNT-4: math.fma
  // CHECK: llvm.load {{.*}} !llvm.ptr<3> -> vector<2xi32>
  // CHECK-COUNT-4: math.fma
  // CHECK: llvm.load {{.*}} !llvm.ptr<3> -> vector<2xi32>
  // CHECK-COUNT-4: math.fma
  // CHECK-NOT: llvm.load
  // CHECK-NOT: math.fma
  tile.kernel @product(%x: !tile.view<32x4xf32>, %y: !tile.view<4x4xf32>, %z: !tile.view<32x4xf32>)
      attributes {tile.warps = 1 : i64, tile.shared_bytes = 576 : i64} {
    %c0 = arith.constant 0 : index
    %s = tile.load %z[%c0, %c0] : !tile.view<32x4xf32> -> tensor<32x4xf32, #sum>
    %l = tile.load %x[%c0, %c0] : !tile.view<32x4xf32> -> tensor<32x4xf32, #sum>
    %p = tile.alloc {tile.shared_offset = 0 : i64} : !tile.buffer<32x4xf32, #inA>
    tile.write %l, %p : tensor<32x4xf32, #sum>, !tile.buffer<32x4xf32, #inA>
    %r = tile.load %y[%c0, %c0] : !tile.view<4x4xf32> -> tensor<4x4xf32, #b>
    %q = tile.alloc {tile.shared_offset = 512 : i64} : !tile.buffer<4x4xf32, #inB>
    tile.write %r, %q : tensor<4x4xf32, #b>, !tile.buffer<4x4xf32, #inB>
    %ta = tile.read %p : !tile.buffer<32x4xf32, #inA> -> tensor<32x4xf32, #a>
    %tb = tile.read %q : !tile.buffer<4x4xf32, #inB> -> tensor<4x4xf32, #b>
    %d = tile.dot %ta, %tb, %s {atom = #tile.fma, parts = array<i64: 1, 1, 4>} : tensor<32x4xf32, #a>, tensor<4x4xf32, #b> -> tensor<32x4xf32, #sum>
    tile.store %d, %z[%c0, %c0] : tensor<32x4xf32, #sum>, !tile.view<32x4xf32>
    tile.return
  }

  // What another op uses too is read once, where the source reads it, and in front of what writes
  // the buffer again.
  // CHECK-LABEL: func.func @used_again
  // CHECK: gpu.barrier
  // CHECK-COUNT-4: llvm.load {{.*}} !llvm.ptr<3> -> vector<2xi32>
  // CHECK-COUNT-2: llvm.load {{.*}} !llvm.ptr<3> -> vector<4xi32>
  // CHECK: arith.addf
  // CHECK-COUNT-16: math.fma
  // CHECK-NOT: llvm.load
  // CHECK: gpu.barrier
  // CHECK: llvm.store {{.*}} !llvm.ptr<3>
  // CHECK: arith.mulf
  tile.kernel @used_again(%x: !tile.view<32x4xf32>, %y: !tile.view<4x4xf32>,
                          %z: !tile.view<32x4xf32>)
      attributes {tile.warps = 1 : i64, tile.shared_bytes = 576 : i64} {
    %c0 = arith.constant 0 : index
    %s = tile.load %z[%c0, %c0] : !tile.view<32x4xf32> -> tensor<32x4xf32, #sum>
    %p = tile.alloc {tile.shared_offset = 0 : i64} : !tile.buffer<32x4xf32, #inA>
    tile.write %s, %p : tensor<32x4xf32, #sum>, !tile.buffer<32x4xf32, #inA>
    %r = tile.load %y[%c0, %c0] : !tile.view<4x4xf32> -> tensor<4x4xf32, #b>
    %q = tile.alloc {tile.shared_offset = 512 : i64} : !tile.buffer<4x4xf32, #inB>
    tile.write %r, %q : tensor<4x4xf32, #b>, !tile.buffer<4x4xf32, #inB>
    %tb = tile.read %q : !tile.buffer<4x4xf32, #inB> -> tensor<4x4xf32, #b>
    %ta = tile.read %p : !tile.buffer<32x4xf32, #inA> -> tensor<32x4xf32, #a>
    %twice = arith.addf %tb, %tb : tensor<4x4xf32, #b>
    %d = tile.dot %ta, %tb, %s {atom = #tile.fma, parts = array<i64: 1, 1, 4>} : tensor<32x4xf32, #a>, tensor<4x4xf32, #b> -> tensor<32x4xf32, #sum>
    tile.write %d, %p : tensor<32x4xf32, #sum>, !tile.buffer<32x4xf32, #inA>
    %squares = arith.mulf %ta, %ta : tensor<32x4xf32, #a>
    tile.store %twice, %y[%c0, %c0] : tensor<4x4xf32, #b>, !tile.view<4x4xf32>
    tile.store %squares, %x[%c0, %c0] : tensor<32x4xf32, #a>, !tile.view<32x4xf32>
    tile.return
  }
}
