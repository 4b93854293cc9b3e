// What is computed of loads and would be exchanged by more shared memory than there is has the layout
// that is wanted: loads of fewer bytes are exchanged, and others are loaded so.
// RUN: tile-opt %s --tile-place-conversions | FileCheck %s

#rows = #tile.layout<register = [[0,1],[0,2],[0,4],[0,8],[32,0],[64,0]], lane = [[0,16],[0,32],[0,64],[0,128],[1,0],[2,0]], warp = [[4,0],[8,0],[16,0]]>
#columns = #tile.layout<register = [[1,0],[2,0],[4,0],[8,0],[0,64],[0,128]], lane = [[16,0],[32,0],[64,0],[0,1],[0,2],[0,4]], warp = [[0,8],[0,16],[0,32]]>
#sums = #tile.layout<register = [[1,0],[2,0],[8,0],[16,0],[0,32],[32,0]], lane = [[0,1],[0,2],[0,4],[0,8],[0,16],[4,0]], warp = [[0,64],[64,0],[0,128]]>
!f32 = tensor<128x256xf32, #columns>
module attributes {tile.target = #amdgcn.target<chip = "gfx942">} {
// CHECK: #[[SUMS:.*]] = #tile.layout<register = {{\[}}[1,0],[2,0],[8,0],[16,0],[0,32],[32,0]],
// CHECK-LABEL: tile.kernel @product
tile.kernel @product(%a: !tile.view<?x?xi8> {tile.facts = #tile.facts<pointer = 16, strides = [16, 1], extents = [16, 16]>}, %b: !tile.view<?x?xf32>, %c: !tile.view<?x?xf32>) attributes {tile.warps = 8 : i64} {
  %i = arith.constant 0 : index
  // CHECK: %[[A:.*]] = tile.load %a{{.*}} -> tensor<128x256xi8, #[[ROWS:.*]]>
  // CHECK: %[[X:.*]] = tile.convert_layout %[[A]] : tensor<128x256xi8, #[[ROWS]]> -> tensor<128x256xi8, #[[SUMS]]>
  // CHECK: %[[Y:.*]] = tile.load %b{{.*}} -> tensor<128x256xf32, #[[SUMS]]>
  // CHECK: arith.sitofp %[[X]]
  // CHECK-NOT: tile.convert_layout
  %x = tile.load %a[%i, %i] : !tile.view<?x?xi8> -> tensor<128x256xi8, #rows>
  %y = tile.load %b[%i, %i] : !tile.view<?x?xf32> -> !f32
  %w = arith.sitofp %x : tensor<128x256xi8, #rows> to tensor<128x256xf32, #rows>
  %v = tile.convert_layout %w : tensor<128x256xf32, #rows> -> !f32
  %p = arith.mulf %v, %y : !f32
  %s = tile.convert_layout %p : !f32 -> tensor<128x256xf32, #sums>
  tile.store %s, %c[%i, %i] : tensor<128x256xf32, #sums>, !tile.view<?x?xf32>
  tile.return
}
}
