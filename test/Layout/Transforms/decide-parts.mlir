// RUN: tile-opt %s --tile-decide-parts | FileCheck %s

#sum = #tile.layout<register = [[0,1],[16,0]], lane = [[0,2],[1,0],[2,0],[4,0],[8,0]], warp = []>
#a = #tile.layout<register = [[16,0],[0,1],[0,2]], lane = [[0,0],[1,0],[2,0],[4,0],[8,0]], warp = []>
#b = #tile.layout<register = [[0,1],[1,0],[2,0]], lane = [[0,2],[0,0],[0,0],[0,0],[0,0]], warp = []>
#order = #tile.layout<offset = [[0,1],[0,2],[1,0],[2,0],[4,0],[8,0],[16,0]]>
module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
// What comes out of shared memory in front of the product, perhaps by a cast or by a conversion, is
// read k by k. What is decided already stays, and so does what no read makes.
// CHECK-LABEL: @kernel
// CHECK: tile.dot {{.*}} {atom = #tile.fma, parts = array<i64: 1, 1, 4>}
// CHECK: tile.dot {{.*}} {atom = #tile.fma, parts = array<i64: 1, 1, 4>}
// CHECK: tile.dot {{.*}} {atom = #tile.fma, parts = array<i64: 1, 1, 4>}
// CHECK: tile.dot {{.*}} {atom = #tile.fma, parts = array<i64: 1, 1, 2>}
// CHECK: tile.dot {{.*}} {atom = #tile.fma} :
tile.kernel @kernel(%x: !tile.view<32x4xf32>, %y: !tile.view<4x4xf32>, %z: !tile.view<32x4xf32>)
    attributes {tile.warps = 1 : i64} {
  %c0 = arith.constant 0 : index
  %s = tile.load %z[%c0, %c0] : !tile.view<32x4xf32> -> tensor<32x4xf32, #sum>
  %tb = tile.load %y[%c0, %c0] : !tile.view<4x4xf32> -> tensor<4x4xf32, #b>
  %tx = tile.load %x[%c0, %c0] : !tile.view<32x4xf32> -> tensor<32x4xf32, #a>
  %p = tile.alloc : !tile.buffer<32x4xf32, #order>
  %h = tile.alloc : !tile.buffer<32x4xf16, #order>
  %ta = tile.read %p : !tile.buffer<32x4xf32, #order> -> tensor<32x4xf32, #a>
  %d = tile.dot %ta, %tb, %s {atom = #tile.fma} : tensor<32x4xf32, #a>, tensor<4x4xf32, #b> -> tensor<32x4xf32, #sum>
  %th = tile.read %h : !tile.buffer<32x4xf16, #order> -> tensor<32x4xf16, #a>
  %te = arith.extf %th : tensor<32x4xf16, #a> to tensor<32x4xf32, #a>
  %e = tile.dot %te, %tb, %d {atom = #tile.fma} : tensor<32x4xf32, #a>, tensor<4x4xf32, #b> -> tensor<32x4xf32, #sum>
  %tc = tile.convert_layout %s {how = #tile.conversion<memory buffer = #order>} : tensor<32x4xf32, #sum> -> tensor<32x4xf32, #a>
  %f = tile.dot %tc, %tb, %e {atom = #tile.fma} : tensor<32x4xf32, #a>, tensor<4x4xf32, #b> -> tensor<32x4xf32, #sum>
  %tg = tile.read %p : !tile.buffer<32x4xf32, #order> -> tensor<32x4xf32, #a>
  %g = tile.dot %tg, %tb, %f {atom = #tile.fma, parts = array<i64: 1, 1, 2>} : tensor<32x4xf32, #a>, tensor<4x4xf32, #b> -> tensor<32x4xf32, #sum>
  %i = tile.dot %tx, %tb, %g {atom = #tile.fma} : tensor<32x4xf32, #a>, tensor<4x4xf32, #b> -> tensor<32x4xf32, #sum>
  tile.store %i, %z[%c0, %c0] : tensor<32x4xf32, #sum>, !tile.view<32x4xf32>
  tile.return
}
}
