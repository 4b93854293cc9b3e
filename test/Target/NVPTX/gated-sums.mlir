// Two sums in tensor memory make one tensor, which is stored by the engine box by box: one fence orders
// the fetches of both in front of both releases.
// RUN: tile-compile %s --emit asm -o %t.ptx
// RUN: FileCheck %s --input-file %t.ptx
// RUN: %ptxas -arch=sm_100a %t.ptx -o %t.cubin

// CHECK: tcgen05.mma
// CHECK-COUNT-4: tcgen05.ld.sync.aligned
// CHECK-NOT: tcgen05.ld
// CHECK: tcgen05.fence::before_thread_sync
// CHECK-NOT: tcgen05.fence::before_thread_sync
// CHECK: cp.async.bulk.tensor.2d.global
#facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [16, 16], noalias, index32>
!view = !tile.view<?x?xbf16>
module attributes {tile.target = #nvptx.target<chip = "sm_100a">} {
tile.kernel @gated(%a: !view {tile.facts = #facts}, %b: !view {tile.facts = #facts}, %b2: !view {tile.facts = #facts}, %c: !view {tile.facts = #facts}) attributes {tile.roles = [#tile.role<"compute", warps = 4>, #tile.role<"load", warps = 1>]} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %x = tile.program_id x
  %y = tile.program_id y
  %row = arith.muli %x, %c128 : index
  %column = arith.muli %y, %c128 : index
  %n = tile.dim %a, 1 : !view
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %sum:2 = scf.for %k = %c0 to %n step %c64 iter_args(%s = %zero, %t = %zero) -> (tensor<128x128xf32>, tensor<128x128xf32>) {
    %at = tile.load %a[%row, %k] {atom = #nvptx.tma, role = "load"} : !view -> tensor<128x64xbf16>
    %bt = tile.load %b[%column, %k] {atom = #nvptx.tma, role = "load"} : !view -> tensor<128x64xbf16>
    %ct = tile.load %b2[%column, %k] {atom = #nvptx.tma, role = "load"} : !view -> tensor<128x64xbf16>
    %d = tile.dot %at, %bt, %s transpose_b {atom = #nvptx.tcgen05<"m128n128k16", bf16, f32>, role = "compute", in_flight = 0} : tensor<128x64xbf16>, tensor<128x64xbf16> -> tensor<128x128xf32>
    %e = tile.dot %at, %ct, %t transpose_b {atom = #nvptx.tcgen05<"m128n128k16", bf16, f32>, role = "compute", in_flight = 0} : tensor<128x64xbf16>, tensor<128x64xbf16> -> tensor<128x128xf32>
    scf.yield %d, %e : tensor<128x128xf32>, tensor<128x128xf32>
  }
  %m = arith.mulf %sum#0, %sum#1 : tensor<128x128xf32>
  %r = arith.truncf %m : tensor<128x128xf32> to tensor<128x128xbf16>
  tile.store %r, %c[%row, %column] {atom = #nvptx.tma, role = "compute", in_flight = 1} : tensor<128x128xbf16>, !view
  tile.return
}
}
