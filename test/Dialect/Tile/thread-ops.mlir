// The ops that say which threads run what, and what stays in front of what, round trip.
// RUN: tile-opt %s | tile-opt | FileCheck %s

!ring = !tile.channel<2, own, !tile.buffer<64x64xf16>>

// CHECK-LABEL: tile.kernel @ordered
// CHECK: tile.launch_dependents
// CHECK: tile.wait_dependencies
// CHECK: tile.cluster_barrier
// CHECK: tile.one_thread {
// CHECK: tile.fence shared
// CHECK: tile.one_thread each_warp {
// CHECK: tile.fence tensor_before
// CHECK: tile.fence tensor_after
// CHECK: tile.schedule_barrier
// CHECK: tile.priority 2
// CHECK: tile.wait_shared
// CHECK: tile.barrier bare
tile.kernel @ordered() attributes {tile.cluster = array<i64: 2, 1, 1>, tile.warps = 8 : i64} {
  %ring = tile.channel full = 8 empty = 8 : !ring
  tile.launch_dependents
  tile.wait_dependencies
  tile.cluster_barrier
  tile.warp_groups(%ring : !ring) {
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
  tile.return
}
