// Rings in loops in sequence and in loops in loops.
// RUN: tile-opt %s --split-input-file --tile-realise-rings --tile-decide-hand-overs --tile-realise-hand-overs \
// RUN:   --tile-realise-warp-groups --tile-complete-stages --tile-realise-stages \
// RUN:   --tile-realise-slots --tile-realise-fences --tile-realise-threads --tile-check-protocol | FileCheck %s

// Slots that are constants begin anew with the second loop: all meet in front of it, since some may
// read the slots still. Nothing is in front of the first.
// CHECK-LABEL: tile.kernel @sequence
// CHECK-NOT: tile.barrier
// CHECK: tile.put
// CHECK-COUNT-4: tile.get
// CHECK-NOT: tile.put
// CHECK: tile.barrier
// CHECK-NOT: tile.get
// CHECK: tile.put
// CHECK-COUNT-4: tile.get
#opa = #tile.layout<register = [[0,1],[0,2]], lane = [[1,0],[2,0],[4,0],[8,0],[0,4],[0,8]], warp = []>
!view = !tile.view<?x?xbf16, strides [?, 1]>
!buffer = !tile.buffer<16x16xbf16>
module attributes {tile.target = #amdgcn.target<chip = "gfx942">} {
tile.kernel @sequence(%a: !view, %o: !view)
    attributes {tile.roles = [#tile.role<"all", warps = 1>]} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %k = tile.dim %a, 1 : !view
  %zero = arith.constant dense<0.0> : tensor<16x16xbf16, #opa>
  %first = scf.for %kk = %c0 to %k step %c16 iter_args(%s = %zero) -> tensor<16x16xbf16, #opa> {
    %t = tile.load %a[%c0, %kk] {atom = #tile.through_registers, buffer = !buffer, ring = "x", depth = 2, stage = 0, role = "all"}
       : !view -> tensor<16x16xbf16, #opa>
    %d = arith.addf %s, %t {tile.stage = 1, tile.role = "all"} : tensor<16x16xbf16, #opa>
    scf.yield %d : tensor<16x16xbf16, #opa>
  }
  %second = scf.for %kk = %c0 to %k step %c16 iter_args(%s = %first) -> tensor<16x16xbf16, #opa> {
    %t = tile.load %a[%c16, %kk] {atom = #tile.through_registers, buffer = !buffer, ring = "x", depth = 2, stage = 0, role = "all"}
       : !view -> tensor<16x16xbf16, #opa>
    %d = arith.addf %s, %t {tile.stage = 1, tile.role = "all"} : tensor<16x16xbf16, #opa>
    scf.yield %d : tensor<16x16xbf16, #opa>
  }
  tile.store %second, %o[%c0, %c0] {role = "all"} : tensor<16x16xbf16, #opa>, !view
  tile.return
}
}

// -----

// The role that loads writes a tile in front of the loop whose tiles it is used with: in that loop
// it waits for slots, which nobody gives back who has no such tile.
// CHECK-LABEL: tile.kernel @handed
// CHECK: %[[X:.*]] = tile.channel {{.*}} : !tile.channel<2, !tile.buffer<16x16xbf16>>
// CHECK: %[[Y:.*]] = tile.channel {{.*}} : !tile.channel<3, !tile.buffer<16x16xbf16>>
// CHECK: "load"
// CHECK: scf.for
// CHECK: tile.load
// CHECK: tile.put %[[X:[a-z0-9]+]][
// CHECK: tile.write
// CHECK: scf.for
// CHECK: tile.load
// CHECK: tile.put %[[Y:[a-z0-9]+]][
// CHECK: tile.write
// CHECK-NOT: tile.put
// CHECK: "all"
// CHECK: tile.get %[[X]][
// CHECK: scf.for
// CHECK: tile.get %[[Y]][
#t = #tile.layout<register = [[0,1],[8,0],[0,8]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = []>
!view = !tile.view<?x?xbf16, strides [?, 1]>
!buffer = !tile.buffer<16x16xbf16>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @handed(%a: !view, %o: !view, %n: index)
    attributes {tile.roles = [#tile.role<"load", warps = 1>, #tile.role<"all", warps = 1>]} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : tensor<16x16xbf16, #t>
  %sum = scf.for %i = %c0 to %n step %c16 iter_args(%s = %zero) -> tensor<16x16xbf16, #t> {
    %x = tile.load %a[%c0, %i] {atom = #tile.through_registers, buffer = !buffer, ring = "x", depth = 2, role = "load"}
       : !view -> tensor<16x16xbf16, #t>
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

// -----

// What a loop in a trip waits for leaves the outer ring as it is: its put, a trip ahead, stands
// in front of the inner loop, which has waits and barriers of its own.
// CHECK-LABEL: tile.kernel @nest
// CHECK: %[[X:.*]] = tile.channel {{.*}} : !tile.channel<2, own,
// CHECK: %[[Y:.*]] = tile.channel {{.*}} : !tile.channel<3, own,
// CHECK: scf.for
// CHECK: tile.wait_puts in_flight = 0
// CHECK-NEXT: tile.barrier
// CHECK: tile.put %[[X:[a-z0-9]+]][
// CHECK: tile.get %[[X]][
// CHECK: tile.put %[[Y:[a-z0-9]+]][
// CHECK: scf.for
// CHECK: tile.wait_puts in_flight = 1
// CHECK-NEXT: tile.barrier
// CHECK: tile.get %[[Y]][
#t = #tile.layout<register = [[0,1],[8,0],[0,8]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = []>
!view = !tile.view<?x?xbf16, strides [?, 1]>
!buffer = !tile.buffer<16x16xbf16>
module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
tile.kernel @nest(%a: !view {tile.facts = #tile.facts<pointer = 16, strides = [16, 2]>}, %o: !view, %n: index)
    attributes {tile.roles = [#tile.role<"all", warps = 1>]} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : tensor<16x16xbf16, #t>
  %sum = scf.for %i = %c0 to %n step %c16 iter_args(%s = %zero) -> tensor<16x16xbf16, #t> {
    %x = tile.load %a[%c0, %i] {atom = #nvptx.cp_async<16>, buffer = !buffer, ring = "x", depth = 2, role = "all"}
       : !view -> tensor<16x16xbf16, #t>
    %more = scf.for %j = %c0 to %n step %c16 iter_args(%r = %s) -> tensor<16x16xbf16, #t> {
      %y = tile.load %a[%j, %i] {atom = #nvptx.cp_async<16>, buffer = !buffer, ring = "y", depth = 3, role = "all"}
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
