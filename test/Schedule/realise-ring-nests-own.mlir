// A ring of a role's own that a loop of the trip uses too goes round by as many uses as that has: all meet behind what
// the trip before has read last, in front of what fills a slot again.
// RUN: tile-opt %s --tile-realise-rings --tile-decide-hand-overs --tile-realise-hand-overs \
// RUN:   --tile-realise-warp-groups --tile-complete-stages --tile-realise-stages \
// RUN:   --tile-realise-slots --tile-realise-fences --tile-realise-threads --tile-check-protocol | FileCheck %s

// CHECK-LABEL: tile.kernel @held
// CHECK: scf.for
// CHECK-NEXT: tile.load %a
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: tile.put
#l = #tile.layout<register = [[1,0],[2,0]], lane = [[0,1],[0,2],[0,4],[0,8],[4,0]], warp = [[8,0]]>
!view = !tile.view<?x?xf32, strides [?, 1]>
!buffer = !tile.buffer<16x16xf32>
!t = tensor<16x16xf32, #l>
module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
tile.kernel @held(%a: !view, %b: !view, %o: !view, %n: index, %m: index) attributes {tile.roles = [#tile.role<"all", warps = 2>]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : !t
  %sum = scf.for %i = %c0 to %n step %c16 iter_args(%s = %zero) -> !t {
    %x = tile.load %a[%c0, %i] {atom = #tile.through_registers, buffer = !buffer, ring = "all", depth = 3, role = "all"} : !view -> !t
    %inner = scf.for %g = %c0 to %m step %c1 iter_args(%p = %s) -> !t {
      %y = tile.load %b[%g, %i] {atom = #tile.through_registers, buffer = !buffer, ring = "all", depth = 3, role = "all"} : !view -> !t
      %d = arith.mulf %x, %y {tile.role = "all"} : !t
      %q = arith.addf %p, %d {tile.role = "all"} : !t
      scf.yield %q : !t
    }
    scf.yield %inner : !t
  }
  tile.store %sum, %o[%c0, %c0] {role = "all"} : !t, !view
  tile.return
}
}
