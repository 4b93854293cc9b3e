// RUN: tile-opt %s --tile-decide-atoms --split-input-file --verify-diagnostics

// expected-error @+1 {{expected a target, got a module without 'tile.target'}}
module {
  tile.kernel @none(%x: index) {
    tile.return
  }
}

// -----

// expected-error @+1 {{expected a known chip, got 'sm_10'}}
module attributes {tile.target = #nvptx.target<chip = "sm_10">} {}

// -----

// expected-error @+1 {{expected a shape of mma.sync for 'bf16' into 'f32', got 'm16n8k8'}}
module attributes {x = #nvptx.mma_sync<"m16n8k8", bf16, f32>} {}

// -----

// expected-error @+1 {{expected a matrix instruction of gfx1100 for 'f16', got 'mfma.f32.32x32x8f16'}}
module attributes {x = #amdgcn.matrix<"mfma.f32.32x32x8f16", "gfx1100", f16>} {}

// -----

// expected-error @+1 {{expected a shape of mma.sync for 'f8E4M3FN' and 'i8' into 'f32', got 'm16n8k32'}}
module attributes {x = #nvptx.mma_sync<"m16n8k32", f8E4M3FN, f32, b = i8>} {}

// -----

module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
  tile.kernel @pinned(%x: index) {
    %a = arith.constant dense<1.0> : tensor<64x64xf8E4M3FN>
    %c = arith.constant dense<1.0> : tensor<64x64xf32>
    // expected-error @+1 {{expected a matrix instruction of nvptx:sm_80 for these types and extents, got #nvptx.mma_sync<"m16n8k32", f8E4M3FN, f32>}}
    %d = tile.dot %a, %a, %c {atom = #nvptx.mma_sync<"m16n8k32", f8E4M3FN, f32>}
       : tensor<64x64xf8E4M3FN>, tensor<64x64xf8E4M3FN> -> tensor<64x64xf32>
    tile.return
  }
}
