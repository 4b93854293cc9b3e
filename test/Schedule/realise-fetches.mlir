// Sums are fetched as they are stored, a box of columns at a time, where that is decided.
// RUN: tile-opt %s --tile-realise-fetches | FileCheck %s

#sum = #tile.layout<register = [[0,1],[0,2],[0,4],[0,8],[0,16]], lane = [[1,0],[2,0],[4,0],[8,0],[16,0]], warp = [[32,0],[64,0]]>
#box = #tile.layout<register = [[0,1],[0,2],[0,4],[0,8]], lane = [[1,0],[2,0],[4,0],[8,0],[16,0]], warp = [[32,0],[64,0]]>
!pending = !tile.pending<tensor<128x32xf32, #sum>, tensor_memory>
!sums = !tile.channel<1, !pending>
!buffer = !tile.buffer<128x16xf16>
#atom = #nvptx.tcgen05<"m128n32k16", f16, f32>

// Two sums make a tile. What is no sum is in registers whole, and its part is taken.
// CHECK-LABEL: tile.kernel @gated
// CHECK: %[[G:.*]] = tile.get %[[GATES:.*]][%{{.*}}, %{{.*}}]
// CHECK-NOT: tile.fetch
// CHECK: %[[U:.*]] = tile.get %[[UPS:.*]][%{{.*}}, %{{.*}}]
// CHECK-NOT: tile.release
// CHECK: %[[PG:.*]] = tile.part %[[G]][%{{.*}}, %{{.*}}] : !tile.pending<tensor<128x32xf32, #layout>, tensor_memory> -> !tile.pending<tensor<128x16xf32, #[[BOX:.*]]>, tensor_memory>
// CHECK-NEXT: %[[TG:.*]] = tile.fetch %[[PG]] {atom = #nvptx.tcgen05<"m128n32k16", f16, f32>}
// CHECK: %[[PU:.*]] = tile.part %[[U]]
// CHECK-NEXT: %[[TU:.*]] = tile.fetch %[[PU]]
// CHECK: %[[TWO:.*]] = arith.constant dense<2.000000e+00> : tensor<128x16xf32, #[[BOX]]>
// CHECK-NEXT: %[[M:.*]] = arith.mulf %[[TG]], %[[TWO]]
// CHECK-NEXT: %[[N:.*]] = arith.mulf %[[M]], %[[TU]]
// CHECK-NEXT: %[[C:.*]] = tile.slice %{{.*}} [0, 0]
// CHECK-NEXT: %[[S:.*]] = arith.addf %[[N]], %[[C]]
// CHECK-NEXT: %[[B:.*]] = arith.truncf %[[S]] : tensor<128x16xf32, #[[BOX]]> to tensor<128x16xf16, #[[BOX]]>
// CHECK: tile.write %[[B]]
// CHECK: arith.constant 16 : index
// CHECK: tile.fetch
// CHECK: tile.fetch
// CHECK-DAG: tile.release %[[GATES]]
// CHECK-DAG: tile.release %[[UPS]]
// CHECK: tile.slice %{{.*}} [0, 16]
// CHECK: tile.write
tile.kernel @gated(%s: i32, %p: i32) {
  %gates = tile.channel full = 1 empty = 4 : !sums
  %ups = tile.channel full = 1 empty = 4 : !sums
  tile.warp_groups(%gates, %ups, %s, %p : !sums, !sums, i32, i32) {
    role #tile.role<"mma", warps = 4> {
      %from = tile.alloc : !tile.buffer<128x32xf32>
      %more = tile.read %from : !tile.buffer<128x32xf32> -> tensor<128x32xf32, #sum>
      %to = tile.alloc : !buffer
      %two = arith.constant dense<2.0> : tensor<128x32xf32, #sum>
      %g = tile.get %gates[%s, %p] : !sums
      %gate = tile.fetch %g {atom = #atom} : !pending
      tile.release %gates[%s] lanes : !sums
      %u = tile.get %ups[%s, %p] : !sums
      %up = tile.fetch %u {atom = #atom} : !pending
      tile.release %ups[%s] lanes : !sums
      %twice = arith.mulf %gate, %two : tensor<128x32xf32, #sum>
      %both = arith.mulf %twice, %up : tensor<128x32xf32, #sum>
      %all = arith.addf %both, %more : tensor<128x32xf32, #sum>
      %half = arith.truncf %all : tensor<128x32xf32, #sum> to tensor<128x32xf16, #sum>
      %left = tile.slice %half [0, 0] {tile.fetched = "boxes"} : tensor<128x32xf16, #sum> -> tensor<128x16xf16, #box>
      tile.write %left, %to : tensor<128x16xf16, #box>, !buffer
      tile.barrier
      %right = tile.slice %half [0, 16] {tile.fetched = "boxes"} : tensor<128x32xf16, #sum> -> tensor<128x16xf16, #box>
      tile.write %right, %to : tensor<128x16xf16, #box>, !buffer
    }
  }
  tile.return
}

// Nobody has decided it, or that it is fetched whole.
// CHECK-LABEL: tile.kernel @whole
// CHECK-NOT: tile.part
// CHECK-NOT: tile.fetched
tile.kernel @whole(%s: i32, %p: i32) {
  %gates = tile.channel full = 1 empty = 4 : !sums
  tile.warp_groups(%gates, %s, %p : !sums, i32, i32) {
    role #tile.role<"mma", warps = 4> {
      %to = tile.alloc : !tile.buffer<128x16xf32>
      %g = tile.get %gates[%s, %p] : !sums
      %gate = tile.fetch %g {atom = #atom} : !pending
      tile.release %gates[%s] lanes : !sums
      %left = tile.slice %gate [0, 0] : tensor<128x32xf32, #sum> -> tensor<128x16xf32, #box>
      tile.write %left, %to : tensor<128x16xf32, #box>, !tile.buffer<128x16xf32>
      %h = tile.get %gates[%s, %p] : !sums
      %again = tile.fetch %h {atom = #atom} : !pending
      tile.release %gates[%s] lanes : !sums
      %right = tile.slice %again [0, 16] {tile.fetched = "whole"} : tensor<128x32xf32, #sum> -> tensor<128x16xf32, #box>
      tile.write %right, %to : tensor<128x16xf32, #box>, !tile.buffer<128x16xf32>
    }
  }
  tile.return
}

// Two sums one behind the other in one slot: the first must be released in front of the second.
// CHECK-LABEL: tile.kernel @same
// CHECK: role #tile.role<"mma"
// CHECK: %[[GATE:.*]] = tile.fetch {{.*}}tensor<128x32xf32
// CHECK-NEXT: tile.release
// CHECK: tile.get
// CHECK: tile.fetch {{.*}}tensor<128x16xf32
// CHECK: tile.slice %[[GATE]] [0, 0]
// CHECK: tile.fetch {{.*}}tensor<128x16xf32
// CHECK-NEXT: tile.release
tile.kernel @same() {
  %gates = tile.channel full = 1 empty = 4 : !sums
  tile.warp_groups(%gates : !sums) {
    role #tile.role<"dots", warps = 1> {
      %no = arith.constant false
      %x = tile.alloc : !tile.buffer<128x32xf16>
      %y = tile.alloc : !tile.buffer<32x32xf16>
      %s1, %p1 = tile.next %gates : !sums
      %e1 = tile.acquire %gates[%s1, %p1] : !sums
      %d1 = tile.start_dot %x, %y, %e1 when %no transpose_b {atom = #atom} : !tile.buffer<128x32xf16>, !tile.buffer<32x32xf16> -> !pending
      tile.commit %d1 into %gates[%s1] : !sums
      %s2, %p2 = tile.next %gates : !sums
      %e2 = tile.acquire %gates[%s2, %p2] : !sums
      %d2 = tile.start_dot %x, %y, %e2 when %no transpose_b {atom = #atom} : !tile.buffer<128x32xf16>, !tile.buffer<32x32xf16> -> !pending
      tile.commit %d2 into %gates[%s2] : !sums
    }
    role #tile.role<"mma", warps = 4> {
      %to = tile.alloc : !tile.buffer<128x16xf32>
      %s1, %p1 = tile.next %gates : !sums
      %g = tile.get %gates[%s1, %p1] : !sums
      %gate = tile.fetch %g {atom = #atom} : !pending
      tile.release %gates[%s1] lanes : !sums
      %s2, %p2 = tile.next %gates : !sums
      %u = tile.get %gates[%s2, %p2] : !sums
      %up = tile.fetch %u {atom = #atom} : !pending
      tile.release %gates[%s2] lanes : !sums
      %both = arith.mulf %gate, %up : tensor<128x32xf32, #sum>
      %left = tile.slice %both [0, 0] {tile.fetched = "boxes"} : tensor<128x32xf32, #sum> -> tensor<128x16xf32, #box>
      tile.write %left, %to : tensor<128x16xf32, #box>, !tile.buffer<128x16xf32>
      tile.barrier
      %right = tile.slice %both [0, 16] {tile.fetched = "boxes"} : tensor<128x32xf32, #sum> -> tensor<128x16xf32, #box>
      tile.write %right, %to : tensor<128x16xf32, #box>, !tile.buffer<128x16xf32>
    }
  }
  tile.return
}
