// RUN: tile-opt %s --tile-decide-layouts --split-input-file --verify-diagnostics

module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
  // expected-error @+1 {{expected 'tile.warps', which is decided with atoms}}
  tile.kernel @warps(%x: index) {
    tile.return
  }
}

// -----

module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
  tile.kernel @extent(%x: index) attributes {tile.warps = 1 : i64} {
    // Registers count three of one extent, not of two.
    %a = arith.constant dense<1.0> : tensor<12xf32>
    // expected-error @+1 {{expected extents that are powers of two, or that one part of a place counts, got 'tensor<12x6xf32>'}}
    %b = arith.constant dense<1.0> : tensor<12x6xf32>
    tile.return
  }
}

// -----

module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
  tile.kernel @atom(%a: index) attributes {tile.warps = 1 : i64} {
    %x = arith.constant dense<1.0> : tensor<16x16xf32>
    // expected-error @+1 {{expected an atom}}
    %d = tile.dot %x, %x, %x : tensor<16x16xf32>, tensor<16x16xf32> -> tensor<16x16xf32>
    tile.return
  }
}

// -----

#rows = #tile.layout<register = [[0,1],[0,2],[0,4],[0,8]], lane = [[1,0],[2,0],[4,0],[8,0],[0,0]]>
module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
  tile.kernel @pinned(%a: index) attributes {tile.warps = 1 : i64} {
    %x = arith.constant dense<1.0> : tensor<16x16xf16>
    %c = arith.constant dense<1.0> : tensor<16x16xf32, #rows>
    // expected-error @+1 {{expected a result laid out as its atom has it, or not yet, got 'tensor<16x16xf32, #tile.layout<}}
    %d = tile.dot %x, %x, %c {atom = #nvptx.mma_sync<"m16n8k16", f16, f32>} : tensor<16x16xf16>, tensor<16x16xf16> -> tensor<16x16xf32, #rows>
    tile.return
  }
}

// -----

module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
  tile.kernel @unknown(%a: index) attributes {tile.warps = 1 : i64} {
    // expected-error @+1 {{expected an op that says how it is spread over threads}}
    %x = tensor.empty() : tensor<16xf32>
    tile.return
  }
}
