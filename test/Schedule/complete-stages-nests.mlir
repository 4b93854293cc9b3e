// Beside a loop of the trip in which a role waits for another, it comes to that one's other rings in the order of the
// source, trip by trip: all at the stage of the latest.
// RUN: tile-opt %s --tile-decide-stages --tile-check-schedule --tile-realise-rings \
// RUN:   --tile-decide-hand-overs --tile-realise-hand-overs --tile-realise-warp-groups --tile-complete-stages | FileCheck %s
// RUN: tile-opt %s --tile-decide-stages --tile-check-schedule --tile-realise-rings \
// RUN:   --tile-decide-hand-overs --tile-realise-hand-overs --tile-realise-warp-groups --tile-complete-stages \
// RUN:   --tile-realise-stages --tile-realise-slots --tile-realise-fences --tile-realise-threads --tile-check-protocol

// CHECK-LABEL: tile.kernel @late
// CHECK: role #tile.role<"use"
// CHECK: tile.put %{{.*}}stage = 0 : i64
// CHECK: } {tile.order = {{.*}}, tile.stage = 1 : i64}
// CHECK: tile.get %{{.*}}stage = 1 : i64}
// CHECK: arith.addf {{.*}}tile.stage = 1 : i64}
// CHECK: role #tile.role<"load"
#t = #tile.layout<register = [[0,1],[8,0],[0,8]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = []>
!view = !tile.view<?x?xbf16, strides [?, 1]>
!buffer = !tile.buffer<16x16xbf16>
#roles = [#tile.role<"use", warps = 1>, #tile.role<"load", warps = 1>]
module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
tile.kernel @late(%a: !view, %b: !view, %o: !view, %n: index, %m: index) attributes {tile.roles = #roles} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : tensor<16x16xbf16, #t>
  %sums:2 = scf.for %i = %c0 to %n step %c16 iter_args(%s = %zero, %r = %zero) -> (tensor<16x16xbf16, #t>, tensor<16x16xbf16, #t>) {
    %x = tile.load %a[%c0, %i] {atom = #nvptx.cp_async<16>, buffer = !buffer, ring = "x", depth = 2, role = "use"} : !view -> tensor<16x16xbf16, #t>
    %inner = scf.for %g = %c0 to %m step %c1 iter_args(%p = %s) -> tensor<16x16xbf16, #t> {
      %y = tile.load %b[%g, %i] {atom = #nvptx.cp_async<16>, buffer = !buffer, ring = "y", role = "load"} : !view -> tensor<16x16xbf16, #t>
      %d = arith.mulf %x, %y {tile.role = "use"} : tensor<16x16xbf16, #t>
      %q = arith.addf %p, %d {tile.role = "use"} : tensor<16x16xbf16, #t>
      scf.yield %q : tensor<16x16xbf16, #t>
    }
    %z = tile.load %a[%c16, %i] {atom = #nvptx.cp_async<16>, buffer = !buffer, ring = "z", depth = 2, role = "load"} : !view -> tensor<16x16xbf16, #t>
    %e = arith.addf %r, %z {tile.role = "use"} : tensor<16x16xbf16, #t>
    scf.yield %inner, %e : tensor<16x16xbf16, #t>, tensor<16x16xbf16, #t>
  }
  tile.store %sums#0, %o[%c0, %c0] {role = "use"} : tensor<16x16xbf16, #t>, !view
  tile.store %sums#1, %o[%c16, %c0] {role = "use"} : tensor<16x16xbf16, #t>, !view
  tile.return
}
}
