// RUN: tile-opt %s --tile-decide-conversions --split-input-file | FileCheck %s

#blocked = #tile.layout<register = [[0,1],[0,2]], lane = [[0,4],[1,0],[2,0],[4,0],[8,0]], warp = [[16,0]]>
#swapped = #tile.layout<register = [[0,2],[0,1]], lane = [[0,4],[1,0],[2,0],[4,0],[8,0]], warp = [[16,0]]>
#turned = #tile.layout<register = [[0,1],[0,2]], lane = [[1,0],[0,4],[2,0],[4,0],[8,0]], warp = [[16,0]]>
#crossed = #tile.layout<register = [[0,1],[0,2]], lane = [[0,4],[1,0],[2,0],[4,0],[16,0]], warp = [[8,0]]>
#rows = #tile.layout<offset = [[0,1],[0,2],[0,4],[1,0],[2,0],[4,0],[8,0],[16,0]]>
// Rows of 64 halves loaded 16 bytes a lane, and the first operand of a matrix instruction.
#loaded = #tile.layout<register = [[0,1],[0,2],[0,4],[4,0],[8,0]], lane = [[0,8],[0,16],[0,32],[1,0],[2,0]], warp = []>
#operand = #tile.layout<register = [[0,1],[8,0],[0,8],[0,16],[0,32]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = []>

// The eight rows that are read together lie in different banks: row bits are added to column bits.
// CHECK: #[[SWIZZLE:.*]] = #tile.layout<offset = {{\[}}[0,1],[0,2],[0,4],[0,8],[0,16],[0,32],[1,32],[2,16],[4,8],[8,0]]>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
  // CHECK-LABEL: tile.kernel @conversions
  tile.kernel @conversions(%v: f32, %h: f16) {
    %x = tile.splat %v : tensor<32x8xf32, #blocked>
    // CHECK: {how = #tile.conversion<registers>}
    %a = tile.convert_layout %x : tensor<32x8xf32, #blocked> -> tensor<32x8xf32, #swapped>
    // CHECK: {how = #tile.conversion<lanes>}
    %b = tile.convert_layout %x : tensor<32x8xf32, #blocked> -> tensor<32x8xf32, #turned>
    // CHECK: {how = #tile.conversion<memory buffer = #{{[a-z0-9]+}}>}
    %c = tile.convert_layout %x : tensor<32x8xf32, #blocked> -> tensor<32x8xf32, #crossed>
    // What is decided stays.
    // CHECK: {how = #tile.conversion<memory buffer = #{{[a-z0-9]+}}>}
    %d = tile.convert_layout %x {how = #tile.conversion<memory buffer = #rows>} : tensor<32x8xf32, #blocked> -> tensor<32x8xf32, #turned>
    // A copy atom reads the matrices; between lanes it would take more cycles.
    // CHECK: {how = #tile.conversion<memory buffer = #[[SWIZZLE]] read = #nvptx.ldmatrix<4, 16>>}
    %t = tile.splat %h : tensor<16x64xf16, #loaded>
    %o = tile.convert_layout %t : tensor<16x64xf16, #loaded> -> tensor<16x64xf16, #operand>
    tile.return
  }
}
