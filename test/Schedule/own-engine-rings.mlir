// A role that uses what an engine brings it: its slots have barriers, as those of another role, and
// nobody meets. One thread starts the copies, waits for the slot's release, and all wait for its bytes.
// RUN: tile-opt %s --tile-pipeline=stop-after=schedule | FileCheck %s
#facts = #tile.facts<noalias, pointer = 16, strides = [16, 2], extents = [16, 16], index32>
#mma = #nvptx.wgmma<"m64n64k16", bf16, f32>

!view = !tile.view<?x?xbf16, strides [?, 1]>
!out = !tile.view<?x?xf32>

module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
// What lanes read is ordered before the copy that fills the slot again.
// CHECK-LABEL: tile.kernel @lanes
// CHECK: %[[RING:.*]] = tile.channel full = 1 empty = 4 {{.*}}: !tile.channel<2, !tile.buffer<64x64xbf16, #{{.*}}>>
// CHECK: tile.warp_groups
// CHECK: tile.one_thread {
// CHECK-NEXT: tile.put {{.*}} bytes = 8192
// CHECK: scf.for
// CHECK-NOT: tile.barrier
// CHECK: tile.one_thread {
// CHECK-NEXT: tile.put {{.*}} bytes = 8192
// CHECK: %[[GOT:.*]] = tile.get
// CHECK-NEXT: tile.read %[[GOT]]
// CHECK-NEXT: tile.fence shared
// CHECK-NEXT: tile.one_thread each_warp {
// CHECK-NEXT: tile.release {{.*}} lanes
// CHECK-NOT: tile.barrier
// CHECK: scf.yield
tile.kernel @lanes(%a: !view {tile.facts = #facts}, %c: !out)
    attributes {tile.roles = [#tile.role<"all", warps = 4>]} grid {
  %c1 = arith.constant 1 : index
  tile.grid %c1
} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %k = tile.dim %a, 1 : !view
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %i = %c0 to %k step %c64 iter_args(%s = %zero) -> tensor<64x64xf32> {
    %x = tile.load %a[%c0, %i] {atom = #nvptx.tma, role = "all"} : !view -> tensor<64x64xbf16>
    %w = arith.extf %x {tile.role = "all"} : tensor<64x64xbf16> to tensor<64x64xf32>
    %d = arith.addf %s, %w {tile.role = "all"} : tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  } {tile.depth = 2}
  tile.store %sum, %c[%c0, %c0] {role = "all"} : tensor<64x64xf32>, !out
  tile.return
}

// Of three slots one is read, one is held by the product in flight, one is filled; each copy brings
// its part of the tile.
// CHECK-LABEL: tile.kernel @flies
// CHECK: tile.channel full = 2 empty = 8 {{.*}}: !tile.channel<3, !tile.buffer<128x64xbf16, #{{.*}}>, !tile.buffer<64x64xbf16, #{{.*}}>>
// CHECK: scf.for
// CHECK-NOT: tile.barrier
// CHECK: tile.put {{.*}} bytes = 12288
// CHECK: tile.get
// CHECK: tile.start_dot
// CHECK: tile.wait %{{.*}} in_flight = 1
// CHECK: tile.release
// CHECK: scf.yield
tile.kernel @flies(%a: !view {tile.facts = #facts}, %b: !view {tile.facts = #facts}, %c: !out)
    attributes {tile.roles = [#tile.role<"all", warps = 4, copies = 2>]} grid {
  %c1 = arith.constant 1 : index
  tile.grid %c1
} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %k = tile.dim %a, 1 : !view
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  %sum = scf.for %i = %c0 to %k step %c64 iter_args(%s = %zero) -> tensor<128x64xf32> {
    %x = tile.load %a[%c0, %i] {atom = #nvptx.tma, role = "all", stage = 0} : !view -> tensor<128x64xbf16>
    %y = tile.load %b[%c0, %i] {atom = #nvptx.tma, role = "all", stage = 0} : !view -> tensor<64x64xbf16>
    %d = tile.dot %x, %y, %s transpose_b {atom = #mma, in_flight = 1, role = "all", stage = 1}
       : tensor<128x64xbf16>, tensor<64x64xbf16> -> tensor<128x64xf32>
    scf.yield %d : tensor<128x64xf32>
  } {tile.depth = 3}
  tile.store %sum, %c[%c0, %c0] {role = "all"} : tensor<128x64xf32>, !out
  tile.return
}
}
