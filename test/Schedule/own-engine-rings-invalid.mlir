// RUN: tile-opt %s --tile-pipeline=stop-after=schedule --split-input-file --verify-diagnostics
!view = !tile.view<?x?xbf16, strides [?, 1]>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @slots(%a: !view {tile.facts = #tile.facts<noalias, pointer = 16, strides = [16, 2], extents = [16, 16], index32>}, %c: !tile.view<?x?xf32>, %k: index)
    attributes {tile.roles = [#tile.role<"all", warps = 4>]} grid {
  %c1 = arith.constant 1 : index
  tile.grid %c1
} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %i = %c0 to %k step %c64 iter_args(%s = %zero) -> tensor<64x64xf32> {
    // expected-error@+1 {{expected at least 4 slots ('depth') of what role "all" loads for itself, since it is read 2 trips later ('stage') and a product in flight holds it for 1 more ('in_flight'), got 3}}
    %x = tile.load %a[%c0, %i] {atom = #nvptx.tma, role = "all", stage = 0} : !view -> tensor<64x64xbf16>
    %d = tile.dot %x, %x, %s transpose_b {atom = #nvptx.wgmma<"m64n64k16", bf16, f32>, in_flight = 1, role = "all", stage = 2}
       : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  } {tile.depth = 3}
  tile.store %sum, %c[%c0, %c0] {role = "all"} : tensor<64x64xf32>, !tile.view<?x?xf32>
  tile.return
}
}

// -----

!view = !tile.view<?x?xbf16, strides [?, 1]>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @lag(%a: !view {tile.facts = #tile.facts<noalias, pointer = 16, strides = [16, 2], extents = [16, 16], index32>}, %c: !tile.view<?x?xf32>, %k: index)
    attributes {tile.roles = [#tile.role<"all", warps = 4, copies = 2, skew = 1>]} grid {
  %c1 = arith.constant 1 : index
  tile.grid %c1
} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %sum = scf.for %i = %c0 to %k step %c64 iter_args(%s = %zero) -> tensor<128x128xf32> {
    // expected-error@+1 {{expected no 'skew' of role "all", each of whose copies waits for the bytes that the others bring it, got 1}}
    %x = tile.load %a[%c0, %i] {atom = #nvptx.tma, role = "all", stage = 0} : !view -> tensor<128x64xbf16>
    %d = tile.dot %x, %x, %s transpose_b {atom = #nvptx.wgmma<"m64n128k16", bf16, f32>, in_flight = 0, role = "all", stage = 1}
       : tensor<128x64xbf16>, tensor<128x64xbf16> -> tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  } {tile.depth = 3}
  tile.store %sum, %c[%c0, %c0] {role = "all"} : tensor<128x128xf32>, !tile.view<?x?xf32>
  tile.return
}
}
