// A role that reads its own ring fills it two trips ahead, without a second group that lags: a trip
// waits for its own puts, all meet, and the slot that the trip before has read is filled again.
// RUN: tile-opt %s --tile-realise-rings --tile-decide-hand-overs --tile-realise-hand-overs --tile-realise-warp-groups --tile-complete-stages \
// RUN:   --tile-realise-stages --tile-realise-slots --tile-check-protocol | FileCheck %s

#opa = #tile.layout<register = [[0,1],[8,0],[0,8]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = []>
!view = !tile.view<?x?xbf16, strides [?, 1]>
!buffer = !tile.buffer<16x16xbf16>
module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
// CHECK-LABEL: tile.kernel @sum
// CHECK: %[[RING:.*]] = tile.channel full = 1 empty = 1 : !tile.channel<3, own, !tile.buffer<16x16xbf16>>
tile.kernel @sum(%a: !view {tile.facts = #tile.facts<pointer = 16, strides = [16, 2]>}, %o: !view)
    attributes {tile.roles = [#tile.role<"all", warps = 1>]} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %k = tile.dim %a, 1 : !view
  %zero = arith.constant dense<0.0> : tensor<16x16xbf16, #opa>
  // Two puts before the loop, each if there is such a trip, and the slot of the next one.
  // CHECK: scf.if
  // CHECK: tile.put %[[RING]][%c0_i32{{.*}}, %{{.*}}] bytes = 0
  // CHECK: tile.copy_in %{{.*}}[%{{.*}}, %{{.*}}], %{{.*}} {atom = #nvptx.cp_async<16>}
  // CHECK: %[[NEXT:.*]], %{{.*}} = tile.advance
  // CHECK: scf.if
  // CHECK: tile.put %[[RING]][
  // CHECK-NOT: tile.wait_puts
  // A trip: one put is under way when its own has arrived. Slots to fill and to read go round.
  // CHECK: %[[LOOP:.*]]:3 = scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %[[FILL:.*]] = %{{.*}}, %[[READ:.*]] = %c0_i32{{.*}}) -> (tensor<16x16xbf16, #{{.*}}>, i32, i32)
  // CHECK: tile.wait_puts in_flight = 1
  // CHECK-NEXT: tile.barrier
  // CHECK: tile.put %[[RING]][%[[FILL]],
  // CHECK: %[[B:.*]] = tile.get %[[RING]][%[[READ]],
  // CHECK-NEXT: tile.read %[[B]] {atom = #nvptx.ldmatrix<4, 16>}
  // CHECK-NEXT: tile.release %[[RING]][%[[READ]]]
  // CHECK-NEXT: arith.addf
  // CHECK: tile.advance %[[FILL]],
  // CHECK: tile.advance %[[READ]],
  // CHECK: scf.yield
  // Two trips that do not put, if they are there; all but the last may have one behind them.
  // CHECK-NOT: tile.put
  // CHECK: scf.if
  // CHECK: tile.wait_puts in_flight = 1
  // CHECK-NEXT: } else {
  // CHECK-NEXT: tile.wait_puts in_flight = 0
  // CHECK-NEXT: }
  // CHECK-NEXT: tile.barrier
  // CHECK: scf.if
  // CHECK-NEXT: tile.wait_puts in_flight = 0
  // CHECK-NEXT: tile.barrier
  // CHECK-NOT: tile.wait_puts
  // CHECK: tile.store
  %sum = scf.for %kk = %c0 to %k step %c16 iter_args(%s = %zero) -> tensor<16x16xbf16, #opa> {
    %t = tile.load %a[%c0, %kk]
        {atom = #nvptx.cp_async<16>, buffer = !buffer, read_atom = #nvptx.ldmatrix<4, 16>, stage = 0, role = "all"}
       : !view -> tensor<16x16xbf16, #opa>
    %d = arith.addf %s, %t {tile.stage = 2, tile.role = "all"} : tensor<16x16xbf16, #opa>
    scf.yield %d : tensor<16x16xbf16, #opa>
  } {tile.depth = 3}
  tile.store %sum, %o[%c0, %c0] {role = "all"} : tensor<16x16xbf16, #opa>, !view
  tile.return
}
}
