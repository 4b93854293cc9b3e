// Places in shared memory that cannot be, in IR that was handed back.
// RUN: tile-opt %s --tile-check-shared-memory --split-input-file --verify-diagnostics

#l = #tile.layout<register = [], lane = [[1],[2],[4],[8],[16]], warp = [[32]]>
module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
  // What is dead by then may lie under it.
  tile.kernel @right(%v: f32) attributes {tile.shared_bytes = 256 : i64} {
    %x = tile.splat %v : tensor<64xf32, #l>
    %a = tile.alloc {tile.shared_offset = 0 : i64} : !tile.buffer<64xf32>
    tile.write %x, %a : tensor<64xf32, #l>, !tile.buffer<64xf32>
    %b = tile.alloc {tile.shared_offset = 0 : i64} : !tile.buffer<64xf32>
    tile.write %x, %b : tensor<64xf32, #l>, !tile.buffer<64xf32>
    tile.return
  }

  tile.kernel @overlap(%v: f32) attributes {tile.shared_bytes = 512 : i64} {
    %x = tile.splat %v : tensor<64xf32, #l>
    // expected-note @+1 {{a buffer of 64xf32, of 256 bytes at 0}}
    %a = tile.alloc {tile.shared_offset = 0 : i64} : !tile.buffer<64xf32>
    tile.write %x, %a : tensor<64xf32, #l>, !tile.buffer<64xf32>
    // expected-error @+1 {{expected a buffer of 64xf32, of 256 bytes at 128, apart from what is in use with it}}
    %b = tile.alloc {tile.shared_offset = 128 : i64} : !tile.buffer<64xf32>
    tile.write %x, %b : tensor<64xf32, #l>, !tile.buffer<64xf32>
    %y = tile.read %a : !tile.buffer<64xf32> -> tensor<64xf32, #l>
    tile.return
  }
}

// -----

module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
  tile.kernel @behind() attributes {tile.shared_bytes = 256 : i64} {
    // expected-error @+1 {{expected a buffer of 64xf32, of 256 bytes, to end within 'tile.shared_bytes', 256, got a place at 128}}
    %a = tile.alloc {tile.shared_offset = 128 : i64} : !tile.buffer<64xf32>
    tile.return
  }
}

// -----

module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
  tile.kernel @between() attributes {tile.shared_bytes = 512 : i64} {
    // expected-error @+1 {{expected 'tile.shared_offset' to be a multiple of 128 for a buffer of 64xf32, got 4}}
    %a = tile.alloc {tile.shared_offset = 4 : i64} : !tile.buffer<64xf32>
    tile.return
  }
}

// -----

module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
  tile.kernel @nowhere() attributes {tile.shared_bytes = 512 : i64} {
    // expected-error @+1 {{expected 'tile.shared_offset' for a buffer of 64xf32}}
    %a = tile.alloc : !tile.buffer<64xf32>
    tile.return
  }
}

// -----

module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
  // expected-error @+1 {{expected 'tile.shared_bytes' of 0 to 166912 on nvptx:sm_80, got 166913}}
  tile.kernel @large() attributes {tile.shared_bytes = 166913 : i64} {
    tile.return
  }
}
