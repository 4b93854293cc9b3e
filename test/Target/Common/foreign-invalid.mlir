// Inline assembly that no register of the target fits, at its line.
// RUN: tile-opt %s --tile-check-target --split-input-file --verify-diagnostics

module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
  tile.kernel @letters(%n: index) {
    %f = arith.constant dense<1.0> : tensor<64xf32>
    // expected-error @+1 {{'tile.inline_asm' is not supported on nvptx:sm_90a yet: expected one of the constraints b, c, h, r, l, f, d, got 'v'}}
    %s = tile.inline_asm "" "=v,0" pure (%f) : (tensor<64xf32>) -> tensor<64xf32>
    tile.return
  }
}

// -----

module attributes {tile.target = #amdgcn.target<chip = "gfx942">} {
  tile.kernel @letters(%n: index) {
    %f = arith.constant dense<1.0> : tensor<64xf32>
    // expected-error @+1 {{'tile.inline_asm' is not supported on amdgpu:gfx942 yet: expected one of the constraints v, s, got 'r'}}
    %s = tile.inline_asm "" "=r,0" pure (%f) : (tensor<64xf32>) -> tensor<64xf32>
    tile.return
  }
}
