// Dots that run on beside their warps out of a ring that these fill: one is in flight while the next
// trip begins, so of four slots one is read, one holds what is read next, and two are filled.
// RUN: tile-opt %s --tile-pipeline=stop-after=schedule | FileCheck %s
#copy = #nvptx.cp_async<16>
#mma = #nvptx.wgmma<"m64n64k16", bf16, f32>
#facts = #tile.facts<noalias, pointer = 16, strides = [16, 2], extents = [16, 16], index32>

!view = !tile.view<?x?xbf16, strides [?, 1]>
!out = !tile.view<?x?xf32>

module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
// CHECK-LABEL: tile.kernel @gemm
// CHECK: tile.channel full = 8 empty = 8 {{.*}}: !tile.channel<4, own, !tile.buffer<128x32xbf16, #{{.*}}>, !tile.buffer<64x32xbf16, #{{.*}}>>
tile.kernel @gemm(%a: !view {tile.facts = #facts}, %b: !view {tile.facts = #facts}, %c: !out)
    attributes {tile.roles = [#tile.role<"all", warps = 4, copies = 2>]} grid {
  %c1 = arith.constant 1 : index
  tile.grid %c1
} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %k = tile.dim %a, 1 : !view
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  // Nothing multiplies in front of the loop.
  // CHECK: tile.put
  // CHECK: tile.put
  // CHECK-NOT: tile.start_dot
  // A trip: the engine sees what all have published, and what the trip before has read is filled
  // again, which this one still asks for: the dot of the trip before that.
  // CHECK: scf.for
  // CHECK: tile.wait_puts in_flight = 1
  // CHECK: tile.barrier publish
  // CHECK: tile.put
  // CHECK: tile.get
  // CHECK: tile.start_dot
  // CHECK: tile.wait %{{.*}} in_flight = 1
  // The slot of the dot before, if there is one.
  // CHECK: arith.cmpi
  // CHECK: scf.if
  // CHECK-NEXT: tile.release
  // CHECK: scf.yield
  // Two trips that put nothing.
  // CHECK: scf.if
  // CHECK: tile.start_dot
  // CHECK: scf.if
  // CHECK: tile.start_dot
  // CHECK-NOT: tile.start_dot
  // Without a trip the sum is what it was.
  // CHECK: %[[SUM:.*]] = tile.wait %{{.*}} in_flight = 0
  // CHECK-NEXT: scf.yield %[[SUM]]
  // CHECK-NEXT: } else {
  // CHECK-NEXT: scf.yield %[[ZERO:.*]] : tensor<64x64xf32
  %sum = scf.for %kk = %c0 to %k step %c32 iter_args(%s = %zero) -> tensor<128x64xf32> {
    %at = tile.load %a[%c0, %kk] {atom = #copy, stage = 0, order = 0, role = "all"}
        : !view -> tensor<128x32xbf16>
    %bt = tile.load %b[%c0, %kk] {atom = #copy, stage = 0, order = 1, role = "all"}
        : !view -> tensor<64x32xbf16>
    %d = tile.dot %at, %bt, %s transpose_b
       {atom = #mma, stage = 2, order = 2, role = "all", in_flight = 1}
       : tensor<128x32xbf16>, tensor<64x32xbf16> -> tensor<128x64xf32>
    scf.yield %d : tensor<128x64xf32>
  } {tile.depth = 4}
  tile.store %sum, %c[%c0, %c0] {role = "all"} : tensor<128x64xf32>, !out
  tile.return
}
}
