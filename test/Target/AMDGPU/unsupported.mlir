// What this target refuses that others do not.
// RUN: tile-opt %s --tile-check-target --verify-diagnostics

module attributes {tile.target = #amdgcn.target<chip = "gfx1100">} {
  tile.kernel @remainder(%n: index) {
    %a = arith.constant dense<1.0> : tensor<64xbf16>
    // expected-error @+1 {{'arith.remf' is not supported on amdgpu:gfx1100 yet: expected a remainder of f16, f32 or f64, got bf16}}
    %r = arith.remf %a, %a : tensor<64xbf16>
    tile.return
  }
}
