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

// Of a role that fills a ring and reads it, a sum in tensor memory goes through trips in front of the
// loop and behind it that ask for no iteration, and is committed where the last of them ends.
// CHECK-LABEL: tile.kernel @touched
// CHECK: scf.if
// CHECK: %[[NONE:.*]] = tile.acquire
// CHECK: %[[SUM:.*]]:{{[0-9]+}} = scf.for {{.*}} iter_args(%{{.*}} = %[[NONE]]
// CHECK: tile.read
// CHECK: tile.start_dot
// CHECK-NOT: scf.if
// CHECK: tile.start_dot {{.*}}, %[[SUM]]#
// CHECK-NOT: scf.if
// CHECK: %[[LAST:.*]] = tile.start_dot
// CHECK: tile.commit %[[LAST]]
tile.kernel @touched(%a: !view {tile.facts = #facts}, %c: !out)
    attributes {tile.roles = [#tile.role<"all", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %k = tile.dim %a, 1 : !view
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %two = arith.constant dense<2.0> : tensor<128x32xbf16>
  %sum = scf.for %kk = %c0 to %k step %c32 iter_args(%s = %zero) -> tensor<128x128xf32> {
    %x = tile.load %a[%c0, %kk] {tile.atom = "cp_async"} : !view -> tensor<128x32xbf16>
    %y = arith.mulf %x, %two : tensor<128x32xbf16>
    %d = tile.dot %x, %y, %s transpose_b {tile.atom = "tcgen05", stage = 2}
       : tensor<128x32xbf16>, tensor<128x32xbf16> -> tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  }
  tile.store %sum, %c[%c0, %c0] : tensor<128x128xf32>, !out
  tile.return
}
}
