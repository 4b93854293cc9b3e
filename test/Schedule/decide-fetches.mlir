// Which sums are fetched as they are stored.
// RUN: tile-opt %s --tile-decide-fetches | FileCheck %s

#sum = #tile.layout<register = [[0,1],[0,2],[0,4],[0,8],[0,16]], lane = [[1,0],[2,0],[4,0],[8,0],[16,0]], warp = [[32,0],[64,0]]>
#box = #tile.layout<register = [[0,1],[0,2],[0,4],[0,8]], lane = [[1,0],[2,0],[4,0],[8,0],[16,0]], warp = [[32,0],[64,0]]>
!pending = !tile.pending<tensor<128x32xf32, #sum>, tensor_memory>
!sums = !tile.channel<1, !pending>
!buffer = !tile.buffer<128x16xf32>
#atom = #nvptx.tcgen05<"m128n32k16", f16, f32>

// CHECK-LABEL: tile.kernel @boxes
// CHECK: tile.slice %{{.*}} [0, 0] {tile.fetched = "boxes"}
// CHECK: tile.slice %{{.*}} [0, 16] {tile.fetched = "boxes"}
tile.kernel @boxes(%s: i32, %p: i32) {
  %sums = tile.channel full = 1 empty = 4 : !sums
  tile.warp_groups(%sums, %s, %p : !sums, i32, i32) {
    role #tile.role<"mma", warps = 4> {
      %to = tile.alloc : !buffer
      %g = tile.get %sums[%s, %p] : !sums
      %sum = tile.fetch %g {atom = #atom} : !pending
      tile.release %sums[%s] lanes : !sums
      %left = tile.slice %sum [0, 0] : tensor<128x32xf32, #sum> -> tensor<128x16xf32, #box>
      tile.write %left, %to : tensor<128x16xf32, #box>, !buffer
      %right = tile.slice %sum [0, 16] : tensor<128x32xf32, #sum> -> tensor<128x16xf32, #box>
      tile.write %right, %to : tensor<128x16xf32, #box>, !buffer
    }
  }
  tile.return
}

// What a source has decided stays.
// CHECK-LABEL: tile.kernel @decided
// CHECK: tile.slice %{{.*}} [0, 0] {tile.fetched = "whole"}
// CHECK: tile.slice %{{.*}} [0, 16] {tile.fetched = "whole"}
tile.kernel @decided(%s: i32, %p: i32) {
  %sums = tile.channel full = 1 empty = 4 : !sums
  tile.warp_groups(%sums, %s, %p : !sums, i32, i32) {
    role #tile.role<"mma", warps = 4> {
      %to = tile.alloc : !buffer
      %g = tile.get %sums[%s, %p] : !sums
      %sum = tile.fetch %g {atom = #atom} : !pending
      tile.release %sums[%s] lanes : !sums
      %left = tile.slice %sum [0, 0] {tile.fetched = "whole"} : tensor<128x32xf32, #sum> -> tensor<128x16xf32, #box>
      tile.write %left, %to : tensor<128x16xf32, #box>, !buffer
      %right = tile.slice %sum [0, 16] {tile.fetched = "whole"} : tensor<128x32xf32, #sum> -> tensor<128x16xf32, #box>
      tile.write %right, %to : tensor<128x16xf32, #box>, !buffer
    }
  }
  tile.return
}

// A sum that something else uses, too, is fetched whole; so is one whose slot the role acquires again
// in front of the last box, and what is no sum in tensor memory.
// CHECK-LABEL: tile.kernel @used
// CHECK-NOT: tile.fetched
// CHECK-LABEL: tile.kernel @again
// CHECK-NOT: tile.fetched
// CHECK-LABEL: tile.kernel @read
// CHECK-NOT: tile.fetched
tile.kernel @used(%s: i32, %p: i32) {
  %sums = tile.channel full = 1 empty = 4 : !sums
  tile.warp_groups(%sums, %s, %p : !sums, i32, i32) {
    role #tile.role<"mma", warps = 4> {
      %to = tile.alloc : !buffer
      %g = tile.get %sums[%s, %p] : !sums
      %sum = tile.fetch %g {atom = #atom} : !pending
      tile.release %sums[%s] lanes : !sums
      %left = tile.slice %sum [0, 0] : tensor<128x32xf32, #sum> -> tensor<128x16xf32, #box>
      tile.write %left, %to : tensor<128x16xf32, #box>, !buffer
      tile.print "sum" (%sum) : tensor<128x32xf32, #sum>
      %right = tile.slice %sum [0, 16] : tensor<128x32xf32, #sum> -> tensor<128x16xf32, #box>
      tile.write %right, %to : tensor<128x16xf32, #box>, !buffer
    }
  }
  tile.return
}

tile.kernel @again(%s: i32, %p: i32) {
  %sums = tile.channel full = 1 empty = 4 : !sums
  tile.warp_groups(%sums, %s, %p : !sums, i32, i32) {
    role #tile.role<"mma", warps = 4> {
      %to = tile.alloc : !buffer
      %g = tile.get %sums[%s, %p] : !sums
      %sum = tile.fetch %g {atom = #atom} : !pending
      tile.release %sums[%s] lanes : !sums
      %left = tile.slice %sum [0, 0] : tensor<128x32xf32, #sum> -> tensor<128x16xf32, #box>
      tile.write %left, %to : tensor<128x16xf32, #box>, !buffer
      %empty = tile.acquire %sums[%s, %p] : !sums
      %right = tile.slice %sum [0, 16] : tensor<128x32xf32, #sum> -> tensor<128x16xf32, #box>
      tile.write %right, %to : tensor<128x16xf32, #box>, !buffer
    }
  }
  tile.return
}

tile.kernel @read(%s: i32, %p: i32) {
  %sums = tile.channel full = 1 empty = 4 : !sums
  tile.warp_groups(%sums, %s, %p : !sums, i32, i32) {
    role #tile.role<"mma", warps = 4> {
      %to = tile.alloc : !buffer
      %g = tile.get %sums[%s, %p] : !sums
      %sum = tile.fetch %g {atom = #atom} : !pending
      tile.release %sums[%s] lanes : !sums
      %from = tile.alloc : !tile.buffer<128x32xf32>
      %more = tile.read %from : !tile.buffer<128x32xf32> -> tensor<128x32xf32, #sum>
      tile.print "sum" (%sum) : tensor<128x32xf32, #sum>
      %left = tile.slice %more [0, 0] : tensor<128x32xf32, #sum> -> tensor<128x16xf32, #box>
      tile.write %left, %to : tensor<128x16xf32, #box>, !buffer
    }
  }
  tile.return
}

// A box that other threads have than the sum's is made by way of shared memory.
// CHECK-LABEL: tile.kernel @moved
// CHECK-NOT: tile.fetched
#moved = #tile.layout<register = [[0,1],[0,2],[64,0],[32,0]], lane = [[0,4],[0,8],[1,0],[2,0],[4,0]], warp = [[8,0],[16,0]]>
tile.kernel @moved(%s: i32, %p: i32) {
  %sums = tile.channel full = 1 empty = 4 : !sums
  tile.warp_groups(%sums, %s, %p : !sums, i32, i32) {
    role #tile.role<"mma", warps = 4> {
      %to = tile.alloc : !buffer
      %g = tile.get %sums[%s, %p] : !sums
      %sum = tile.fetch %g {atom = #atom} : !pending
      tile.release %sums[%s] lanes : !sums
      %left = tile.slice %sum [0, 0] : tensor<128x32xf32, #sum> -> tensor<128x16xf32, #moved>
      tile.write %left, %to : tensor<128x16xf32, #moved>, !buffer
    }
  }
  tile.return
}
