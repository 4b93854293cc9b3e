// RUN: tile-opt %s --tile-check-target --split-input-file --verify-diagnostics

module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
  tile.kernel @refused(%n: index) {
    %f = arith.constant dense<1.0> : tensor<64xf32>
    // expected-error @+1 {{'math.clampf' is not supported on nvptx:sm_90a yet}}
    %a = math.clampf %f to [%f, %f] : tensor<64xf32>
    // Extents count as the powers of two that they are padded to.
    // expected-error @+1 {{'arith.constant' is not supported on nvptx:sm_90a yet: expected at most 131072 elements, got tensor<513x129xf32>}}
    %l = arith.constant dense<1.0> : tensor<513x129xf32>
    tile.return
  }
}

// -----

module attributes {tile.target = #amdgcn.target<chip = "gfx942">} {
  tile.kernel @refused(%n: index) {
    %d = arith.constant dense<1.0> : tensor<64xf80>
    // expected-error @+1 {{'math.exp' is not supported on amdgpu:gfx942 yet: expected floats of at most 64 bits, got f80}}
    %e = math.exp %d : tensor<64xf80>
    %z = arith.constant dense<1.0> : tensor<4x128x128xf32>
    %y = arith.constant dense<1.0> : tensor<4x128x256xf32>
    // expected-error @+1 {{'tile.dot' is not supported on amdgpu:gfx942 yet: expected at most 8388608 products, got 16777216}}
    %b = tile.dot %y, %y, %z transpose_b : tensor<4x128x256xf32>, tensor<4x128x256xf32> -> tensor<4x128x128xf32>
    %w = arith.constant dense<1.0> : tensor<256x256xf32>
    // expected-error @+1 {{'tile.dot' is not supported on amdgpu:gfx942 yet: expected at most 8388608 products, got 16777216}}
    %p = tile.dot %w, %w, %w : tensor<256x256xf32>, tensor<256x256xf32> -> tensor<256x256xf32>
    tile.return
  }
}

// -----

module attributes {tile.target = #cpu.target<vector_bits = 256, registers = 16>} {
  tile.kernel @extents(%x: !tile.view<?xf32>, %n: index) {
    // expected-error @+1 {{'tile.load' is not supported on cpu yet: expected a whole tile, got extents}}
    %t = tile.load %x[%n] extents [5] : !tile.view<?xf32> -> tensor<8xf32>
    // expected-error @+1 {{'tile.bitcast' is not supported on cpu yet: expected a whole tile, got extents}}
    %u = tile.bitcast %t extents [5] : tensor<8xf32> -> tensor<8xi32>
    tile.store %t, %x[%n] : tensor<8xf32>, !tile.view<?xf32>
    tile.return
  }
}
