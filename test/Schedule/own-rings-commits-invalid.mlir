// Before a slot is filled again its dots have given it back, which have started by then.
// RUN: tile-opt %s --tile-pipeline=stop-after=schedule -split-input-file -verify-diagnostics
#facts = #tile.facts<noalias, pointer = 16, strides = [16, 2], extents = [16, 16], index32>
!view = !tile.view<?x?xbf16, strides [?, 1]>
!out = !tile.view<?x?xf32>
module attributes {tile.target = #nvptx.target<chip = "sm_100a">} {
tile.kernel @shallow(%a: !view {tile.facts = #facts}, %c: !out)
    attributes {tile.roles = [#tile.role<"all", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %k = tile.dim %a, 1 : !view
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %sum = scf.for %kk = %c0 to %k step %c32 iter_args(%s = %zero) -> tensor<128x128xf32> {
    // expected-error@+1 {{expected at least 3 slots ('depth') of what role "all" loads for itself, since it is read 2 trips later ('stage'), got 2}}
    %x = tile.load %a[%c0, %kk] {tile.atom = "cp_async", stage = 0} : !view -> tensor<128x32xbf16>
    %d = tile.dot %x, %x, %s transpose_b {tile.atom = "tcgen05", in_flight = 0, stage = 2}
       : tensor<128x32xbf16>, tensor<128x32xbf16> -> tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  } {tile.depth = 2 : i64}
  tile.store %sum, %c[%c0, %c0] : tensor<128x128xf32>, !out
  tile.return
}
}

// -----

!view = !tile.view<?x?xbf16, strides [?, 1]>
!out = !tile.view<?x?xf32>
module attributes {tile.target = #nvptx.target<chip = "sm_100a">} {
tile.kernel @early(%a: !view, %c: !out) attributes {tile.roles = [#tile.role<"all", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %k = tile.dim %a, 1 : !view
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %sum = scf.for %kk = %c0 to %k step %c32 iter_args(%s = %zero) -> tensor<128x128xf32> {
    // expected-note@+1 {{the load}}
    %x = tile.load %a[%c0, %kk] {tile.atom = "through_registers", stage = 0, tile.write_stage = 0} : !view -> tensor<128x32xbf16>
    // expected-error@+1 {{expected a stage of at least 1, since what it reads is loaded at stage 0 and written to its slot at the end of a trip ('tile.write_stage' is 0), got 0}}
    %d = tile.dot %x, %x, %s transpose_b {tile.atom = "tcgen05", in_flight = 0, stage = 0}
       : tensor<128x32xbf16>, tensor<128x32xbf16> -> tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  } {tile.depth = 2 : i64}
  tile.store %sum, %c[%c0, %c0] : tensor<128x128xf32>, !out
  tile.return
}
}

// -----

// Of two uses a trip three slots are a trip and a half.
#facts = #tile.facts<noalias, pointer = 16, strides = [16, 2], extents = [16, 16], index32>
!view = !tile.view<?x?xbf16, strides [?, 1]>
!out = !tile.view<?x?xf32>
module attributes {tile.target = #nvptx.target<chip = "sm_100a">} {
tile.kernel @shared(%a: !view {tile.facts = #facts}, %b: !view {tile.facts = #facts}, %c: !out)
    attributes {tile.roles = [#tile.role<"all", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %k = tile.dim %a, 1 : !view
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %sum:2 = scf.for %kk = %c0 to %k step %c32 iter_args(%s = %zero, %t = %zero) -> (tensor<128x128xf32>, tensor<128x128xf32>) {
    %x = tile.load %a[%c0, %kk] {tile.atom = "cp_async", stage = 0} : !view -> tensor<128x32xbf16>
    %d = tile.dot %x, %x, %s transpose_b {tile.atom = "tcgen05", in_flight = 0, stage = 2}
       : tensor<128x32xbf16>, tensor<128x32xbf16> -> tensor<128x128xf32>
    // expected-error@+1 {{expected a ring of more than 3 slots ('depth'), or an earlier stage of what reads it: a slot is filled again before it is read}}
    %y = tile.load %b[%c0, %kk] {tile.atom = "cp_async", stage = 0} : !view -> tensor<128x32xbf16>
    // expected-note@+1 {{what reads it}}
    %e = tile.dot %y, %y, %t transpose_b {tile.atom = "tcgen05", in_flight = 0, stage = 2}
       : tensor<128x32xbf16>, tensor<128x32xbf16> -> tensor<128x128xf32>
    scf.yield %d, %e : tensor<128x128xf32>, tensor<128x128xf32>
  } {tile.depth = 3 : i64}
  %both = arith.addf %sum#0, %sum#1 : tensor<128x128xf32>
  tile.store %both, %c[%c0, %c0] : tensor<128x128xf32>, !out
  tile.return
}
}

// -----

#facts = #tile.facts<noalias, pointer = 16, strides = [16, 2], extents = [16, 16], index32>
!view = !tile.view<?x?xbf16, strides [?, 1]>
!out = !tile.view<?x?xf32>
module attributes {tile.target = #nvptx.target<chip = "sm_100a">} {
tile.kernel @lagging(%a: !view {tile.facts = #facts}, %c: !out)
    attributes {tile.roles = [#tile.role<"all", warps = 4, copies = 2, skew = 1>]} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %k = tile.dim %a, 1 : !view
  %zero = arith.constant dense<0.0> : tensor<256x128xf32>
  %sum = scf.for %kk = %c0 to %k step %c32 iter_args(%s = %zero) -> tensor<256x128xf32> {
    %x = tile.load %a[%c0, %kk] {tile.atom = "cp_async", stage = 0} : !view -> tensor<256x32xbf16>
    %y = tile.load %a[%c0, %kk] {tile.atom = "cp_async", stage = 0} : !view -> tensor<128x32xbf16>
    // expected-error@+1 {{expected no skew of role "all", since #nvptx.tcgen05<"m128n128k16", bf16, f32> tells of its end by a commit, got 1}}
    %d = tile.dot %x, %y, %s transpose_b {tile.atom = "tcgen05", in_flight = 0, stage = 1}
       : tensor<256x32xbf16>, tensor<128x32xbf16> -> tensor<256x128xf32>
    scf.yield %d : tensor<256x128xf32>
  } {tile.depth = 3 : i64}
  tile.store %sum, %c[%c0, %c0] : tensor<256x128xf32>, !out
  tile.return
}
}
