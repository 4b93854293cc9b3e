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
