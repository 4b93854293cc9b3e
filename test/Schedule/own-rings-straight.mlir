// Two uses of a ring of one slot in no loop: all meet between the release of the one and the put of
// the other, and in front of each get. What stands behind a loop's uses of the ring meets there too.
// RUN: tile-opt %s --tile-pipeline=stop-after=schedule | FileCheck %s

!view = !tile.view<?x?xbf16, strides [?, 1]>
!out = !tile.view<?x?xf32>
#facts = #tile.facts<pointer = 16, strides = [16, 2], noalias>
module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
// CHECK-LABEL: tile.kernel @straight
// CHECK: tile.put
// CHECK: tile.wait_puts
// CHECK-NEXT: tile.barrier
// CHECK: tile.get
// CHECK: tile.release
// CHECK: tile.barrier
// CHECK: tile.put
// CHECK: tile.wait_puts
// CHECK-NEXT: tile.barrier
// CHECK: tile.get
// CHECK: tile.release
tile.kernel @straight(%a: !view {tile.facts = #facts}, %c: !out) attributes {tile.roles = [#tile.role<"all", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %x = tile.load %a[%c0, %c0] {tile.atom = "cp_async", ring = "r", depth = 1} : !view -> tensor<64x64xbf16>
  %s = tile.dot %x, %x, %zero transpose_b {tile.atom = "mma_sync"} : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
  %y = tile.load %a[%c0, %c64] {tile.atom = "cp_async", ring = "r", depth = 1} : !view -> tensor<64x64xbf16>
  %t = tile.dot %y, %y, %s transpose_b {tile.atom = "mma_sync"} : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
  tile.store %t, %c[%c0, %c0] : tensor<64x64xf32>, !out
  tile.return
}

// Read in the trip that loads it, a tile is written to its slot there and not at the trip's end.
// CHECK-LABEL: tile.kernel @at_once
// CHECK: scf.for
// CHECK: %[[T:.*]] = tile.load
// CHECK: tile.put
// CHECK: tile.write %[[T]]
// CHECK: tile.get
// CHECK: tile.dot
// CHECK: scf.yield
tile.kernel @at_once(%a: !view {tile.facts = #facts}, %c: !out, %n: index) attributes {tile.roles = [#tile.role<"all", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %k = %c0 to %n step %c64 iter_args(%s = %zero) -> tensor<64x64xf32> {
    %x = tile.load %a[%c0, %k] {tile.atom = "through_registers", stage = 0} : !view -> tensor<64x64xbf16>
    %t = tile.dot %x, %x, %s transpose_b {tile.atom = "mma_sync", stage = 0} : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
    scf.yield %t : tensor<64x64xf32>
  } {tile.depth = 1 : i64}
  tile.store %sum, %c[%c0, %c0] : tensor<64x64xf32>, !out
  tile.return
}
}
