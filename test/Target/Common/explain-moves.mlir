// What each move costs a warp stands in the metadata, for people to read.
// RUN: tile-opt %s --tile-order-shared --tile-lower-to-threads | FileCheck %s

#rows = #tile.layout<register = [[0,1],[0,2],[4,0],[8,0]], lane = [[0,4],[0,8],[0,16],[1,0],[2,0]], warp = []>
#columns = #tile.layout<register = [[1,0],[2,0],[0,4],[0,8]], lane = [[4,0],[8,0],[0,16],[0,1],[0,2]], warp = []>
#turned = #tile.layout<register = [[0,1],[0,2],[4,0],[8,0]], lane = [[1,0],[0,8],[0,16],[0,4],[2,0]], warp = []>
#order = #tile.layout<offset = [[0,1],[0,2],[0,4],[0,8],[0,16],[1,0],[2,0],[4,0],[8,0]]>
#facts = #tile.facts<pointer = 16, strides = [16, 4], extents = [0, 4]>

// Sixteen bytes a lane, eight lanes a row of 128 bytes.
// CHECK-DAG: {bytes = 16 : i64, instructions = 4 : i64, line = 21 : i64, op = "tile.load", sectors = 64 : i64, type = "tensor<16x32xf32>"}
// CHECK-DAG: {bytes = 16 : i64, conflicts = 0 : i64, cycles = 16 : i64, instructions = 4 : i64, line = 23 : i64, op = "tile.write", type = "tensor<16x32xf32>"}
// One element at a time: of eight different rows four share their banks.
// CHECK-DAG: {bytes = 4 : i64, conflicts = 48 : i64, cycles = 64 : i64, instructions = 16 : i64, line = 24 : i64, op = "tile.read", type = "tensor<16x32xf32>"}
// CHECK-DAG: {cycles = 32 : i64, instructions = 16 : i64, line = 25 : i64, op = "tile.convert_layout", type = "tensor<16x32xf32>", way = "lanes"}
// CHECK-DAG: {bytes = 4 : i64, instructions = 16 : i64, line = 26 : i64, op = "tile.store", sectors = 128 : i64, type = "tensor<16x32xf32>"}
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
  tile.kernel @moves(%x: !tile.view<?x?xf32> {tile.facts = #facts}) attributes {tile.warps = 1 : i64} {
    %c0 = arith.constant 0 : index

    %t = tile.load %x[%c0, %c0] : !tile.view<?x?xf32> -> tensor<16x32xf32, #rows>
    %b = tile.alloc {tile.shared_offset = 0 : i64} : !tile.buffer<16x32xf32, #order>
    tile.write %t, %b : tensor<16x32xf32, #rows>, !tile.buffer<16x32xf32, #order>
    %c = tile.read %b : !tile.buffer<16x32xf32, #order> -> tensor<16x32xf32, #columns>
    %s = tile.convert_layout %t : tensor<16x32xf32, #rows> -> tensor<16x32xf32, #turned>
    tile.store %c, %x[%c0, %c0] : tensor<16x32xf32, #columns>, !tile.view<?x?xf32>
    tile.store %s, %x[%c0, %c0] : tensor<16x32xf32, #turned>, !tile.view<?x?xf32>
    tile.return
  }
}
