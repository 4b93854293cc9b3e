// A product adds up k in ascending order, whatever places along k a thread holds.
// RUN: tile-opt %s --tile-lower-to-threads --canonicalize --cse | FileCheck %s

#c = #tile.layout<register = [[0,1],[8,0]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = []>
// Eight neighbours of a row lie in one thread; the instruction's fragments would have two pairs.
#a = #tile.layout<register = [[0,1],[0,2],[0,4],[8,0]], lane = [[0,8],[0,16],[1,0],[2,0],[4,0]], warp = []>
#b = #tile.layout<register = [[0,1],[0,2],[0,4]], lane = [[0,8],[0,16],[1,0],[2,0],[4,0]], warp = []>
#facts = #tile.facts<pointer = 16, strides = [16, 2]>

module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
  // CHECK-LABEL: func.func @order
  // CHECK-COUNT-2: llvm.load {{.*}} -> vector<8xbf16>
  // CHECK: %[[ROW:.*]] = llvm.load {{.*}} -> vector<8xbf16>
  // CHECK: %[[B:.*]] = vector.bitcast %[[ROW]] : vector<8xbf16> to vector<4xi32>
  // CHECK: %[[B0:.*]] = vector.extract %[[B]][0]
  // CHECK: %[[B1:.*]] = vector.extract %[[B]][1]
  // CHECK: %[[FIRST:.*]] = nvvm.mma.sync A[{{.*}}] B[%[[B0]], %[[B1]]] C[
  // CHECK: %[[SUM:.*]] = llvm.extractvalue %[[FIRST]][0]
  // CHECK: %[[B2:.*]] = vector.extract %[[B]][2]
  // CHECK: %[[B3:.*]] = vector.extract %[[B]][3]
  // CHECK: nvvm.mma.sync A[{{.*}}] B[%[[B2]], %[[B3]]] C[%[[SUM]],
  // CHECK-NOT: nvvm.mma.sync
  tile.kernel @order(%x: !tile.view<16x32xbf16> {tile.facts = #facts}, %y: !tile.view<8x32xbf16> {tile.facts = #facts},
                     %z: !tile.view<16x8xf32>) attributes {tile.warps = 1 : i64} {
    %c0 = arith.constant 0 : index
    %l = tile.load %x[%c0, %c0] : !tile.view<16x32xbf16> -> tensor<16x32xbf16, #a>
    %r = tile.load %y[%c0, %c0] : !tile.view<8x32xbf16> -> tensor<8x32xbf16, #b>
    %s = tile.load %z[%c0, %c0] : !tile.view<16x8xf32> -> tensor<16x8xf32, #c>
    %d = tile.dot %l, %r, %s transpose_b {atom = #nvptx.mma_sync<"m16n8k16", bf16, f32>}
       : tensor<16x32xbf16, #a>, tensor<8x32xbf16, #b> -> tensor<16x8xf32, #c>
    tile.store %d, %z[%c0, %c0] : tensor<16x8xf32, #c>, !tile.view<16x8xf32>
    tile.return
  }
}
