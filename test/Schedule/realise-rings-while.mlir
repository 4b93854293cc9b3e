// A loop whose trips nobody counts says how many slots its rings have.
// RUN: tile-opt %s --tile-rotate-loops --tile-realise-rings --tile-decide-hand-overs --tile-realise-hand-overs -split-input-file -verify-diagnostics | FileCheck %s

!view = !tile.view<?x?xf16>
#rows = #tile.layout<offset = [[0,1],[0,2],[0,4],[0,8],[0,16],[1,0],[2,8],[4,16],[8,0],[16,0]]>
!tile_ = !tile.buffer<32x32xf16, #rows>
!t = tensor<32x32xf16>
!sums = tensor<32x32xf32>
#roles = [#tile.role<"load", warps = 1>, #tile.role<"mma", warps = 4>]

// CHECK-LABEL: tile.kernel @deep
// CHECK: tile.channel full = 1 empty = 4 : !tile.channel<3, !tile.buffer<32x32xf16
// CHECK: scf.while
// CHECK: tile.put
// CHECK: tile.get
// CHECK-NOT: tile.depth
// CHECK: tile.return
tile.kernel @deep(%a: !view, %first: index) attributes {tile.roles = #roles} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : !sums
  %sum:2 = scf.while (%i = %first, %s = %zero) : (index, !sums) -> (index, !sums) {
    %goes = arith.cmpi ugt, %i, %c0 : index
    scf.condition(%goes) %i, %s : index, !sums
  } do {
  ^bb0(%i: index, %s: !sums):
    %x = tile.load %a[%c0, %i] {atom = #nvptx.tma, buffer = !tile_, role = "load"} : !view -> !t
    %d = tile.dot %x, %x, %s transpose_b {atom = #nvptx.wgmma<"m64n64k16", f16, f32>, role = "mma", in_flight = 0}
       : !t, !t -> !sums
    %next = arith.shrui %i, %c1 : index
    scf.yield %next, %d : index, !sums
  } attributes {tile.depth = 3}
  %t = arith.truncf %sum#1 : !sums to !t
  tile.store %t, %a[%c0, %c0] {role = "mma"} : !t, !view
  tile.return
}

// -----

!view = !tile.view<?xf16>
tile.kernel @bare(%a: !view, %first: index) attributes {tile.roles = [#tile.role<"mma", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error@+1 {{expected loads with 'atom' or 'buffer' in a loop with 'tile.depth', or tensors that one role makes and another uses}}
  %end = scf.while (%i = %first) : (index) -> index {
    %goes = arith.cmpi ugt, %i, %c0 : index
    scf.condition(%goes) %i : index
  } do {
  ^bb0(%i: index):
    %x = tile.load %a[%i] {role = "mma"} : !view -> tensor<32xf16>
    tile.store %x, %a[%c0] {role = "mma"} : tensor<32xf16>, !view
    %next = arith.shrui %i, %c1 : index
    scf.yield %next : index
  } attributes {tile.depth = 3}
  tile.return
}
