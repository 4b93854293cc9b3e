// The ops that say which threads run what, and what stays in front of what, round trip.
// RUN: tile-opt %s | tile-opt | FileCheck %s

!own = !tile.channel<2, own, !tile.buffer<64x64xf16>>
!ring = !tile.channel<2, !tile.buffer<64x64xf16>>
#sum = #tile.layout<register = [[0,1],[0,2],[0,4],[0,8],[0,16],[0,32]], lane = [[1,0],[2,0],[4,0],[8,0],[16,0]], warp = [[32,0],[64,0]]>
!sums = !tile.channel<1, !tile.pending<tensor<128x64xf32, #sum>, tensor_memory>>

// CHECK-LABEL: tile.kernel @ordered
// CHECK: tile.launch_dependents
// CHECK: tile.wait_dependencies
// CHECK: tile.cluster_barrier
// CHECK: tile.one_thread {
// CHECK: tile.prefetch %{{.*}} for !tile.buffer<64x64xf16> {atom = #nvptx.tma} : !tile.view<?x?xf16>
// CHECK: tile.prefetch %{{.*}} for !tile.buffer<64x64xf16> {atom = #nvptx.tma, dropped = array<i64: 0>} : !tile.view<?x?x?xf16>
// CHECK: tile.init %{{.*}} : !tile.channel<2, !tile.buffer<64x64xf16>>
// CHECK: tile.fence barriers
// CHECK: tile.alloc_tensor %{{.*}} : !tile.channel<1
// CHECK: tile.one_thread {
// CHECK: tile.fence shared
// CHECK: tile.one_thread each_warp {
// CHECK: tile.fence tensor_before
// CHECK: tile.fence tensor_after
// CHECK: tile.schedule_barrier
// CHECK: tile.priority 2
// CHECK: tile.wait_shared
// CHECK: tile.barrier bare
// CHECK: tile.free_tensor %{{.*}}, %{{.*}} : !tile.channel<1, {{.*}}>, !tile.channel<1
tile.kernel @ordered(%a: !tile.view<?x?xf16>, %b: !tile.view<?x?x?xf16>) attributes {tile.cluster = array<i64: 2, 1, 1>, tile.warps = 8 : i64} {
  %own = tile.channel full = 8 empty = 8 : !own
  %ring = tile.channel full = 1 empty = 8 : !ring
  %sums = tile.channel full = 1 empty = 4 : !sums
  %more = tile.channel full = 1 empty = 4 : !sums
  tile.launch_dependents
  tile.wait_dependencies
  tile.cluster_barrier
  tile.one_thread {
    tile.prefetch %a for !tile.buffer<64x64xf16> {atom = #nvptx.tma} : !tile.view<?x?xf16>
    tile.prefetch %b for !tile.buffer<64x64xf16> {atom = #nvptx.tma, dropped = array<i64: 0>} : !tile.view<?x?x?xf16>
    tile.init %ring : !ring
    tile.fence barriers
  }
  tile.alloc_tensor %sums, %more : !sums, !sums
  tile.warp_groups(%own : !own) {
    role #tile.role<"all", warps = 8> {
      tile.one_thread {
        tile.fence shared
      }
      tile.one_thread each_warp {
        tile.fence shared
      }
      tile.fence tensor_before
      tile.fence tensor_after
      tile.schedule_barrier
      tile.priority 2
      tile.wait_shared
      tile.barrier bare
    }
  }
  tile.free_tensor %sums, %more : !sums, !sums
  tile.return
}
