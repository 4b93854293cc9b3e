// A role that brings a tile through registers and takes what another makes of it in the same trip
// writes the tile before it waits for that.
// RUN: tile-opt %s --split-input-file --tile-decide-stages --tile-check-schedule --tile-realise-rings \
// RUN:   --tile-decide-hand-overs --tile-realise-hand-overs --tile-realise-warp-groups --tile-complete-stages \
// RUN:   --tile-realise-stages --tile-realise-slots --tile-realise-fences --tile-realise-threads --tile-check-protocol | FileCheck %s

#t = #tile.layout<register = [[0,1],[8,0],[0,8]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = []>
!view = !tile.view<?x?xbf16, strides [?, 1]>
!buffer = !tile.buffer<16x16xbf16>
#roles = [#tile.role<"load", warps = 1>, #tile.role<"use", warps = 1>]
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
// CHECK-LABEL: tile.kernel @stores
// CHECK: role #tile.role<"load"
// CHECK: scf.for
// CHECK: tile.load
// CHECK: tile.put
// CHECK: tile.write
// CHECK: tile.get
// CHECK: tile.store
// CHECK: role #tile.role<"use"
tile.kernel @stores(%a: !view, %o: !view, %n: index) attributes {tile.roles = #roles} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  scf.for %i = %c0 to %n step %c16 {
    %x = tile.load %a[%c0, %i] {atom = #tile.through_registers, buffer = !buffer, depth = 2, role = "load"}
       : !view -> tensor<16x16xbf16, #t>
    %y = arith.addf %x, %x {tile.role = "use"} : tensor<16x16xbf16, #t>
    tile.store %y, %o[%c0, %i] {role = "load"} : tensor<16x16xbf16, #t>, !view
  }
  tile.return
}
}

// -----

#t = #tile.layout<register = [[0,1],[8,0],[0,8]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = []>
!view = !tile.view<?x?xbf16, strides [?, 1]>
!buffer = !tile.buffer<16x16xbf16>
#roles = [#tile.role<"load", warps = 1>, #tile.role<"use", warps = 1>]
module attributes {tile.target = #amdgcn.target<chip = "gfx942">} {
// What both make, and of no role itself, is computed by who uses it: in the trip of its operands,
// though it is stored a trip later.
// CHECK-LABEL: tile.kernel @mixes
// CHECK: role #tile.role<"load"
// CHECK: scf.for
// CHECK: tile.load
// CHECK: tile.put
// CHECK: tile.write
// CHECK: tile.get
// CHECK: arith.addf
// CHECK: role #tile.role<"use"
tile.kernel @mixes(%a: !view, %o: !view {tile.facts = #tile.facts<noalias>}, %n: index) attributes {tile.roles = #roles} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  scf.for %i = %c0 to %n step %c16 {
    %x = tile.load %a[%c0, %i] {atom = #tile.through_registers, buffer = !buffer, depth = 2, role = "load"}
       : !view -> tensor<16x16xbf16, #t>
    %y = arith.addf %x, %x {tile.role = "use"} : tensor<16x16xbf16, #t>
    %z = tile.load %a[%c16, %i] {role = "load"} : !view -> tensor<16x16xbf16, #t>
    %s = arith.addf %y, %z : tensor<16x16xbf16, #t>
    tile.store %s, %o[%c0, %i] {role = "load", stage = 1} : tensor<16x16xbf16, #t>, !view
  }
  tile.return
}
}

// -----

#t = #tile.layout<register = [[0,1],[8,0],[0,8]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = []>
!view = !tile.view<?x?xbf16, strides [?, 1]>
!buffer = !tile.buffer<16x16xbf16>
#roles = [#tile.role<"load", warps = 1>, #tile.role<"use", warps = 1>]
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
// So it does in front of what an engine stores for it.
// CHECK-LABEL: tile.kernel @engine
// CHECK: role #tile.role<"load"
// CHECK: scf.for
// CHECK: tile.load
// CHECK: tile.put
// CHECK: tile.write
// CHECK: tile.get
// CHECK: tile.copy_out
// CHECK: role #tile.role<"use"
tile.kernel @engine(%a: !view, %o: !view, %n: index) attributes {tile.roles = #roles} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  scf.for %i = %c0 to %n step %c16 {
    %x = tile.load %a[%c0, %i] {atom = #tile.through_registers, buffer = !buffer, depth = 2, role = "load"}
       : !view -> tensor<16x16xbf16, #t>
    %y = arith.addf %x, %x {tile.role = "use"} : tensor<16x16xbf16, #t>
    tile.store %y, %o[%c0, %i] {atom = #nvptx.tma, buffer = !buffer, in_flight = 0, role = "load"} : tensor<16x16xbf16, #t>, !view
  }
  tile.return
}
}

// -----

#t = #tile.layout<register = [[0,1],[8,0],[0,8]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = []>
!view = !tile.view<?x?xbf16, strides [?, 1]>
!buffer = !tile.buffer<16x16xbf16>
#roles = [#tile.role<"load", warps = 1>, #tile.role<"use", warps = 1>]
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
// So it does in front of a condition of its own that chooses what the other makes.
// CHECK-LABEL: tile.kernel @chooses
// CHECK: role #tile.role<"load"
// CHECK: scf.for
// CHECK: tile.load
// CHECK: tile.put
// CHECK: scf.if
// CHECK: tile.get
// CHECK: role #tile.role<"use"
tile.kernel @chooses(%a: !view, %o: !view, %n: index) attributes {tile.roles = #roles} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : tensor<16x16xbf16, #t>
  %r = scf.for %i = %c0 to %n step %c16 iter_args(%s = %zero) -> tensor<16x16xbf16, #t> {
    %x = tile.load %a[%c0, %i] {atom = #tile.through_registers, buffer = !buffer, depth = 2, role = "load"}
       : !view -> tensor<16x16xbf16, #t>
    %odd = arith.remsi %i, %c16 : index
    %is = arith.cmpi eq, %odd, %c0 : index
    %c = scf.if %is -> tensor<16x16xbf16, #t> {
      %y = arith.addf %x, %x {tile.role = "use"} : tensor<16x16xbf16, #t>
      scf.yield %y : tensor<16x16xbf16, #t>
    } else {
      scf.yield %s : tensor<16x16xbf16, #t>
    } {tile.role = "load"}
    scf.yield %c : tensor<16x16xbf16, #t>
  }
  tile.store %r, %o[%c0, %c0] {role = "load"} : tensor<16x16xbf16, #t>, !view
  tile.return
}
}

// -----

#t = #tile.layout<register = [[0,1],[8,0],[0,8]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = []>
!view = !tile.view<?x?xbf16, strides [?, 1]>
!buffer = !tile.buffer<16x16xbf16>
#facts = #tile.facts<noalias>
#roles = [#tile.role<"load", warps = 1>, #tile.role<"use", warps = 1>]
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
// Where orders are said, what waits comes a place later for that.
// CHECK-LABEL: tile.kernel @ordered
// CHECK: role #tile.role<"load"
// CHECK: scf.for
// CHECK: tile.load
// CHECK: tile.put
// CHECK: tile.get
// CHECK: tile.store
// CHECK: role #tile.role<"use"
tile.kernel @ordered(%a: !view {tile.facts = #facts}, %o: !view {tile.facts = #facts}, %n: index) attributes {tile.roles = #roles} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  scf.for %i = %c0 to %n step %c16 {
    %x = tile.load %a[%c0, %i] {atom = #tile.through_registers, buffer = !buffer, depth = 2, order = 0, role = "load"}
       : !view -> tensor<16x16xbf16, #t>
    %y = arith.addf %x, %x {tile.role = "use"} : tensor<16x16xbf16, #t>
    tile.store %y, %o[%c0, %i] {role = "load"} : tensor<16x16xbf16, #t>, !view
  }
  tile.return
}
}
