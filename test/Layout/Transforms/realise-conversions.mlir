// RUN: tile-opt %s --tile-realise-conversions | FileCheck %s

#blocked = #tile.layout<register = [[0,1],[0,2]], lane = [[0,4],[1,0],[2,0],[4,0],[8,0]], warp = [[16,0]]>
#swapped = #tile.layout<register = [[0,2],[0,1]], lane = [[0,4],[1,0],[2,0],[4,0],[8,0]], warp = [[16,0]]>
#turned = #tile.layout<register = [[0,1],[0,2]], lane = [[1,0],[0,4],[2,0],[4,0],[8,0]], warp = [[16,0]]>
#crossed = #tile.layout<register = [[0,1],[0,2]], lane = [[0,4],[1,0],[2,0],[4,0],[16,0]], warp = [[8,0]]>
#mixed = #tile.layout<register = [[1,0],[2,0]], lane = [[0,1],[0,2],[0,4],[4,0],[8,0]], warp = [[16,0]]>

module {
  // CHECK-LABEL: tile.kernel @conversions
  tile.kernel @conversions(%v: f32) {
    // CHECK: %[[X:.*]] = tile.splat
    %x = tile.splat %v : tensor<32x8xf32, #blocked>
    // Registers of one thread, and lanes of one warp, stay as they are.
    // CHECK-NEXT: tile.convert_layout %[[X]]
    %a = tile.convert_layout %x : tensor<32x8xf32, #blocked> -> tensor<32x8xf32, #swapped>
    // CHECK-NEXT: tile.convert_layout %[[X]]
    %b = tile.convert_layout %x : tensor<32x8xf32, #blocked> -> tensor<32x8xf32, #turned>
    // Across warps, or with four candidates for a register: through memory.
    // CHECK-NEXT: %[[B0:.*]] = tile.alloc : !tile.buffer<32x8xf32>
    // CHECK-NEXT: tile.write %[[X]], %[[B0]]
    // CHECK-NEXT: tile.read %[[B0]]
    %c = tile.convert_layout %x : tensor<32x8xf32, #blocked> -> tensor<32x8xf32, #crossed>
    // CHECK-NEXT: %[[B1:.*]] = tile.alloc
    // CHECK-NEXT: tile.write %[[X]], %[[B1]]
    // CHECK-NEXT: tile.read %[[B1]]
    %d = tile.convert_layout %x : tensor<32x8xf32, #blocked> -> tensor<32x8xf32, #mixed>
    tile.return
  }
}
