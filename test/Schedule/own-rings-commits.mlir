// Dots that end by commit give back the slots that they read: of a ring that their own role fills,
// too, whose slots have barriers then.
// RUN: tile-opt %s --tile-pipeline=stop-after=schedule | FileCheck %s
#facts = #tile.facts<noalias, pointer = 16, strides = [16, 2], extents = [16, 16], index32>
!view = !tile.view<?x?xbf16, strides [?, 1]>
!out = !tile.view<?x?xf32>
module attributes {tile.target = #nvptx.target<chip = "sm_100a">} {
// CHECK-LABEL: tile.kernel @copied
// CHECK: tile.channel full = 4 empty = 1 {{.*}}: !tile.channel<3, !tile.buffer<128x32xbf16
tile.kernel @copied(%a: !view {tile.facts = #facts}, %c: !out)
    attributes {tile.roles = [#tile.role<"all", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %k = tile.dim %a, 1 : !view
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  // Two trips ahead; a trip waits for the slot, and one thread for the copies.
  // CHECK: tile.put
  // CHECK: scf.for
  // CHECK: tile.put
  // CHECK: tile.get {{.*}}to_start
  // CHECK: tile.fence shared
  // CHECK: tile.start_dot
  // CHECK: tile.release {{.*}}commit
  %sum = scf.for %kk = %c0 to %k step %c32 iter_args(%s = %zero) -> tensor<128x128xf32> {
    %x = tile.load %a[%c0, %kk] {tile.atom = "cp_async", stage = 0} : !view -> tensor<128x32xbf16>
    %d = tile.dot %x, %x, %s transpose_b {tile.atom = "tcgen05", in_flight = 0, stage = 2}
       : tensor<128x32xbf16>, tensor<128x32xbf16> -> tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  } {tile.depth = 3 : i64}
  tile.store %sum, %c[%c0, %c0] : tensor<128x128xf32>, !out
  tile.return
}
}
