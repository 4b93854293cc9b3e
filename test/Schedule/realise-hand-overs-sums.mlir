// What another role uses of sums in tensor memory.
// RUN: tile-opt %s --tile-realise-rings --tile-decide-hand-overs --tile-realise-hand-overs | FileCheck %s

// A sum in tensor memory stays there: one more slot than its dot says to be in flight.
// CHECK-LABEL: tile.kernel @sums
// CHECK: %[[SUMS:.*]] = tile.channel full = 1 empty = 4 : !tile.channel<3, !tile.pending<tensor<128x32xf32, #{{.*}}>, tensor_memory>>
// CHECK: tile.dot {{.*}} in_flight = 0
// CHECK: %[[S:.*]], %{{.*}} = tile.next %[[SUMS]] {role = "mma"}
// CHECK-NEXT: %[[P:.*]] = tile.pend %{{.*}} {role = "mma"}
// CHECK-NEXT: tile.commit %[[P]] into %[[SUMS]][%[[S]]] {role = "mma"}
// CHECK: tile.next %[[SUMS]] {role = "use"}
// CHECK-NEXT: %[[Q:.*]] = tile.get %[[SUMS]]{{.*}} {role = "use"}
// CHECK-NEXT: %[[T:.*]] = tile.fetch %[[Q]] {atom = #nvptx.tcgen05<"m128n32k16", f16, f32>, role = "use"}
// CHECK: tile.store %[[T]]
#of_sum = #tile.layout<register = [[0,1],[0,2],[0,4],[0,8],[0,16]], lane = [[1,0],[2,0],[4,0],[8,0],[16,0]], warp = [[32,0],[64,0]]>
#offsets = #tile.layout<offset = [[0,1],[0,2],[0,4],[0,8],[0,16],[1,0],[2,8],[4,16],[8,0],[16,0],[32,0],[64,0]]>
#few = #tile.layout<offset = [[0,1],[0,2],[0,4],[0,8],[0,16],[1,0],[2,8],[4,16],[8,0],[16,0]]>
module attributes {tile.target = #nvptx.target<chip = "sm_100a">} {
tile.kernel @sums(%a: !tile.view<?x?xf16>, %b: !tile.view<?x?xf32>)
    attributes {tile.roles = [#tile.role<"load", warps = 4>, #tile.role<"mma", warps = 4>, #tile.role<"use", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<128x32xf32, #of_sum>
  %x = tile.load %a[%c0, %c0] {atom = #nvptx.tma, buffer = !tile.buffer<128x32xf16, #offsets>, role = "load"} : !tile.view<?x?xf16> -> tensor<128x32xf16>
  %y = tile.load %a[%c0, %c0] {atom = #nvptx.tma, buffer = !tile.buffer<32x32xf16, #few>, role = "load"} : !tile.view<?x?xf16> -> tensor<32x32xf16>
  %d = tile.dot %x, %y, %zero {atom = #nvptx.tcgen05<"m128n32k16", f16, f32>, role = "mma", in_flight = 2}
     : tensor<128x32xf16>, tensor<32x32xf16> -> tensor<128x32xf32, #of_sum>
  tile.store %d, %b[%c0, %c0] {role = "use"} : tensor<128x32xf32, #of_sum>, !tile.view<?x?xf32>
  tile.return
}
}
