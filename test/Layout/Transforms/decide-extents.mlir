// RUN: tile-opt %s --tile-decide-extents --split-input-file | FileCheck %s

// A product keeps what its instruction makes: 192 columns by one m64n192, in whatever is added to
// it and stored of it.
!view = !tile.view<?x?xbf16>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
  // CHECK-LABEL: tile.kernel @columns
  tile.kernel @columns(%a: !view, %b: !view, %c: !view) attributes {tile.roles = [#tile.role<"load", warps = 4>, #tile.role<"mma", warps = 4, copies = 2>]} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %n = arith.constant 512 : index
    %zero = arith.constant dense<0.0> : tensor<256x192xf32>
    %acc = scf.for %k = %c0 to %n step %c64 iter_args(%s = %zero) -> tensor<256x192xf32> {
      %x = tile.load %a[%c0, %k] {atom = #nvptx.tma, role = "load"} : !view -> tensor<256x64xbf16>
      %y = tile.load %b[%c0, %k] {atom = #nvptx.tma, role = "load"} : !view -> tensor<192x64xbf16>
      // CHECK: tile.dot {{.*}}tile.extents = array<i64: 256, 192, 64>
      %d = tile.dot %x, %y, %s transpose_b {tile.atom = "wgmma", role = "mma", in_flight = 1}
         : tensor<256x64xbf16>, tensor<192x64xbf16> -> tensor<256x192xf32>
      scf.yield %d : tensor<256x192xf32>
    }
    %r = arith.truncf %acc : tensor<256x192xf32> to tensor<256x192xbf16>
    tile.store %r, %c[%c0, %c0] {atom = #nvptx.tma, role = "mma", in_flight = 1} : tensor<256x192xbf16>, !view
    tile.return
  }
}

// -----

// Rows go to three copies of the role. Two cannot have 96 each, so they share out columns, which
// grow; the rows stay.
!view = !tile.view<?x?xbf16>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
  // CHECK-LABEL: tile.kernel @three_copies
  tile.kernel @three_copies(%a: !view, %b: !view) attributes {tile.roles = [#tile.role<"load", warps = 4>, #tile.role<"mma", warps = 4, copies = 3>]} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant dense<0.0> : tensor<192x96xf32>
    %x = tile.load %a[%c0, %c0] {atom = #nvptx.tma, role = "load"} : !view -> tensor<192x64xbf16>
    %y = tile.load %b[%c0, %c0] {atom = #nvptx.tma, role = "load"} : !view -> tensor<96x64xbf16>
    // CHECK: tile.dot {{.*}}tile.extents = array<i64: 192, 96, 64>
    %d = tile.dot %x, %y, %zero transpose_b {tile.atom = "wgmma", role = "mma", in_flight = 0}
       : tensor<192x64xbf16>, tensor<96x64xbf16> -> tensor<192x96xf32>
    tile.return
  }

  // CHECK-LABEL: tile.kernel @two_copies
  tile.kernel @two_copies(%a: !view, %b: !view, %c: !tile.view<?x?xf32>) attributes {tile.roles = [#tile.role<"load", warps = 4>, #tile.role<"mma", warps = 4, copies = 2>]} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant dense<0.0> : tensor<192x96xf32>
    %x = tile.load %a[%c0, %c0] {atom = #nvptx.tma, role = "load"} : !view -> tensor<192x64xbf16>
    %y = tile.load %b[%c0, %c0] {atom = #nvptx.tma, role = "load"} : !view -> tensor<96x64xbf16>
    // CHECK: tile.dot {{.*}}tile.extents = array<i64: 192, 128, 64>
    %d = tile.dot %x, %y, %zero transpose_b {tile.atom = "wgmma", role = "mma", in_flight = 0}
       : tensor<192x64xbf16>, tensor<96x64xbf16> -> tensor<192x96xf32>
    tile.store %d, %c[%c0, %c0] {role = "mma"} : tensor<192x96xf32>, !tile.view<?x?xf32>
    tile.return
  }
}

// -----

// The inner extent: so many boxes beside one another.
!view = !tile.view<?x?xbf16>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
  // CHECK-LABEL: tile.kernel @inner
  tile.kernel @inner(%a: !view) attributes {tile.roles = [#tile.role<"load", warps = 4>, #tile.role<"mma", warps = 4>]} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %x = tile.load %a[%c0, %c0] {atom = #nvptx.tma, role = "load"} : !view -> tensor<64x48xbf16>
    // CHECK: tile.dot {{.*}}tile.extents = array<i64: 64, 64, 48>
    %d = tile.dot %x, %x, %zero transpose_b {tile.atom = "wgmma", role = "mma", in_flight = 0}
       : tensor<64x48xbf16>, tensor<64x48xbf16> -> tensor<64x64xf32>
    tile.return
  }
}

// -----

// Sums go along exact columns too. What is sorted along columns has padded ones, and so has the
// product; where an author decides an instruction of other extents they grow for it.
!view = !tile.view<?x?xbf16>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
  // CHECK-LABEL: tile.kernel @summed
  tile.kernel @summed(%a: !view, %b: !view, %c: !tile.view<?xf32>) attributes {tile.roles = [#tile.role<"load", warps = 4>, #tile.role<"mma", warps = 4>]} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant dense<0.0> : tensor<64x96xf32>
    %x = tile.load %a[%c0, %c0] {atom = #nvptx.tma, role = "load"} : !view -> tensor<64x64xbf16>
    %y = tile.load %b[%c0, %c0] {atom = #nvptx.tma, role = "load"} : !view -> tensor<96x64xbf16>
    // CHECK: tile.dot {{.*}}tile.extents = array<i64: 64, 96, 64>
    %d = tile.dot %x, %y, %zero transpose_b {tile.atom = "wgmma", role = "mma", in_flight = 0}
       : tensor<64x64xbf16>, tensor<96x64xbf16> -> tensor<64x96xf32>
    %s = tile.reduce %d axis = 1 : tensor<64x96xf32> -> tensor<64xf32> {
    ^bb0(%l: f32, %r: f32):
      %sum = arith.addf %l, %r : f32
      tile.yield %sum : f32
    }
    tile.store %s, %c[%c0] {role = "mma"} : tensor<64xf32>, !tile.view<?xf32>
    tile.return
  }

  // CHECK-LABEL: tile.kernel @sorted
  tile.kernel @sorted(%a: !view, %b: !view, %c: !tile.view<?x?xf32>) attributes {tile.roles = [#tile.role<"load", warps = 4>, #tile.role<"mma", warps = 4>]} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant dense<0.0> : tensor<64x96xf32>
    %x = tile.load %a[%c0, %c0] {atom = #nvptx.tma, role = "load"} : !view -> tensor<64x64xbf16>
    %y = tile.load %b[%c0, %c0] {atom = #nvptx.tma, role = "load"} : !view -> tensor<96x64xbf16>
    // CHECK: tile.dot {{.*}}tile.extents = array<i64: 64, 128, 64>
    %d = tile.dot %x, %y, %zero transpose_b {tile.atom = "wgmma", role = "mma", in_flight = 0}
       : tensor<64x64xbf16>, tensor<96x64xbf16> -> tensor<64x96xf32>
    %s = tile.sort %d axis = 1 : tensor<64x96xf32> -> tensor<64x96xf32>
    tile.store %s, %c[%c0, %c0] {role = "mma"} : tensor<64x96xf32>, !tile.view<?x?xf32>
    tile.return
  }

  // CHECK-LABEL: tile.kernel @decided
  tile.kernel @decided(%a: !view, %b: !view) attributes {tile.roles = [#tile.role<"load", warps = 4>, #tile.role<"mma", warps = 4>]} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant dense<0.0> : tensor<64x96xf32>
    %x = tile.load %a[%c0, %c0] {atom = #nvptx.tma, role = "load"} : !view -> tensor<64x64xbf16>
    %y = tile.load %b[%c0, %c0] {atom = #nvptx.tma, role = "load"} : !view -> tensor<96x64xbf16>
    // CHECK: tile.dot {{.*}}tile.extents = array<i64: 64, 128, 64>
    %d = tile.dot %x, %y, %zero transpose_b {atom = #nvptx.wgmma<"m64n128k16", bf16, f32>, role = "mma", in_flight = 0}
       : tensor<64x64xbf16>, tensor<96x64xbf16> -> tensor<64x96xf32>
    // CHECK: tile.dot {{.*}}tile.extents = array<i64: 64, 128, 64>
    %e = tile.dot %x, %y, %zero transpose_b {atom = #nvptx.wgmma<"m64n32k16", bf16, f32>, role = "mma", in_flight = 0}
       : tensor<64x64xbf16>, tensor<96x64xbf16> -> tensor<64x96xf32>
    tile.return
  }
}

// -----

// What the target has instructions for is asked where nobody has decided one. What is decided stays,
// and what has an extent with it follows.
!view = !tile.view<?x?xbf16, strides [?, 1]>
!out = !tile.view<?x?xf32>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
  // CHECK-LABEL: tile.kernel @open
  tile.kernel @open(%a: !view, %b: !view, %c: !out) {
    %c0 = arith.constant 0 : index
    %zero = arith.constant dense<0.0> : tensor<128x192xf32>
    %x = tile.load %a[%c0, %c0] : !view -> tensor<128x96xbf16>
    %y = tile.load %b[%c0, %c0] : !view -> tensor<192x96xbf16>
    // CHECK: tile.dot {{.*}}tile.extents = array<i64: 128, 192, 64, 32>
    %d = tile.dot %x, %y, %zero transpose_b : tensor<128x96xbf16>, tensor<192x96xbf16> -> tensor<128x192xf32>
    tile.store %d, %c[%c0, %c0] : tensor<128x192xf32>, !out
    tile.return
  }

  // CHECK-LABEL: tile.kernel @partly
  tile.kernel @partly(%a: !view, %b: !view, %c: !out) {
    %c0 = arith.constant 0 : index
    %zero = arith.constant dense<0.0> : tensor<128x192xf32>
    %x = tile.load %a[%c0, %c0] : !view -> tensor<128x64xbf16>
    %y = tile.load %b[%c0, %c0] : !view -> tensor<192x64xbf16>
    %u = tile.load %a[%c0, %c0] : !view -> tensor<128x48xbf16>
    %v = tile.load %b[%c0, %c0] : !view -> tensor<192x48xbf16>
    // CHECK: tile.dot {{.*}}tile.extents = array<i64: 128, 256, 64>
    %d = tile.dot %x, %y, %zero transpose_b {tile.extents = array<i64: 128, 256, 64>}
       : tensor<128x64xbf16>, tensor<192x64xbf16> -> tensor<128x192xf32>
    // CHECK: tile.dot {{.*}}tile.extents = array<i64: 128, 256, 32, 16>
    %e = tile.dot %u, %v, %d transpose_b : tensor<128x48xbf16>, tensor<192x48xbf16> -> tensor<128x192xf32>
    tile.store %e, %c[%c0, %c0] : tensor<128x192xf32>, !out
    tile.return
  }

  // A power of two is none that could be otherwise.
  // CHECK-LABEL: tile.kernel @even
  // CHECK-NOT: tile.extents
  tile.kernel @even(%a: !view, %b: !view, %c: !out) {
    %c0 = arith.constant 0 : index
    %zero = arith.constant dense<0.0> : tensor<128x64xf32>
    %x = tile.load %a[%c0, %c0] : !view -> tensor<128x64xbf16>
    %y = tile.load %b[%c0, %c0] : !view -> tensor<64x64xbf16>
    %d = tile.dot %x, %y, %zero transpose_b : tensor<128x64xbf16>, tensor<64x64xbf16> -> tensor<128x64xf32>
    tile.store %d, %c[%c0, %c0] : tensor<128x64xf32>, !out
    tile.return
  }
}
