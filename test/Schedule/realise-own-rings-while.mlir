// A role that fills its own ring in a loop whose trips nobody counts: a trip stands where as many
// iterations as it needs are known to be there, so what is in flight is known at each place.
// RUN: tile-opt %s --split-input-file --tile-rotate-loops --tile-realise-rings --tile-decide-hand-overs --tile-realise-hand-overs \
// RUN:   --tile-realise-warp-groups --tile-complete-stages --tile-realise-stages \
// RUN:   --tile-realise-slots --tile-check-protocol | FileCheck %s

// Two copies ahead. Whoever has begun one iteration ends it, and waits for the one put that there
// is; behind the loop two have begun.
// CHECK-LABEL: tile.kernel @copied
// CHECK: scf.if
// CHECK: tile.put
// CHECK: scf.if
// CHECK: tile.put
// CHECK: scf.while
// CHECK: tile.wait_puts in_flight = 1
// CHECK-NEXT: tile.barrier
// CHECK: tile.put
// CHECK: tile.get
// CHECK: scf.yield
// CHECK-NOT: tile.put
// CHECK: tile.wait_puts in_flight = 1
// CHECK: tile.get
// CHECK: tile.wait_puts in_flight = 0
// CHECK: tile.get
// CHECK: } else {
// CHECK-NOT: tile.put
// CHECK: tile.wait_puts in_flight = 0
// CHECK: tile.get
// CHECK-NOT: tile.wait_puts
// CHECK: tile.store
#opa = #tile.layout<register = [[0,1],[8,0],[0,8]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = []>
!view = !tile.view<?x?xbf16, strides [?, 1]>
!buffer = !tile.buffer<16x16xbf16>
module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
tile.kernel @copied(%a: !view {tile.facts = #tile.facts<pointer = 16, strides = [16, 2]>}, %o: !view)
    attributes {tile.roles = [#tile.role<"all", warps = 1>]} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %k = tile.dim %a, 1 : !view
  %zero = arith.constant dense<0.0> : tensor<16x16xbf16, #opa>
  %sum:2 = scf.while (%at = %c0, %s = %zero) : (index, tensor<16x16xbf16, #opa>) -> (index, tensor<16x16xbf16, #opa>) {
    %goes = arith.cmpi slt, %at, %k : index
    scf.condition(%goes) %at, %s : index, tensor<16x16xbf16, #opa>
  } do {
  ^bb0(%at: index, %s: tensor<16x16xbf16, #opa>):
    %t = tile.load %a[%c0, %at]
        {atom = #nvptx.cp_async<16>, buffer = !buffer, read_atom = #nvptx.ldmatrix<4, 16>, stage = 0, role = "all"}
       : !view -> tensor<16x16xbf16, #opa>
    %d = arith.addf %s, %t {tile.stage = 2, tile.role = "all"} : tensor<16x16xbf16, #opa>
    %next = arith.addi %at, %c16 : index
    scf.yield %next, %d : index, tensor<16x16xbf16, #opa>
  } attributes {tile.depth = 3}
  tile.store %sum#1, %o[%c0, %c0] {role = "all"} : tensor<16x16xbf16, #opa>, !view
  tile.return
}
}

// -----

// Slots that must be known: a turn of the loop is a round of two trips, behind either of which it
// may end, in a slot of its own.
// CHECK-LABEL: tile.kernel @known
// CHECK: scf.if
// CHECK: tile.put %{{.*}}[%c0_i32{{[_0-9]*}},
// CHECK: scf.while
// CHECK: tile.barrier
// CHECK: tile.get %{{.*}}[%c0_i32{{[_0-9]*}},
// CHECK: tile.put %{{.*}}[%c1_i32{{[_0-9]*}},
// CHECK: scf.if
// CHECK: tile.get %{{.*}}[%c1_i32{{[_0-9]*}},
// CHECK: tile.put %{{.*}}[%c0_i32{{[_0-9]*}},
// CHECK: scf.if
// CHECK: ub.poison
// CHECK: scf.yield
// CHECK: } else {
// CHECK: %[[ENDS:false[_0-9]*]] = arith.constant false
// CHECK: tile.get %{{.*}}[%c0_i32{{[_0-9]*}},
// CHECK: scf.yield %{{.*}}, %{{.*}}, %[[ENDS]], %{{.*}} :
// CHECK: } else {
// CHECK: %[[ENDS:false[_0-9]*]] = arith.constant false
// CHECK: tile.get %{{.*}}[%c1_i32{{[_0-9]*}},
// CHECK: scf.yield %{{.*}}, %{{.*}}, %[[ENDS]], %{{.*}} :
// CHECK: } else {
// CHECK: tile.get %{{.*}}[%c0_i32{{[_0-9]*}},
#rows = #tile.layout<register = [[0,1],[0,2]], lane = [[0,4],[0,8],[1,0],[2,0],[4,0],[8,0]], warp = []>
!view = !tile.view<?x?xbf16, strides [?, 1]>
!buffer = !tile.buffer<16x16xbf16>
module attributes {tile.target = #amdgcn.target<chip = "gfx942">} {
tile.kernel @known(%a: !view {tile.facts = #tile.facts<pointer = 16, strides = [16, 2]>}, %o: !view)
    attributes {tile.roles = [#tile.role<"all", warps = 1>]} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %k = tile.dim %a, 1 : !view
  %zero = arith.constant dense<0.0> : tensor<16x16xbf16, #rows>
  %sum:2 = scf.while (%at = %c0, %s = %zero) : (index, tensor<16x16xbf16, #rows>) -> (index, tensor<16x16xbf16, #rows>) {
    %goes = arith.cmpi slt, %at, %k : index
    scf.condition(%goes) %at, %s : index, tensor<16x16xbf16, #rows>
  } do {
  ^bb0(%at: index, %s: tensor<16x16xbf16, #rows>):
    %t = tile.load %a[%c0, %at]
        {atom = #tile.through_registers, buffer = !buffer, stage = 0, role = "all"}
       : !view -> tensor<16x16xbf16, #rows>
    %d = arith.addf %s, %t {tile.stage = 1, tile.role = "all"} : tensor<16x16xbf16, #rows>
    %next = arith.addi %at, %c16 : index
    scf.yield %next, %d : index, tensor<16x16xbf16, #rows>
  } attributes {tile.depth = 2}
  tile.store %sum#1, %o[%c0, %c0] {role = "all"} : tensor<16x16xbf16, #rows>, !view
  tile.return
}
}
