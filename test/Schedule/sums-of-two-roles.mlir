// A sum in tensor memory that its own role uses as well as another goes to both through one slot, which
// the warps of both give back.
// RUN: tile-opt %s --tile-realise-rings --tile-decide-hand-overs --tile-realise-hand-overs | FileCheck %s

// CHECK-LABEL: tile.kernel @both
// CHECK: %[[SUMS:.*]] = tile.channel full = 1 empty = 8 {{.*}}: !tile.channel<2, !tile.pending<tensor<128x32xf32
// CHECK: %[[D:.*]] = tile.dot
// CHECK: %[[S:.*]], %[[P:.*]] = tile.next %[[SUMS]] {role = "mma"}
// CHECK: tile.pend %[[D]]
// CHECK: tile.commit %{{.*}} into %[[SUMS]][%[[S]]] {role = "mma"}
// CHECK: %[[FULL:.*]] = tile.get %[[SUMS]][%[[S]], %[[P]]] {role = "mma"}
// CHECK: %[[OWN:.*]] = tile.fetch %[[FULL]] {{.*}}role = "mma"
// CHECK: tile.next %[[SUMS]] {role = "use"}
// CHECK: %[[OTHER:.*]] = tile.fetch {{.*}}role = "use"
// CHECK: tile.store %[[OTHER]], {{.*}}role = "use"
// CHECK: tile.store %[[OWN]], {{.*}}role = "mma"
#sum = #tile.layout<register = [[0,1],[0,2],[0,4],[0,8],[0,16]], lane = [[1,0],[2,0],[4,0],[8,0],[16,0]], warp = [[32,0],[64,0]]>
!view = !tile.view<?x?xf16>
!t = tensor<128x32xf32, #sum>
module attributes {tile.target = #nvptx.target<chip = "sm_100a">} {
tile.kernel @both(%a: !view, %b: !tile.view<?x?xf32>)
    attributes {tile.roles = [#tile.role<"load", warps = 4>, #tile.role<"mma", warps = 4>, #tile.role<"use", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : !t
  %x = tile.load %a[%c0, %c0] {atom = #nvptx.tma, buffer = !tile.buffer<128x32xf16>, role = "load"} : !view -> tensor<128x32xf16>
  %y = tile.load %a[%c0, %c0] {atom = #nvptx.tma, buffer = !tile.buffer<32x32xf16>, role = "load"} : !view -> tensor<32x32xf16>
  %d = tile.dot %x, %y, %zero {atom = #nvptx.tcgen05<"m128n32k16", f16, f32>, role = "mma", in_flight = 1} : tensor<128x32xf16>, tensor<32x32xf16> -> !t
  tile.store %d, %b[%c0, %c0] {role = "use"} : !t, !tile.view<?x?xf32>
  tile.store %d, %b[%c0, %c0] {role = "mma"} : !t, !tile.view<?x?xf32>
  tile.return
}
}
