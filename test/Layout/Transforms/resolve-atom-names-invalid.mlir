// Why an instruction that an author names does not fit.
// RUN: tile-opt %s --tile-resolve-atom-names --split-input-file --verify-diagnostics

!view = !tile.view<?x?xi4>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @nibbles(%a: !view {tile.facts = #tile.facts<pointer = 16, strides = [32, 2], index32>}) {
  %c0 = arith.constant 0 : index
  // expected-note @+2 {{expected elements of at least a byte}}
  // expected-error @+1 {{expected 'atom' to be an instruction of nvptx:sm_90a that fits, "through_registers", got "tma"}}
  %x = tile.load %a[%c0, %c0] {tile.atom = "tma"} : !view -> tensor<64x64xi4>
  // expected-note @+2 {{expected elements of at least a byte}}
  // expected-error @+1 {{that fits, "through_registers", got "cp_async"}}
  %y = tile.load %a[%c0, %c0] {tile.atom = "cp_async"} : !view -> tensor<64x64xi4>
  tile.return
}
}

// -----

module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @products(%x: !tile.view<?xf32>) {
  %a = arith.constant dense<1.0> : tensor<64x16xf8E4M3FN>
  %b = arith.constant dense<1.0> : tensor<16x64xf8E4M3FN>
  %c = arith.constant dense<1.0> : tensor<32x32xbf16>
  %s = arith.constant dense<0.0> : tensor<64x64xf32>
  %t = arith.constant dense<0.0> : tensor<32x32xf32>
  // expected-note @+2 {{expected an inner extent that is a multiple of 32, got 16}}
  // expected-error @+1 {{that fits, of which there is none, got "wgmma"}}
  %d = tile.dot %a, %b, %s {tile.atom = "wgmma"} : tensor<64x16xf8E4M3FN>, tensor<16x64xf8E4M3FN> -> tensor<64x64xf32>
  // expected-note @+2 {{expected rows that are a multiple of 64, got 32}}
  // expected-error @+1 {{that fits, "mma_sync", got "wgmma"}}
  %e = tile.dot %c, %c, %t {tile.atom = "wgmma"} : tensor<32x32xbf16>, tensor<32x32xbf16> -> tensor<32x32xf32>
  // expected-note @+2 {{nvptx:sm_90a has no "tcgen05" for a product of 'bf16' and 'bf16' into 'f32'}}
  // expected-error @+1 {{that fits, "mma_sync", got "tcgen05"}}
  %f = tile.dot %c, %c, %t {tile.atom = "tcgen05"} : tensor<32x32xbf16>, tensor<32x32xbf16> -> tensor<32x32xf32>
  tile.return
}
}

// -----

module attributes {tile.target = #amdgcn.target<chip = "gfx942">} {
tile.kernel @columns(%x: !tile.view<?xf32>) {
  %a = arith.constant dense<1.0> : tensor<64x32xbf16>
  %b = arith.constant dense<1.0> : tensor<32x8xbf16>
  %s = arith.constant dense<0.0> : tensor<64x8xf32>
  // expected-note @+2 {{expected columns that are a multiple of 16, got 8}}
  // expected-error @+1 {{that fits, of which there is none, got "matrix"}}
  %d = tile.dot %a, %b, %s {tile.atom = "matrix"} : tensor<64x32xbf16>, tensor<32x8xbf16> -> tensor<64x8xf32>
  tile.return
}
}

// -----

!view = !tile.view<?x?xf32>
module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
tile.kernel @engines(%a: !view {tile.facts = #tile.facts<pointer = 16, strides = [16, 4], index32>}) {
  %c0 = arith.constant 0 : index
  // expected-note @+2 {{nvptx:sm_80 has no "tma" for 'tile.load'}}
  // expected-error @+1 {{that fits, "cp_async" or "through_registers", got "tma"}}
  %x = tile.load %a[%c0, %c0] {tile.atom = "tma"} : !view -> tensor<64x64xf32>
  tile.return
}
}
