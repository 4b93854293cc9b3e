// RUN: tile-opt %s --tile-lower-to-threads --split-input-file --verify-diagnostics

module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
  // expected-error @+1 {{expected 'tile.warps', which is decided with atoms}}
  tile.kernel @warps(%x: index) {
    tile.return
  }
}

// -----

module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
  tile.kernel @layout(%x: f32) attributes {tile.warps = 1 : i64} {
    // expected-error @+1 {{expected a result with a layout}}
    %t = tile.splat %x : tensor<32xf32>
    tile.return
  }
}

// -----

module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
  tile.kernel @place(%x: f32) attributes {tile.warps = 1 : i64} {
    // expected-error @+1 {{expected a place in shared memory}}
    %b = tile.alloc : !tile.buffer<32xf32>
    tile.return
  }
}
