// Extents of what copy atoms bring, whatever reads it.
// RUN: tile-opt %s --tile-decide-extents --split-input-file | FileCheck %s

// A tile that lanes copy and that something is computed of before the product is as exact as one
// that nobody touches: 96 rows, and 192 columns.
!view = !tile.view<?x?xbf16, strides [?, 1]>
!out = !tile.view<?x?xf32>
module attributes {tile.target = #amdgcn.target<chip = "gfx942">} {
  // CHECK-LABEL: tile.kernel @touched
  tile.kernel @touched(%a: !view, %b: !view, %c: !out) attributes {tile.roles = [#tile.role<"all", warps = 4>]} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant dense<0.0> : tensor<96x64xf32>
    %two = arith.constant dense<2.0> : tensor<96x32xbf16>
    %x = tile.load %a[%c0, %c0] {tile.atom = "load_to_lds", role = "all"} : !view -> tensor<96x32xbf16>
    %y = tile.load %b[%c0, %c0] {tile.atom = "load_to_lds", role = "all"} : !view -> tensor<64x32xbf16>
    %t = arith.mulf %x, %two : tensor<96x32xbf16>
    // CHECK: tile.dot {{.*}}tile.extents = array<i64: 96, 64, 32>
    %d = tile.dot %t, %y, %zero transpose_b {tile.atom = "matrix", role = "all"}
       : tensor<96x32xbf16>, tensor<64x32xbf16> -> tensor<96x64xf32>
    tile.store %d, %c[%c0, %c0] {role = "all"} : tensor<96x64xf32>, !out
    tile.return
  }

  // Registers of one copy count one odd factor: the other extent grows, which is the one that
  // brings less, 32 rows of b in place of 64 of a. Three copies count that of the rows.
  // CHECK-LABEL: tile.kernel @one_copy
  tile.kernel @one_copy(%a: !view, %b: !view, %c: !out) attributes {tile.roles = [#tile.role<"all", warps = 4>]} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant dense<0.0> : tensor<192x96xf32>
    %x = tile.load %a[%c0, %c0] {tile.atom = "load_to_lds", role = "all"} : !view -> tensor<192x32xbf16>
    %y = tile.load %b[%c0, %c0] {tile.atom = "load_to_lds", role = "all"} : !view -> tensor<96x32xbf16>
    // CHECK: tile.dot {{.*}}tile.extents = array<i64: 192, 128, 32>
    %d = tile.dot %x, %y, %zero transpose_b {tile.atom = "matrix", role = "all"}
       : tensor<192x32xbf16>, tensor<96x32xbf16> -> tensor<192x96xf32>
    tile.store %d, %c[%c0, %c0] {role = "all"} : tensor<192x96xf32>, !out
    tile.return
  }

  // CHECK-LABEL: tile.kernel @three_copies
  tile.kernel @three_copies(%a: !view, %b: !view, %c: !out) attributes {tile.roles = [#tile.role<"all", warps = 4, copies = 3>]} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant dense<0.0> : tensor<192x96xf32>
    %x = tile.load %a[%c0, %c0] {tile.atom = "load_to_lds", role = "all"} : !view -> tensor<192x32xbf16>
    %y = tile.load %b[%c0, %c0] {tile.atom = "load_to_lds", role = "all"} : !view -> tensor<96x32xbf16>
    // CHECK: tile.dot {{.*}}tile.extents = array<i64: 192, 96, 32>
    %d = tile.dot %x, %y, %zero transpose_b {tile.atom = "matrix", role = "all"}
       : tensor<192x32xbf16>, tensor<96x32xbf16> -> tensor<192x96xf32>
    tile.store %d, %c[%c0, %c0] {role = "all"} : tensor<192x96xf32>, !out
    tile.return
  }

  // A buffer counts one odd factor, too, whatever copies count: of 96 rows with 48 of k the rows
  // stay, which three copies share out. And where two copies read parts of a buffer, k grows: what
  // counts its odd factor would lie above what counts the copies.
  // CHECK-LABEL: tile.kernel @inner
  tile.kernel @inner(%a: !view, %b: !view, %c: !out) attributes {tile.roles = [#tile.role<"three", warps = 4, copies = 3>, #tile.role<"two", warps = 4, copies = 2>]} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant dense<0.0> : tensor<96x64xf32>
    %none = arith.constant dense<0.0> : tensor<64x64xf32>
    %x = tile.load %a[%c0, %c0] {tile.atom = "through_registers", role = "three"} : !view -> tensor<96x48xbf16>
    %y = tile.load %b[%c0, %c0] {tile.atom = "through_registers", role = "three"} : !view -> tensor<64x48xbf16>
    %u = tile.load %a[%c0, %c0] {tile.atom = "through_registers", role = "two"} : !view -> tensor<64x48xbf16>
    %v = tile.load %b[%c0, %c0] {tile.atom = "through_registers", role = "two"} : !view -> tensor<64x48xbf16>
    // CHECK: tile.dot {{.*}}tile.extents = array<i64: 96, 64, 64>
    %d = tile.dot %x, %y, %zero transpose_b {tile.atom = "matrix", role = "three"}
       : tensor<96x48xbf16>, tensor<64x48xbf16> -> tensor<96x64xf32>
    // CHECK: tile.dot {{.*}}tile.extents = array<i64: 64, 64, 64>
    %e = tile.dot %u, %v, %none transpose_b {tile.atom = "matrix", role = "two"}
       : tensor<64x48xbf16>, tensor<64x48xbf16> -> tensor<64x64xf32>
    tile.return
  }

  // So it is for whatever a buffer holds: of a tile that is added, two copies read parts of its rows.
  // CHECK-LABEL: tile.kernel @added
  tile.kernel @added(%a: !view, %b: !view, %c: !out) attributes {tile.roles = [#tile.role<"two", warps = 4, copies = 2>]} {
    %c0 = arith.constant 0 : index
    %x = tile.load %a[%c0, %c0] {tile.atom = "through_registers", role = "two"} : !view -> tensor<128x32xbf16>
    %y = tile.load %b[%c0, %c0] {tile.atom = "through_registers", role = "two"} : !view -> tensor<96x32xbf16>
    %z = tile.load %c[%c0, %c0] {tile.atom = "through_registers", role = "two"} : !out -> tensor<128x96xf32>
    // CHECK: tile.dot {{.*}}tile.extents = array<i64: 128, 128, 32>
    %d = tile.dot %x, %y, %z transpose_b {tile.atom = "matrix", role = "two"}
       : tensor<128x32xbf16>, tensor<96x32xbf16> -> tensor<128x96xf32>
    tile.return
  }
}

// -----

// What lanes copy, or threads write, lies as the product reads it, as what an engine brings does.
!view = !tile.view<?x?xbf16, strides [?, 1]>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
  // CHECK-LABEL: tile.kernel @ways
  tile.kernel @ways(%a: !view {tile.facts = #tile.facts<pointer = 16, strides = [16, 2]>},
                    %b: !view {tile.facts = #tile.facts<pointer = 16, strides = [16, 2]>})
      attributes {tile.roles = [#tile.role<"load", warps = 4>, #tile.role<"mma", warps = 4, copies = 3>]} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant dense<0.0> : tensor<192x96xf32>
    %two = arith.constant dense<2.0> : tensor<192x64xbf16>
    %x = tile.load %a[%c0, %c0] {tile.atom = "cp_async", role = "load"} : !view -> tensor<192x64xbf16>
    %y = tile.load %b[%c0, %c0] {tile.atom = "through_registers", role = "load"} : !view -> tensor<96x64xbf16>
    %t = arith.mulf %x, %two : tensor<192x64xbf16>
    // CHECK: tile.dot {{.*}}tile.extents = array<i64: 192, 96, 64>
    %d = tile.dot %x, %y, %zero transpose_b {tile.atom = "wgmma", role = "mma", in_flight = 0}
       : tensor<192x64xbf16>, tensor<96x64xbf16> -> tensor<192x96xf32>
    // CHECK: tile.dot {{.*}}tile.extents = array<i64: 192, 96, 64>
    %e = tile.dot %t, %y, %zero transpose_b {tile.atom = "wgmma", role = "mma", in_flight = 0}
       : tensor<192x64xbf16>, tensor<96x64xbf16> -> tensor<192x96xf32>
    tile.return
  }
}
