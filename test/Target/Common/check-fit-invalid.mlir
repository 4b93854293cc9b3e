// Instructions that cannot do what they are decided for, by types, extents and facts: an attribute is
// held as a name is.
// RUN: tile-opt %s --tile-check-decisions --split-input-file --verify-diagnostics

!view = !tile.view<?x?xbf16>
!open = !tile.view<?x?xbf16, strides [?, ?]>
!turned = !tile.view<?x?xbf16, strides [1, ?]>
#roles = [#tile.role<"load", warps = 4>, #tile.role<"mma", warps = 4>]
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
// What facts do not say, no engine can count on.
tile.kernel @engine(%a: !view {tile.facts = #tile.facts<pointer = 8, strides = [16, 2]>},
                    %b: !view {tile.facts = #tile.facts<pointer = 16, strides = [4, 2]>},
                    %c: !open {tile.facts = #tile.facts<pointer = 16, strides = [16, 2]>},
                    %d: !turned {tile.facts = #tile.facts<pointer = 16, strides = [2, 16]>},
                    %e: !view {tile.facts = #tile.facts<pointer = 16, strides = [16, 2]>}, %n: index)
    attributes {tile.roles = #roles} {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{expected an address that is known to be a multiple of 16 bytes, since 'atom' is #nvptx.tma}}
  %x = tile.load %a[%c0, %c0] {atom = #nvptx.tma, role = "load"} : !view -> tensor<64x64xbf16>
  // expected-error @+1 {{expected strides that are known to be multiples of 16 bytes, since 'atom' is #nvptx.tma}}
  %y = tile.load %b[%c0, %c0] {atom = #nvptx.tma, role = "load"} : !view -> tensor<64x64xbf16>
  // expected-error @+1 {{expected a view whose last stride is 1, since 'atom' is #nvptx.tma}}
  %z = tile.load %c[%c0, %c0] {atom = #nvptx.tma, role = "load"} : !open -> tensor<64x64xbf16>
  // A view is turned so that its rows come last, unless its tile lies as it is.
  %t = tile.load %d[%c0, %c0] {atom = #nvptx.tma, role = "load"} : !turned -> tensor<64x64xbf16>
  // expected-error @+1 {{expected a view whose last stride is 1, since 'atom' is #nvptx.tma}}
  %u = tile.load %d[%c0, %c0] {atom = #nvptx.tma, buffer = !tile.buffer<64x64xbf16>, role = "load"} : !turned -> tensor<64x64xbf16>
  %part = tile.subview %e at %n extents [%n, %n] strides [%n] : !view -> !view
  // expected-error @+1 {{expected a view that is an argument of the kernel, since 'atom' is #nvptx.tma}}
  %v = tile.load %part[%c0, %c0] {atom = #nvptx.tma, role = "load"} : !view -> tensor<64x64xbf16>
  %w = arith.constant dense<1.0> : tensor<64x64xbf16>
  // expected-error @+1 {{expected a last extent that is known to be a multiple of 16 bytes, which is what is written at once, since 'atom' is #nvptx.tma}}
  tile.store %w, %e[%c0, %c0] {atom = #nvptx.tma, role = "mma", in_flight = 0} : tensor<64x64xbf16>, !view
  tile.return
}
}

// -----

!view = !tile.view<?x?xbf16>
!open = !tile.view<?x?xbf16, strides [?, ?]>
!turned = !tile.view<?x?xbf16, strides [1, ?]>
!packed = !tile.view<?x?xi4>
module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
// Nor can lanes, which copy pieces of a row.
tile.kernel @lanes(%a: !view {tile.facts = #tile.facts<pointer = 16, strides = [8, 2]>},
                   %b: !view {tile.facts = #tile.facts<pointer = 16, strides = [16, 2]>},
                   %c: !open {tile.facts = #tile.facts<pointer = 16, strides = [16, 2]>},
                   %d: !turned {tile.facts = #tile.facts<pointer = 16, strides = [2, 16]>},
                   %e: !packed {tile.facts = #tile.facts<pointer = 16, strides = [16, 1]>})
    attributes {tile.roles = [#tile.role<"all", warps = 4>]} {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{expected rows that begin at multiples of 16 bytes, by what facts say of them, since 'atom' is #nvptx.cp_async<16>}}
  %x = tile.load %a[%c0, %c0] {atom = #nvptx.cp_async<16>, role = "all"} : !view -> tensor<64x64xbf16>
  %x8 = tile.load %a[%c0, %c0] {atom = #nvptx.cp_async<8>, role = "all"} : !view -> tensor<64x64xbf16>
  // expected-error @+1 {{expected a tile that 4 warps, of all copies of its role, share out by 16 bytes a lane, got 1024 bytes for 128 lanes, since 'atom' is #nvptx.cp_async<16>}}
  %y = tile.load %b[%c0, %c0] {atom = #nvptx.cp_async<16>, role = "all"} : !view -> tensor<8x64xbf16>
  // expected-error @+1 {{expected a view of stride 1 along the last dimension of the tile, since 'atom' is #nvptx.cp_async<16>}}
  %z = tile.load %c[%c0, %c0] {atom = #nvptx.cp_async<16>, role = "all"} : !open -> tensor<64x64xbf16>
  %t = tile.load %d[%c0, %c0] {atom = #nvptx.cp_async<16>, role = "all"} : !turned -> tensor<64x64xbf16>
  // expected-error @+1 {{expected a view of stride 1 along the last dimension of the tile, since 'atom' is #nvptx.cp_async<16>}}
  %u = tile.load %d[%c0, %c0] {atom = #nvptx.cp_async<16>, buffer = !tile.buffer<64x64xbf16>, role = "all"} : !turned -> tensor<64x64xbf16>
  // expected-error @+1 {{expected elements of at least a byte, since 'atom' is #nvptx.cp_async<16>}}
  %v = tile.load %e[%c0, %c0] {atom = #nvptx.cp_async<16>, role = "all"} : !packed -> tensor<64x64xi4>
  tile.return
}
}

// -----

!view = !tile.view<?x?xbf16>
module attributes {tile.target = #amdgcn.target<chip = "gfx950">} {
// Offsets beside a descriptor have 32 bits.
tile.kernel @near(%a: !view {tile.facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [1, 8]>},
                  %b: !view {tile.facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [1, 8], index32>},
                  %c: !view {tile.facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [1, 1], index32>})
    attributes {tile.roles = [#tile.role<"all", warps = 4>]} {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{expected a view that facts say is addressable in 32 bits, since 'atom' is #amdgcn.load_to_lds<"gfx950", 16>}}
  %x = tile.load %a[%c0, %c0] {atom = #amdgcn.load_to_lds<"gfx950", 16>, role = "all"} : !view -> tensor<64x64xbf16>
  %y = tile.load %b[%c0, %c0] {atom = #amdgcn.load_to_lds<"gfx950", 16>, role = "all"} : !view -> tensor<64x64xbf16>
  // expected-error @+1 {{expected rows that begin at multiples of 16 bytes and are as long, by what facts say of them, since 'atom' is #amdgcn.load_to_lds<"gfx950", 16>}}
  %z = tile.load %c[%c0, %c0] {atom = #amdgcn.load_to_lds<"gfx950", 16>, role = "all"} : !view -> tensor<64x64xbf16>
  tile.return
}
}

// -----

!view = !tile.view<?x?xbf16>
#facts = #tile.facts<pointer = 16, strides = [16, 2]>
#roles = [#tile.role<"load", warps = 4>, #tile.role<"mma", warps = 4>]
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
// Products of other types, whose bits would be taken for numbers that they are not; and of parts.
tile.kernel @products(%a: !view {tile.facts = #facts}) attributes {tile.roles = #roles} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x128xf32>
  %x = tile.load %a[%c0, %c0] {atom = #nvptx.tma, role = "load"} : !view -> tensor<64x64xbf16>
  %y = tile.load %a[%c0, %c0] {atom = #nvptx.tma, role = "load"} : !view -> tensor<64x128xbf16>
  // expected-error @+1 {{expected types that it multiplies, got 'bf16' and 'bf16' into 'f32', since 'atom' is #nvptx.wgmma<"m64n128k16", f16, f32>}}
  %d = tile.dot %x, %y, %zero {atom = #nvptx.wgmma<"m64n128k16", f16, f32>, role = "mma", in_flight = 0} : tensor<64x64xbf16>, tensor<64x128xbf16> -> tensor<64x128xf32>
  // expected-error @+1 {{expected rows, columns and a depth that are multiples of 64, 256 and 16, got 64, 128 and 64, since 'atom' is #nvptx.wgmma<"m64n256k16", bf16, f32>}}
  %e = tile.dot %x, %y, %zero {atom = #nvptx.wgmma<"m64n256k16", bf16, f32>, role = "mma", in_flight = 0} : tensor<64x64xbf16>, tensor<64x128xbf16> -> tensor<64x128xf32>
  %f = tile.dot %x, %y, %zero {atom = #nvptx.wgmma<"m64n64k16", bf16, f32>, role = "mma", in_flight = 0} : tensor<64x64xbf16>, tensor<64x128xbf16> -> tensor<64x128xf32>
  tile.return
}
}

// -----

!view = !tile.view<?x?xbf16>
#facts = #tile.facts<pointer = 16, strides = [16, 2]>
#roles = [#tile.role<"load", warps = 4>, #tile.role<"mma", warps = 4>]
module attributes {tile.target = #nvptx.target<chip = "sm_100a">} {
tile.kernel @tensor(%a: !view {tile.facts = #facts}) attributes {tile.roles = #roles} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %x = tile.load %a[%c0, %c0] {atom = #nvptx.tma, role = "load"} : !view -> tensor<128x64xbf16>
  %y = tile.load %a[%c0, %c0] {atom = #nvptx.tma, role = "load"} : !view -> tensor<64x128xbf16>
  // expected-error @+1 {{expected rows, columns and a depth that are multiples of 128, 96 and 16, got 128, 128 and 64, since 'atom' is #nvptx.tcgen05<"m128n96k16", bf16, f32>}}
  %d = tile.dot %x, %y, %zero {atom = #nvptx.tcgen05<"m128n96k16", bf16, f32>, role = "mma", in_flight = 0} : tensor<128x64xbf16>, tensor<64x128xbf16> -> tensor<128x128xf32>
  // Two programs have halves of the columns of one instruction.
  // expected-error @+1 {{expected as many columns as it multiplies for several programs, 64, got 128, since 'atom' is #nvptx.tcgen05<"m256n64k16", bf16, f32>}}
  %e = tile.dot %x, %y, %zero {atom = #nvptx.tcgen05<"m256n64k16", bf16, f32>, role = "mma", in_flight = 0} : tensor<128x64xbf16>, tensor<64x128xbf16> -> tensor<128x128xf32>
  tile.return
}
}

// -----

// What no instruction starts, of these rows, is multiplied by warps, whose sums nothing runs beside.
#roles = [#tile.role<"mma", warps = 4>]
module attributes {tile.target = #nvptx.target<chip = "sm_100a">} {
tile.kernel @scaled(%a: !tile.view<?x?xf8E5M2>, %s: !tile.view<?x?xf8E8M0FNU>) attributes {tile.roles = #roles} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %x = tile.load %a[%c0, %c0] {role = "mma"} : !tile.view<?x?xf8E5M2> -> tensor<64x64xf8E5M2>
  %t = tile.load %s[%c0, %c0] {role = "mma"} : !tile.view<?x?xf8E8M0FNU> -> tensor<64x2xf8E8M0FNU>
  // expected-error @+1 {{expected no 'in_flight' on nvptx:sm_100a, no instruction of which makes this product beside its warps, got 1}}
  %d = tile.dot_scaled %x scale %t, %x scale %t, %zero transpose_b {in_flight = 1, role = "mma"} : tensor<64x64xf8E5M2>, tensor<64x2xf8E8M0FNU>, tensor<64x64xf8E5M2>, tensor<64x2xf8E8M0FNU> -> tensor<64x64xf32>
  tile.return
}
}

// -----

!view = !tile.view<?x?xbf16>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
// A box begins at a whole piece of a row.
tile.kernel @within_a_piece(%a: !view {tile.facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [1, 8]>},
                            %n: index)
    attributes {tile.roles = [#tile.role<"load", warps = 4>, #tile.role<"mma", warps = 4>]} {
  %c8 = arith.constant 8 : index
  %c9 = arith.constant 9 : index
  %x = tile.load %a[%n, %c8] {atom = #nvptx.tma, role = "load"} : !view -> tensor<64x64xbf16>
  // expected-error @+1 {{expected a tile that begins at a multiple of 16 bytes along its rows, by what is known of its offsets, since 'atom' is #nvptx.tma}}
  %y = tile.load %a[%c8, %c9] {atom = #nvptx.tma, role = "load"} : !view -> tensor<64x64xbf16>
  // expected-error @+1 {{expected a tile that begins at a multiple of 16 bytes along its rows, by what is known of its offsets, since 'atom' is #nvptx.tma}}
  tile.store %x, %a[%c8, %n] {atom = #nvptx.tma, role = "mma", in_flight = 0} : tensor<64x64xbf16>, !view
  tile.return
}
}
