// RUN: tile-opt %s --tile-realise-conversions --split-input-file | FileCheck %s

#blocked = #tile.layout<register = [[0,1],[0,2]], lane = [[0,4],[1,0],[2,0],[4,0],[8,0]], warp = [[16,0]]>
#swapped = #tile.layout<register = [[0,2],[0,1]], lane = [[0,4],[1,0],[2,0],[4,0],[8,0]], warp = [[16,0]]>
#turned = #tile.layout<register = [[0,1],[0,2]], lane = [[1,0],[0,4],[2,0],[4,0],[8,0]], warp = [[16,0]]>
#crossed = #tile.layout<register = [[0,1],[0,2]], lane = [[0,4],[1,0],[2,0],[4,0],[16,0]], warp = [[8,0]]>
#rows = #tile.layout<offset = [[0,1],[0,2],[0,4],[1,0],[2,0],[4,0],[8,0],[16,0]]>

module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
  // CHECK-LABEL: tile.kernel @conversions
  tile.kernel @conversions(%v: f32, %b: i1) {
    // CHECK: %[[X:.*]] = tile.splat
    // CHECK: %[[M:.*]] = tile.splat
    %x = tile.splat %v : tensor<32x8xf32, #blocked>
    %m = tile.splat %b : tensor<32x8xi1, #blocked>
    // Registers of one thread, and lanes of one warp, stay as they are.
    // CHECK-NEXT: tile.convert_layout %[[X]] {how = #tile.conversion<registers>}
    %a = tile.convert_layout %x {how = #tile.conversion<registers>} : tensor<32x8xf32, #blocked> -> tensor<32x8xf32, #swapped>
    // CHECK-NEXT: tile.convert_layout %[[X]] {how = #tile.conversion<lanes>}
    %c = tile.convert_layout %x {how = #tile.conversion<lanes>} : tensor<32x8xf32, #blocked> -> tensor<32x8xf32, #turned>
    // Through memory: what follows one another is written first, then read. Memory has no bits.
    // CHECK-NEXT: %[[B0:.*]] = tile.alloc : !tile.buffer<32x8xf32, #[[ROWS:.*]]>
    // CHECK-NEXT: tile.write %[[X]], %[[B0]]
    // CHECK-NEXT: %[[B1:.*]] = tile.alloc : !tile.buffer<32x8xi8, #[[ROWS]]>
    // CHECK-NEXT: %[[BYTES:.*]] = arith.extui %[[M]]
    // CHECK-NEXT: tile.write %[[BYTES]], %[[B1]]
    // CHECK-NEXT: tile.read %[[B0]]
    // CHECK-NEXT: %[[BACK:.*]] = tile.read %[[B1]]
    // CHECK-NEXT: arith.trunci %[[BACK]]
    %d = tile.convert_layout %x {how = #tile.conversion<memory buffer = #rows>} : tensor<32x8xf32, #blocked> -> tensor<32x8xf32, #crossed>
    %e = tile.convert_layout %m {how = #tile.conversion<memory buffer = #rows>} : tensor<32x8xi1, #blocked> -> tensor<32x8xi1, #crossed>
    tile.return
  }
}
