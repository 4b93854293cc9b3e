// A ring that its role fills has slots for what its products in flight hold, whatever stages follow.
// RUN: tile-opt %s --tile-pipeline=stop-after=layout --tile-check-schedule -split-input-file -verify-diagnostics
#mma = #nvptx.wgmma<"m64n64k16", bf16, f32>
#facts = #tile.facts<noalias, pointer = 16, strides = [16, 2], extents = [16, 16], index32>
!view = !tile.view<?x?xbf16, strides [?, 1]>
!out = !tile.view<?x?xf32>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @copied(%a: !view {tile.facts = #facts}, %c: !out)
    attributes {tile.roles = [#tile.role<"all", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %k = tile.dim %a, 1 : !view
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %kk = %c0 to %k step %c32 iter_args(%s = %zero) -> tensor<64x64xf32> {
    // expected-error@+1 {{expected at least 3 slots ('depth') of what role "all" loads for itself, of which a product in flight holds some ('in_flight' is 2), got 2}}
    %x = tile.load %a[%c0, %kk] {tile.atom = "cp_async"} : !view -> tensor<64x32xbf16>
    // expected-note@+1 {{the product}}
    %d = tile.dot %x, %x, %s transpose_b {atom = #mma, in_flight = 2}
       : tensor<64x32xbf16>, tensor<64x32xbf16> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  } {tile.depth = 2 : i64}
  tile.store %sum, %c[%c0, %c0] : tensor<64x64xf32>, !out
  tile.return
}
}

// -----

// What goes through registers is written at the end of a trip.
#mma = #nvptx.wgmma<"m64n64k16", bf16, f32>
!view = !tile.view<?x?xbf16, strides [?, 1]>
!out = !tile.view<?x?xf32>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @written(%a: !view, %c: !out) attributes {tile.roles = [#tile.role<"all", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %k = tile.dim %a, 1 : !view
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %kk = %c0 to %k step %c32 iter_args(%s = %zero) -> tensor<64x64xf32> {
    // expected-error@+1 {{expected at least 3 slots ('depth') of what role "all" loads for itself, of which a product in flight holds some ('in_flight' is 1), got 2}}
    %x = tile.load %a[%c0, %kk] {tile.atom = "through_registers"} : !view -> tensor<64x32xbf16>
    // expected-note@+1 {{the product}}
    %d = tile.dot %x, %x, %s transpose_b {atom = #mma, in_flight = 1}
       : tensor<64x32xbf16>, tensor<64x32xbf16> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  } {tile.depth = 2 : i64}
  tile.store %sum, %c[%c0, %c0] : tensor<64x64xf32>, !out
  tile.return
}
}
