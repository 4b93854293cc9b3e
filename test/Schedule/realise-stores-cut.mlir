// Tiles that have grown: an engine stores the pieces of each box that are there, and those of the box
// before are waited for.
// RUN: tile-opt %s --tile-decide-buffers | FileCheck %s --check-prefix=BUFFER
// RUN: tile-opt %s --tile-decide-buffers --tile-realise-warp-groups --tile-realise-stores | FileCheck %s

#blocked = #tile.layout<register = [[0, 1], [0, 2], [8, 0], [16, 0], [32, 0], [64, 0]],
                        lane = [[0, 4], [0, 8], [0, 16], [1, 0], [2, 0]], warp = [[4, 0]]>
!view = !tile.view<?x?xf32>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
// Rows of 24 in strips of eight, which are permuted by 32 bytes: two together and one. Of 128 rows
// there are 104.
// BUFFER-LABEL: tile.kernel @cut
// BUFFER: tile.store {{.*}}buffer = !tile.buffer<8x32xf32
// CHECK-LABEL: tile.kernel @cut
tile.kernel @cut(%a: !view {tile.facts = #tile.facts<pointer = 16, strides = [16, 4], extents = [1, 4], index32>})
    attributes {tile.roles = [#tile.role<"all", warps = 2>]} {
  %c0 = arith.constant 0 : index
  %x = arith.constant {role = "all"} dense<1.0> : tensor<128x32xf32, #blocked>
  // CHECK: %[[A:.*]] = tile.alloc
  // CHECK-NEXT: %[[B:.*]] = tile.alloc
  // The last of thirteen boxes was in this buffer; the one before it in the other.
  // CHECK: tile.wait_stores in_flight = 0
  // CHECK: tile.write %{{.*}}, %[[A]]
  // CHECK: %[[TWO:.*]] = tile.part %[[A]]{{.*}} -> !tile.buffer<8x16xf32
  // CHECK: tile.copy_out %[[TWO]]
  // CHECK: %[[ONE:.*]] = tile.part %[[A]]{{.*}} -> !tile.buffer<8x8xf32
  // CHECK: tile.copy_out %[[ONE]]
  // CHECK: tile.wait_stores in_flight = 4
  // CHECK: tile.write %{{.*}}, %[[B]]
  // CHECK-COUNT-2: tile.copy_out
  // CHECK: tile.wait_stores in_flight = 2
  // CHECK-COUNT-22: tile.copy_out
  // CHECK-NOT: tile.copy_out
  tile.store %x, %a[%c0, %c0] extents [104, 24] {atom = #nvptx.tma, role = "all", in_flight = 1}
    : tensor<128x32xf32, #blocked>, !view
  tile.return
}
}
