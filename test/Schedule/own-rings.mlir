// Rings that a role fills for itself: of several depths and distances in one loop, in a loop in a
// loop, without a loop, in any order, and through registers.
// RUN: tile-opt %s --split-input-file --tile-realise-rings --tile-decide-hand-overs --tile-realise-hand-overs --tile-realise-warp-groups --tile-complete-stages \
// RUN:   --tile-realise-stages --tile-realise-slots --tile-check-protocol | FileCheck %s

!view = !tile.view<?x?xbf16>
!out = !tile.view<?x?xbf16>
!buffer = !tile.buffer<16x16xbf16>
!t = tensor<16x16xbf16>
#copy = #nvptx.cp_async<16>
module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
// Two rings: one is read three trips after it is filled, the other one trip. One barrier serves both
// gets, and the put of the deeper ring; what was put last is that of the shallow one.
// CHECK-LABEL: tile.kernel @two
// CHECK-DAG: %[[X:.*]] = tile.channel full = 4 empty = 4 : !tile.channel<4, own
// CHECK-DAG: %[[Y:.*]] = tile.channel full = 4 empty = 4 : !tile.channel<2, own
// CHECK: scf.for
// CHECK: tile.wait_puts in_flight = 0
// CHECK-NEXT: tile.barrier
// CHECK: tile.put
// CHECK: scf.yield
tile.kernel @two(%a: !view {tile.facts = #tile.facts<noalias>}, %b: !view, %o: !out) attributes {tile.roles = [#tile.role<"all", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %k = tile.dim %a, 1 : !view
  %zero = arith.constant dense<0.0> : !t
  %sum = scf.for %i = %c0 to %k step %c16 iter_args(%s = %zero) -> !t {
    %x = tile.load %a[%c0, %i] {atom = #copy, buffer = !buffer, ring = "x", depth = 4, stage = 0, role = "all"} : !view -> !t
    %y = tile.load %b[%c0, %i] {atom = #copy, buffer = !buffer, ring = "y", depth = 2, stage = 2, role = "all"} : !view -> !t
    %d = arith.addf %x, %y {tile.stage = 3, tile.role = "all"} : !t
    %e = arith.addf %s, %d {tile.stage = 3, tile.role = "all"} : !t
    scf.yield %e : !t
  }
  tile.store %sum, %o[%c0, %c0] {role = "all"} : !t, !out
  tile.return
}
}

// -----

// The second ring is read behind a put of the first: one wait and one barrier in front of both puts
// serve both gets, and part both puts from the reads of the trip before.
!view = !tile.view<?x?xbf16>
!buffer = !tile.buffer<16x16xbf16>
!t = tensor<16x16xbf16>
#copy = #nvptx.cp_async<16>
module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
// CHECK-LABEL: tile.kernel @apart
// CHECK: scf.for
// CHECK: tile.wait_puts in_flight = 0
// CHECK-NEXT: tile.barrier
// CHECK-NOT: {{tile.wait_puts|tile.barrier}}
// CHECK: tile.put
// CHECK-NOT: {{tile.wait_puts|tile.barrier}}
// CHECK: tile.put
// CHECK-NOT: {{tile.wait_puts|tile.barrier}}
// CHECK: scf.yield
tile.kernel @apart(%a: !view {tile.facts = #tile.facts<noalias>}, %b: !view, %o: !view) attributes {tile.roles = [#tile.role<"all", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %k = tile.dim %a, 1 : !view
  %zero = arith.constant dense<0.0> : !t
  %sum = scf.for %i = %c0 to %k step %c16 iter_args(%s = %zero) -> !t {
    %x = tile.load %a[%c0, %i] {atom = #copy, buffer = !buffer, ring = "x", depth = 2, stage = 0, role = "all"} : !view -> !t
    %d = arith.addf %x, %s {tile.stage = 1, tile.role = "all"} : !t
    %y = tile.load %b[%c0, %i] {atom = #copy, buffer = !buffer, ring = "y", depth = 2, stage = 0, role = "all"} : !view -> !t
    %e = arith.addf %d, %y {tile.stage = 1, tile.role = "all"} : !t
    scf.yield %e : !t
  }
  tile.store %sum, %o[%c0, %c0] {role = "all"} : !t, !view
  tile.return
}
}
