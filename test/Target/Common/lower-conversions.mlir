// Bits of a register's number and of a lane's that change places: of two words a lane keeps one, and
// gives the other for one of the lane that differs in that bit.
// RUN: tile-opt %s --tile-lower-to-threads --canonicalize --cse | FileCheck %s

#near = #tile.layout<register = [[0,1],[0,2],[8,0]], lane = [[0,8],[0,4],[1,0],[2,0],[4,0]], warp = []>
#sum = #tile.layout<register = [[0,1],[8,0],[0,8]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = []>
#wide = #tile.layout<register = [[0,1],[0,2],[0,4]], lane = [[0,8],[8,0],[1,0],[2,0],[4,0]], warp = []>

module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
  // Pairs of bf16 are a word: of eight registers four words, two of which are exchanged.
  // CHECK-LABEL: func.func @pairs(
  // CHECK: %[[LANE:.*]] = arith.andi %{{.*}}, %c1_i32
  // CHECK: %[[UPPER:.*]] = arith.cmpi ne, %[[LANE]], %c0_i32
  // CHECK: %[[GIVEN:.*]] = arith.select %[[UPPER]], %[[LOW:.*]], %[[HIGH:.*]] : i32
  // CHECK: %[[TAKEN:.*]], %{{.*}} = gpu.shuffle xor %[[GIVEN]], %c1_i32, %c32_i32 : i32
  // CHECK: arith.select %[[UPPER]], %[[TAKEN]], %[[LOW]] : i32
  // CHECK: arith.select %[[UPPER]], %[[HIGH]], %[[TAKEN]] : i32
  // CHECK: gpu.shuffle xor
  // CHECK-NOT: gpu.shuffle
  // CHECK: return
  tile.kernel @pairs(%x: !tile.view<16x16xbf16, strides [16, 1]>, %y: !tile.view<16x16xbf16, strides [16, 1]>) attributes {tile.warps = 1 : i64} {
    %c0 = arith.constant 0 : index
    %t = tile.load %x[%c0, %c0] : !tile.view<16x16xbf16, strides [16, 1]> -> tensor<16x16xbf16, #near>
    %s = tile.convert_layout %t {how = #tile.conversion<lanes>} : tensor<16x16xbf16, #near> -> tensor<16x16xbf16, #sum>
    tile.store %s, %y[%c0, %c0] : tensor<16x16xbf16, #sum>, !tile.view<16x16xbf16, strides [16, 1]>
    tile.return
  }

  // Two bits of words of 32: four exchanges each.
  // CHECK-LABEL: func.func @twice(
  // CHECK-COUNT-4: gpu.shuffle xor {{.*}}, %c1_i32
  // CHECK-COUNT-4: gpu.shuffle xor {{.*}}, %c2_i32
  // CHECK-NOT: gpu.shuffle
  // CHECK: return
  tile.kernel @twice(%x: !tile.view<16x16xf32, strides [16, 1]>, %y: !tile.view<16x16xf32, strides [16, 1]>) attributes {tile.warps = 1 : i64} {
    %c0 = arith.constant 0 : index
    %t = tile.load %x[%c0, %c0] : !tile.view<16x16xf32, strides [16, 1]> -> tensor<16x16xf32, #wide>
    %s = tile.convert_layout %t {how = #tile.conversion<lanes>} : tensor<16x16xf32, #wide> -> tensor<16x16xf32, #sum>
    tile.store %s, %y[%c0, %c0] : tensor<16x16xf32, #sum>, !tile.view<16x16xf32, strides [16, 1]>
    tile.return
  }
}
