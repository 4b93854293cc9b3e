// RUN: tile-opt %s --tile-realise-conversions --split-input-file --verify-diagnostics

#blocked = #tile.layout<register = [[0,1],[0,2]], lane = [[0,4],[1,0],[2,0],[4,0],[8,0]], warp = [[16,0]]>
#crossed = #tile.layout<register = [[0,1],[0,2]], lane = [[0,4],[1,0],[2,0],[4,0],[16,0]], warp = [[8,0]]>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
  tile.kernel @undecided(%x: f32) {
    %t = tile.splat %x : tensor<32x8xf32, #blocked>
    // expected-error @+1 {{expected 'how', which is decided before it is realised}}
    %c = tile.convert_layout %t : tensor<32x8xf32, #blocked> -> tensor<32x8xf32, #crossed>
    tile.return
  }
}

// -----

#blocked = #tile.layout<register = [[0,1],[0,2]], lane = [[0,4],[1,0],[2,0],[4,0],[8,0]], warp = [[16,0]]>
#crossed = #tile.layout<register = [[0,1],[0,2]], lane = [[0,4],[1,0],[2,0],[4,0],[16,0]], warp = [[8,0]]>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
  tile.kernel @too_little(%x: f32) {
    %t = tile.splat %x : tensor<32x8xf32, #blocked>
    // expected-error @+1 {{expected a way that can make this conversion}}
    %c = tile.convert_layout %t {how = #tile.conversion<lanes>} : tensor<32x8xf32, #blocked> -> tensor<32x8xf32, #crossed>
    tile.return
  }
}

// -----

#blocked = #tile.layout<register = [[0,1],[0,2]], lane = [[0,4],[1,0],[2,0],[4,0],[8,0]], warp = [[16,0]]>
#crossed = #tile.layout<register = [[0,1],[0,2]], lane = [[0,4],[1,0],[2,0],[4,0],[16,0]], warp = [[8,0]]>
#part = #tile.layout<offset = [[0,1],[0,2],[0,4],[1,0],[2,0],[4,0],[8,0],[16,0],[0,0]]>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
  tile.kernel @part(%x: f32) {
    %t = tile.splat %x : tensor<32x8xf32, #blocked>
    // expected-error @+1 {{expected a buffer whose layout orders all elements by 'offset'}}
    %c = tile.convert_layout %t {how = #tile.conversion<memory buffer = #part>} : tensor<32x8xf32, #blocked> -> tensor<32x8xf32, #crossed>
    tile.return
  }
}

// -----

#blocked = #tile.layout<register = [[0,1],[0,2]], lane = [[0,4],[1,0],[2,0],[4,0],[8,0]], warp = [[16,0]]>
#crossed = #tile.layout<register = [[0,1],[0,2]], lane = [[0,4],[1,0],[2,0],[4,0],[16,0]], warp = [[8,0]]>
#rows = #tile.layout<offset = [[0,1],[0,2],[0,4],[1,0],[2,0],[4,0],[8,0],[16,0]]>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
  tile.kernel @atom(%x: f16) {
    %t = tile.splat %x : tensor<32x8xf16, #blocked>
    // expected-error @+1 {{expected copy atoms that the buffer's layout admits}}
    %c = tile.convert_layout %t {how = #tile.conversion<memory buffer = #rows read = #nvptx.ldmatrix<4, 16>>} : tensor<32x8xf16, #blocked> -> tensor<32x8xf16, #crossed>
    tile.return
  }
}

// -----

#blocked = #tile.layout<register = [[0,1],[0,2]], lane = [[0,4],[1,0],[2,0],[4,0],[8,0]], warp = [[16,0]]>
#crossed = #tile.layout<register = [[0,1],[0,2]], lane = [[0,4],[1,0],[2,0],[4,0],[16,0]], warp = [[8,0]]>
#rows = #tile.layout<offset = [[0,1],[0,2],[0,4],[1,0],[2,0],[4,0],[8,0],[16,0]]>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
  tile.kernel @not_in_a_loop(%x: f32, %o: !tile.view<?x?xf32>) {
    %c0 = arith.constant 0 : index
    %t = tile.splat %x : tensor<32x8xf32, #blocked>
    // expected-error @+1 {{expected one that is deferred to go through memory, with nothing behind it but views that lead to a product in a loop}}
    %c = tile.convert_layout %t {deferred, how = #tile.conversion<memory buffer = #rows>} : tensor<32x8xf32, #blocked> -> tensor<32x8xf32, #crossed>
    tile.store %c, %o[%c0, %c0] : tensor<32x8xf32, #crossed>, !tile.view<?x?xf32>
    tile.return
  }
}

// -----

// expected-error @+1 {{expected elements of 16 bits to transpose, got 8}}
module attributes {x = #nvptx.ldmatrix<4, 8, transposed>} {}
