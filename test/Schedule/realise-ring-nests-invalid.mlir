// What a role writes to a slot a trip late comes behind a loop in which it waits for slots.
// RUN: tile-opt %s --tile-check-schedule --verify-diagnostics

#t = #tile.layout<register = [[0,1],[8,0],[0,8]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = []>
!view = !tile.view<?x?xbf16, strides [?, 1]>
!buffer = !tile.buffer<16x16xbf16>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @late(%a: !view, %o: !view, %n: index)
    attributes {tile.roles = [#tile.role<"load", warps = 1>, #tile.role<"all", warps = 1>]} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : tensor<16x16xbf16, #t>
  %sum = scf.for %i = %c0 to %n step %c16 iter_args(%s = %zero) -> tensor<16x16xbf16, #t> {
    // expected-error @below {{expected a 'tile.write_stage' of at most 0, the stage of a loop of the trip in which role "load" uses rings, got 1}}
    %x = tile.load %a[%c0, %i] {atom = #tile.through_registers, buffer = !buffer, ring = "x", depth = 2, stage = 0, tile.write_stage = 1, role = "load"}
       : !view -> tensor<16x16xbf16, #t>
    // expected-note @below {{the loop}}
    %more = scf.for %j = %c0 to %n step %c16 iter_args(%r = %s) -> tensor<16x16xbf16, #t> {
      %y = tile.load %a[%j, %i] {atom = #tile.through_registers, buffer = !buffer, ring = "y", depth = 3, role = "load"}
         : !view -> tensor<16x16xbf16, #t>
      %p = arith.mulf %x, %y {tile.role = "all"} : tensor<16x16xbf16, #t>
      %d = arith.addf %r, %p {tile.role = "all"} : tensor<16x16xbf16, #t>
      scf.yield %d : tensor<16x16xbf16, #t>
    }
    scf.yield %more : tensor<16x16xbf16, #t>
  }
  tile.store %sum, %o[%c0, %c0] {role = "all"} : tensor<16x16xbf16, #t>, !view
  tile.return
}
}

