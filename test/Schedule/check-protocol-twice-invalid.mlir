// Slots that dots read until a commit, and lanes, too: each half is released once, behind what reads the slot.
// RUN: tile-opt %s --tile-pipeline="stop-after=schedule" > %t
// RUN: sed '/tile.release %0.*lanes/d' %t | not tile-opt --tile-check-protocol 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: sed '/tile.release %0.*commit/p' %t | not tile-opt --tile-check-protocol 2>&1 | FileCheck %s --check-prefix=AGAIN
// RUN: sed '/tile.release %0.*lanes/d; s/= tile.get %0.\(%arg[0-9]*\),.*: \(.*\)$/&\n tile.release %0[\1] lanes : \2/' %t | not tile-opt --tile-check-protocol 2>&1 | FileCheck %s --check-prefix=READ
// RUN: sed '/tile.release %0.*commit/d; s/= tile.get %0.\(%arg[0-9]*\),.*: \(.*\)$/&\n tile.release %0[\1] commit : \2/' %t | not tile-opt --tile-check-protocol 2>&1 | FileCheck %s --check-prefix=STARTED
// RUN: sed '/= tile.get %0/{n;d}' %t | not tile-opt --tile-check-protocol 2>&1 | FileCheck %s --check-prefix=FENCE

// MISSING: expected empty = 1, one arrival of each warp that releases it, or copy that commits to, got 5
// AGAIN: expected a slot that commits give back as well as others to be released once by each
// READ: 'tile.read' op expected a slot that role "mma" has not released, got use 0 of the channel
// STARTED: 'tile.start_dot' op expected a slot that role "mma" has not released, got use 0 of the channel
// FENCE: expected a tile.fence tensor_after behind what told of accesses to tensor memory by others
#facts = #tile.facts<pointer = 16, strides = [16, 2], noalias>
!view = !tile.view<?x?xbf16>
!out = !tile.view<?x?xf32>
module attributes {tile.target = #nvptx.target<chip = "sm_100a">} {
tile.kernel @twice(%a: !view {tile.facts = #facts}, %o: !out, %n: index)
    attributes {tile.roles = [#tile.role<"load", warps = 4>, #tile.role<"mma", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %sum = scf.for %k = %c0 to %n step %c64 iter_args(%acc = %zero) -> tensor<128x128xf32> {
    %x = tile.load %a[%c0, %k] {atom = #nvptx.tma, role = "load"} : !view -> tensor<128x64xbf16>
    %d = tile.dot %x, %x, %acc transpose_b {atom = #nvptx.tcgen05<"m128n128k16", bf16, f32>, role = "mma", in_flight = 0} : tensor<128x64xbf16>, tensor<128x64xbf16> -> tensor<128x128xf32>
    %w = arith.extf %x {tile.role = "mma"} : tensor<128x64xbf16> to tensor<128x64xf32>
    tile.store %w, %o[%c0, %k] {role = "mma"} : tensor<128x64xf32>, !out
    scf.yield %d : tensor<128x128xf32>
  } {tile.depth = 2}
  tile.store %sum, %o[%c0, %c0] {role = "mma"} : tensor<128x128xf32>, !out
  tile.return
}
}
