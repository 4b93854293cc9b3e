// What cannot be completed is refused as the first try was, with what asked for it.
// RUN: tile-opt %s --tile-pipeline=stop-after=layout -split-input-file -verify-diagnostics
#facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [16, 16], index32>
!view = !tile.view<?x?xbf16, strides [?, 1]>
!out = !tile.view<?x?xf32>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @shallow(%a: !view {tile.facts = #facts}, %c: !out) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %k = tile.dim %a, 1 : !view
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  // expected-error@+1 {{expected a depth of at least 4, since with fewer slots the roles wait for one another}}
  %sum = scf.for %kk = %c0 to %k step %c64 iter_args(%s = %zero) -> tensor<64x64xf32> {
    // expected-note@+2 {{the ring is filled here}}
    // expected-note@+1 {{'tile.load' in role "load"}}
    %x = tile.load %a[%c0, %kk] : !view -> tensor<64x64xbf16>
    // expected-note@+2 {{'tile.dot' in role "compute"}}
    // expected-note@+1 {{roles are completed, since 'in_flight' is decided}}
    %d = tile.dot %x, %x, %s transpose_b {in_flight = 3}
       : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  } {tile.depth = 2 : i64}
  tile.store %sum, %c[%c0, %c0] : tensor<64x64xf32>, !out
  tile.return
}
}

// -----

#facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [16, 16], index32>
!view = !tile.view<?x?xbf16, strides [?, 1]>
!out = !tile.view<?x?xf32>
module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
tile.kernel @none(%a: !view {tile.facts = #facts}, %c: !out) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %x = tile.load %a[%c0, %c0] : !view -> tensor<64x64xbf16>
  // expected-note@+2 {{roles are completed, since 'in_flight' is decided}}
  // expected-error@+1 {{expected no 'in_flight' on nvptx:sm_80, no instruction of which makes this product beside its warps, got 1}}
  %d = tile.dot %x, %x, %zero transpose_b {in_flight = 1}
     : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
  tile.store %d, %c[%c0, %c0] : tensor<64x64xf32>, !out
  tile.return
}
}

// -----

// Roles that nobody has written are no reason: what is said of the load is.
!view = !tile.view<?x?xf32>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @no_product(%a: !view, %c: !view, %n: index) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  scf.for %kk = %c0 to %n step %c64 {
    // expected-note@+2 {{roles are completed, since 'tile.residency' is decided}}
    // expected-error@+1 {{expected operands alone of products that read them from registers, since 'tile.residency' is decided}}
    %x = tile.load %a[%c0, %kk] {tile.residency = "registers"} : !view -> tensor<64x64xf32>
    // expected-note@+1 {{the other use}}
    %y = arith.addf %x, %x : tensor<64x64xf32>
    tile.store %y, %c[%c0, %kk] : tensor<64x64xf32>, !view
  }
  tile.return
}
}
