// RUN: tile-opt %s --tile-split-shapes --verify-diagnostics --split-input-file

// An extent is as it is, or the next power of two.
!view = !tile.view<?x?xbf16, strides [?, 1]>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
  tile.kernel @columns(%a: !view, %b: !view, %c: !tile.view<?x?xf32>) {
    %c0 = arith.constant 0 : index
    %zero = arith.constant dense<0.0> : tensor<128x96xf32>
    %x = tile.load %a[%c0, %c0] : !view -> tensor<128x64xbf16>
    %y = tile.load %b[%c0, %c0] : !view -> tensor<96x64xbf16>
    // expected-error @+1 {{'tile.dot' op expected 96 or 128 columns in 'tile.extents', got 128, 112, 64}}
    %d = tile.dot %x, %y, %zero transpose_b {tile.extents = array<i64: 128, 112, 64>}
       : tensor<128x64xbf16>, tensor<96x64xbf16> -> tensor<128x96xf32>
    tile.return
  }
}

// -----

!view = !tile.view<?x?xbf16, strides [?, 1]>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
  tile.kernel @rows(%a: !view, %b: !view) {
    %c0 = arith.constant 0 : index
    %zero = arith.constant dense<0.0> : tensor<128x96xf32>
    %x = tile.load %a[%c0, %c0] : !view -> tensor<128x64xbf16>
    %y = tile.load %b[%c0, %c0] : !view -> tensor<96x64xbf16>
    // expected-error @+1 {{expected 128 rows in 'tile.extents', got 256, 96, 64}}
    %d = tile.dot %x, %y, %zero transpose_b {tile.extents = array<i64: 256, 96, 64>}
       : tensor<128x64xbf16>, tensor<96x64xbf16> -> tensor<128x96xf32>
    tile.return
  }
}

// -----

!view = !tile.view<?x?xbf16, strides [?, 1]>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
  tile.kernel @parts(%a: !view, %b: !view) {
    %c0 = arith.constant 0 : index
    %zero = arith.constant dense<0.0> : tensor<128x192xf32>
    %x = tile.load %a[%c0, %c0] : !view -> tensor<128x96xbf16>
    %y = tile.load %b[%c0, %c0] : !view -> tensor<192x96xbf16>
    // expected-error @+1 {{expected inner extents that are powers of two and add up to 96 in 'tile.extents', got 128, 192, 64, 16}}
    %d = tile.dot %x, %y, %zero transpose_b {tile.extents = array<i64: 128, 192, 64, 16>}
       : tensor<128x96xbf16>, tensor<192x96xbf16> -> tensor<128x192xf32>
    tile.return
  }
}

// -----

// What something else uses too is not cut.
!view = !tile.view<?x?xbf16, strides [?, 1]>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
  tile.kernel @used(%a: !view, %b: !view) {
    %c0 = arith.constant 0 : index
    %zero = arith.constant dense<0.0> : tensor<128x192xf32>
    %x = tile.load %a[%c0, %c0] : !view -> tensor<128x96xbf16>
    %y = tile.load %b[%c0, %c0] : !view -> tensor<192x96xbf16>
    tile.store %x, %a[%c0, %c0] : tensor<128x96xbf16>, !view
    // expected-note @+2 {{or loads of the product's own, of which nothing is decided, to cut along its inner extent for #nvptx.mma_sync<"m16n8k16", bf16, f32>, of products that warps wait for}}
    // expected-error @+1 {{expected loads of the product's own, of which nothing is decided, to cut along its inner extent for #nvptx.wgmma<"m64n192k16", bf16, f32> in 'tile.extents', got 128, 192, 64, 32}}
    %d = tile.dot %x, %y, %zero transpose_b {tile.extents = array<i64: 128, 192, 64, 32>}
       : tensor<128x96xbf16>, tensor<192x96xbf16> -> tensor<128x192xf32>
    tile.return
  }
}

// -----

// A part is no less than an instruction multiplies.
!view = !tile.view<?x?xbf16, strides [?, 1]>
module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
  tile.kernel @small(%a: !view, %b: !view) {
    %c0 = arith.constant 0 : index
    %zero = arith.constant dense<0.0> : tensor<64x96xf32>
    %x = tile.load %a[%c0, %c0] : !view -> tensor<64x48xbf16>
    %y = tile.load %b[%c0, %c0] : !view -> tensor<96x48xbf16>
    // expected-error @+1 {{expected multiples of 16, 8 and 16 for #nvptx.mma_sync<"m16n8k16", bf16, f32> in 'tile.extents', got 64, 96, 32, 8, 8}}
    %d = tile.dot %x, %y, %zero transpose_b {tile.extents = array<i64: 64, 96, 32, 8, 8>}
       : tensor<64x48xbf16>, tensor<96x48xbf16> -> tensor<64x96xf32>
    tile.return
  }
}

// -----

// The instruction that an author names has other extents; two copies have no 96 rows each.
!view = !tile.view<?x?xbf16>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
  tile.kernel @copies(%a: !view, %b: !view) attributes {tile.roles = [#tile.role<"load", warps = 4>, #tile.role<"mma", warps = 4, copies = 2>]} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant dense<0.0> : tensor<192x96xf32>
    %x = tile.load %a[%c0, %c0] {atom = #nvptx.tma, role = "load"} : !view -> tensor<192x64xbf16>
    %y = tile.load %b[%c0, %c0] {atom = #nvptx.tma, role = "load"} : !view -> tensor<96x64xbf16>
    // expected-error @+1 {{expected rows or columns that 2 copies share out for #nvptx.wgmma<"m64n96k16", bf16, f32> in 'tile.extents', got 192, 96, 64}}
    %d = tile.dot %x, %y, %zero transpose_b {tile.atom = "wgmma", role = "mma", in_flight = 0, tile.extents = array<i64: 192, 96, 64>}
       : tensor<192x64xbf16>, tensor<96x64xbf16> -> tensor<192x96xf32>
    tile.return
  }
}

// -----

!view = !tile.view<?x?xbf16>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
  tile.kernel @multiples(%a: !view, %b: !view) attributes {tile.roles = [#tile.role<"load", warps = 4>, #tile.role<"mma", warps = 4>]} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant dense<0.0> : tensor<64x96xf32>
    %x = tile.load %a[%c0, %c0] {atom = #nvptx.tma, role = "load"} : !view -> tensor<64x64xbf16>
    %y = tile.load %b[%c0, %c0] {atom = #nvptx.tma, role = "load"} : !view -> tensor<96x64xbf16>
    // expected-error @+1 {{expected multiples of 64, 128 and 16 for #nvptx.wgmma<"m64n128k16", bf16, f32> in 'tile.extents', got 64, 96, 64}}
    %d = tile.dot %x, %y, %zero transpose_b {atom = #nvptx.wgmma<"m64n128k16", bf16, f32>, role = "mma", in_flight = 0, tile.extents = array<i64: 64, 96, 64>}
       : tensor<64x64xbf16>, tensor<96x64xbf16> -> tensor<64x96xf32>
    tile.return
  }
}

// -----

// What is sorted has grown, and so has the product.
!view = !tile.view<?x?xbf16, strides [?, 1]>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
  tile.kernel @sorted(%a: !view, %b: !view) {
    %c0 = arith.constant 0 : index
    %zero = arith.constant dense<0.0> : tensor<64x96xf32>
    %x = tile.load %a[%c0, %c0] : !view -> tensor<64x64xbf16>
    %y = tile.load %b[%c0, %c0] : !view -> tensor<96x64xbf16>
    // expected-error @+1 {{expected 128 columns in 'tile.extents', got 64, 96, 64}}
    %d = tile.dot %x, %y, %zero transpose_b {tile.extents = array<i64: 64, 96, 64>}
       : tensor<64x64xbf16>, tensor<96x64xbf16> -> tensor<64x96xf32>
    // expected-note @+1 {{this op takes powers of two alone, of what has the extent, too}}
    %s = tile.sort %d axis = 1 : tensor<64x96xf32> -> tensor<64x96xf32>
    tile.return
  }
}

// -----

// Of two products that have one extent both keep it, or neither.
!view = !tile.view<?x?xbf16, strides [?, 1]>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
  tile.kernel @both(%a: !view, %b: !view) {
    %c0 = arith.constant 0 : index
    %zero = arith.constant dense<0.0> : tensor<64x96xf32>
    %x = tile.load %a[%c0, %c0] : !view -> tensor<64x64xbf16>
    %y = tile.load %b[%c0, %c0] : !view -> tensor<96x64xbf16>
    // expected-note @+1 {{this product, which has the extent, too, grows it}}
    %d = tile.dot %x, %y, %zero transpose_b {tile.extents = array<i64: 64, 128, 64>}
       : tensor<64x64xbf16>, tensor<96x64xbf16> -> tensor<64x96xf32>
    // expected-error @+1 {{expected 128 columns in 'tile.extents', got 64, 96, 64}}
    %e = tile.dot %x, %y, %d transpose_b {tile.extents = array<i64: 64, 96, 64>}
       : tensor<64x64xbf16>, tensor<96x64xbf16> -> tensor<64x96xf32>
    tile.return
  }
}

// -----

// Registers count one odd factor of each value.
!view = !tile.view<?x?xbf16, strides [?, 1]>
module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
  tile.kernel @registers(%a: !view, %b: !view) {
    %c0 = arith.constant 0 : index
    %zero = arith.constant dense<0.0> : tensor<96x96xf32>
    %x = tile.load %a[%c0, %c0] : !view -> tensor<96x64xbf16>
    %y = tile.load %b[%c0, %c0] : !view -> tensor<96x64xbf16>
    // expected-error @+1 {{expected one extent at most with an odd factor for #nvptx.mma_sync<"m16n8k16", bf16, f32> in 'tile.extents', got 96, 96, 64}}
    %d = tile.dot %x, %y, %zero transpose_b {tile.extents = array<i64: 96, 96, 64>}
       : tensor<96x64xbf16>, tensor<96x64xbf16> -> tensor<96x96xf32>
    tile.return
  }
}

// -----

// There is no instruction for these types.
!view = !tile.view<?x?xf32, strides [?, 1]>
module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
  tile.kernel @none(%a: !view, %b: !view) {
    %c0 = arith.constant 0 : index
    %zero = arith.constant dense<0.0> : tensor<64x96xf32>
    %x = tile.load %a[%c0, %c0] : !view -> tensor<64x64xf32>
    %y = tile.load %b[%c0, %c0] : !view -> tensor<96x64xf32>
    // expected-error @+1 {{expected extents that an instruction of nvptx:sm_80 makes in 'tile.extents', got 64, 96, 64}}
    %d = tile.dot %x, %y, %zero transpose_b {tile.extents = array<i64: 64, 96, 64>}
       : tensor<64x64xf32>, tensor<96x64xf32> -> tensor<64x96xf32>
    tile.return
  }
}

// -----

!view = !tile.view<?x?xbf16, strides [?, 1]>
// expected-error @+1 {{expected a target, got a module without 'tile.target'}}
tile.kernel @nowhere(%a: !view, %b: !view) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %x = tile.load %a[%c0, %c0] : !view -> tensor<64x64xbf16>
  %d = tile.dot %x, %x, %zero transpose_b {tile.extents = array<i64: 64, 64, 64>}
     : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
  tile.return
}
