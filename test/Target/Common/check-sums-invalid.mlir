// What is decided of sums in tensor memory is held against atoms and against where products stand.
// RUN: tile-opt %s --tile-check-decisions -split-input-file -verify-diagnostics

#wgmma = #nvptx.wgmma<"m64n64k16", bf16, f32>
#roles = [#tile.role<"load", warps = 4>, #tile.role<"mma", warps = 4>]
!view = !tile.view<?x?xbf16>
!tile_of = tensor<64x64xbf16>
!sum = tensor<64x64xf32>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
  tile.kernel @carried(%a: !view {tile.facts = #tile.facts<pointer = 16, strides = [16, 2]>}, %c: !tile.view<?x?xf32>) attributes {tile.roles = #roles} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant dense<0.0> : !sum
    %x = tile.load %a[%c0, %c0] {atom = #nvptx.tma, role = "load"} : !view -> !tile_of
    // expected-error @+1 {{expected 'atom' to have its sum in tensor memory, since 'tile.carried' is decided, got #nvptx.wgmma<"m64n64k16", bf16, f32>}}
    %d = tile.dot %x, %x, %zero {atom = #wgmma, role = "mma", in_flight = 0, tile.carried = "registers"} : !tile_of, !tile_of -> !sum
    // expected-error @+1 {{'tile.dot' op expected 'atom', since 'tile.carried' is decided}}
    %e = tile.dot %x, %x, %zero {role = "mma", tile.carried = "registers"} : !tile_of, !tile_of -> !sum
    // expected-error @+1 {{'tile.dot' op expected 'atom', since 'tile.columns' is decided}}
    %f = tile.dot %x, %x, %zero {role = "mma", tile.columns = 0 : i64} : !tile_of, !tile_of -> !sum
    // expected-error @+1 {{expected 'atom', since 'tile.fetched' is decided}}
    tile.store %d, %c[%c0, %c0] {role = "mma", tile.fetched = "boxes"} : !sum, !tile.view<?x?xf32>
    tile.return
  }
}

// -----

#tcgen05 = #nvptx.tcgen05<"m128n64k16", bf16, f32>
#roles = [#tile.role<"load", warps = 4>, #tile.role<"mma", warps = 4>]
!view = !tile.view<?x?xbf16>
module attributes {tile.target = #nvptx.target<chip = "sm_100a">} {
  tile.kernel @once(%a: !view {tile.facts = #tile.facts<pointer = 16, strides = [16, 2]>}) attributes {tile.roles = #roles} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant dense<0.0> : tensor<128x64xf32>
    %x = tile.load %a[%c0, %c0] {atom = #nvptx.tma, role = "load"} : !view -> tensor<128x64xbf16>
    %y = tile.load %a[%c0, %c0] {atom = #nvptx.tma, role = "load"} : !view -> tensor<64x64xbf16>
    // expected-error @+1 {{expected to stand in a loop itself, since 'tile.carried' is decided}}
    %d = tile.dot %x, %y, %zero {atom = #tcgen05, role = "mma", in_flight = 0, tile.carried = "tensor_memory"} : tensor<128x64xbf16>, tensor<64x64xbf16> -> tensor<128x64xf32>
    tile.return
  }
}

// -----

// Without roles nothing lies in tensor memory.
module attributes {tile.target = #nvptx.target<chip = "sm_100a">} {
  tile.kernel @no_roles() {
    %x = arith.constant dense<1.0> : tensor<64x64xf32>
    // expected-error @+1 {{expected a kernel with 'tile.roles', since 'tile.fetched' is decided}}
    %t = tile.slice %x [0, 0] {tile.fetched = "boxes"} : tensor<64x64xf32> -> tensor<64x32xf32>
    tile.return
  }
}
