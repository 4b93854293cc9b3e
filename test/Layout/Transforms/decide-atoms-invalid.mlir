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

// -----

// expected-error @+1 {{expected elements of 8 or 16 bits to transpose, got 32}}
module attributes {x = #amdgcn.transposing_read<32>} {}

// -----

module attributes {tile.target = #amdgcn.target<chip = "gfx950">} {
  tile.kernel @pinned_scaled(%x: index) {
    %a = arith.constant dense<1.0> : tensor<32x64xf8E4M3FN>
    %s = arith.constant dense<1.0> : tensor<32x2xf8E8M0FNU>
    %c = arith.constant dense<1.0> : tensor<32x32xf32>
    // expected-error @+1 {{expected a matrix instruction of amdgpu:gfx950 for these types and extents, got #amdgcn.matrix<"mfma.f32.32x32x16.fp8.fp8", "gfx950", f8E4M3FN>}}
    %d = tile.dot_scaled %a scale %s, %a scale %s, %c transpose_b {atom = #amdgcn.matrix<"mfma.f32.32x32x16.fp8.fp8", "gfx950", f8E4M3FN>}
       : tensor<32x64xf8E4M3FN>, tensor<32x2xf8E8M0FNU>, tensor<32x64xf8E4M3FN>, tensor<32x2xf8E8M0FNU> -> tensor<32x32xf32>
    tile.return
  }
}

// -----

module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
  tile.kernel @scaled(%x: index) {
    %a = arith.constant dense<1.0> : tensor<32x64xf8E4M3FN>
    %s = arith.constant dense<1.0> : tensor<32x2xf8E8M0FNU>
    %c = arith.constant dense<1.0> : tensor<32x32xf32>
    // expected-error @+1 {{expected to be expanded, as nvptx:sm_90a has no matrix instruction for it}}
    %d = tile.dot_scaled %a scale %s, %a scale %s, %c transpose_b
       : tensor<32x64xf8E4M3FN>, tensor<32x2xf8E8M0FNU>, tensor<32x64xf8E4M3FN>, tensor<32x2xf8E8M0FNU> -> tensor<32x32xf32>
    tile.return
  }
}
