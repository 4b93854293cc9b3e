// Where products read operands and have their sums, if no atom does so.
// RUN: tile-opt %s --tile-check-decisions --split-input-file --verify-diagnostics

!view = !tile.view<?x?xbf16>
!tile_of = tensor<64x64xbf16>
!sum = tensor<64x64xf32>
#wgmma = #nvptx.wgmma<"m64n64k16", bf16, f32>
#mma = #nvptx.mma_sync<"m16n8k16", bf16, f32>
#roles = [#tile.role<"load", warps = 4>, #tile.role<"mma", warps = 4>]

module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
  // Where products read operands, and have their sums.
  tile.kernel @residency(%a: !view {tile.facts = #tile.facts<pointer = 16, strides = [16, 2]>}) attributes {tile.roles = #roles} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant dense<0.0> : !sum
    %x = tile.load %a[%c0, %c0] {atom = #nvptx.tma, role = "load"} : !view -> !tile_of
    // expected-error @+1 {{expected operands alone of products that read them from registers, since 'tile.residency' is decided}}
    %y = tile.load %a[%c0, %c0] {atom = #nvptx.tma, role = "load", tile.residency = "registers"} : !view -> !tile_of
    // expected-note @+2 {{the other use}}
    // expected-error @+1 {{expected 'atom' to have its sum in tensor memory, since 'tile.residency' is decided, got #nvptx.wgmma<"m64n64k16", bf16, f32>}}
    %d = tile.dot %x, %y, %zero {atom = #wgmma, role = "mma", in_flight = 0, tile.residency = "tensor_memory"} : !tile_of, !tile_of -> !sum
    %w = arith.truncf %d {tile.role = "mma", tile.residency = "shared"} : !sum to !tile_of
    %e = tile.dot %w, %x, %zero {atom = #wgmma, role = "mma", in_flight = 0, tile.residency = "registers"} : !tile_of, !tile_of -> !sum
    // expected-error @+1 {{expected operands alone of products that read them from shared memory, since 'tile.residency' is decided}}
    %v = tile.load %a[%c0, %c0] {atom = #nvptx.tma, role = "load", tile.residency = "shared"} : !view -> !tile_of
    // expected-note @+1 {{the other use}}
    %f = tile.dot %v, %x, %e {atom = #mma, role = "mma"} : !tile_of, !tile_of -> !sum
    // expected-error @+1 {{expected operands alone of products that read them from registers, since 'tile.residency' is decided}}
    %u = arith.addf %f, %f {tile.role = "mma", tile.residency = "registers"} : !sum
    // expected-note @+1 {{the other use}}
    %n = arith.truncf %u {tile.role = "mma"} : !sum to !tile_of
    // expected-error @+1 {{expected 'atom', since 'tile.residency' is decided}}
    %g = tile.dot %n, %n, %zero {role = "mma", tile.residency = "registers"} : !tile_of, !tile_of -> !sum
    // expected-error @+1 {{expected a product that reads it, since 'tile.residency' is decided}}
    %z = tile.load %a[%c0, %c0] {atom = #nvptx.tma, role = "load", tile.residency = "shared"} : !view -> !tile_of
    tile.return
  }
}

// -----

module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
  tile.kernel @no_roles(%x: f32) {
    %s = arith.constant dense<0.0> : tensor<64x64xf32>
    // expected-error @+1 {{expected a kernel with 'tile.roles', since 'tile.residency' is decided}}
    %y = arith.addf %s, %s {tile.residency = "registers"} : tensor<64x64xf32>
    %d = tile.dot %y, %s, %s : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    tile.return
  }
}
