// Inline assembly that leaves the kernel's section, at its line: what follows it would not run.
// RUN: tile-opt %s --tile-pipeline="target=amdgpu:gfx942" --verify-diagnostics

tile.kernel @sections(%x: !tile.view<?xf32>) {
  %c0 = arith.constant 0 : index
  %f = tile.load %x[%c0] : !tile.view<?xf32> -> tensor<64xf32>
  // expected-error @+1 {{expected inline assembly that stays in the kernel's section, got '.section': put other sections between .pushsection and .popsection}}
  %s = tile.inline_asm "s_nop 0; .section x" "=v,0" (%f) : (tensor<64xf32>) -> tensor<64xf32>
  tile.store %s, %x[%c0] : tensor<64xf32>, !tile.view<?xf32>
  tile.return
}
