// The last trip of the outer loop has the inner one cut as the loop has: it is about its own trips.
// RUN: tile-opt %s --tile-realise-warp-groups --tile-complete-stages --tile-realise-stages \
// RUN:   --tile-split-loops | FileCheck %s

// CHECK-LABEL: tile.kernel @inner
// CHECK-NOT: scf.if %{{.*}} -> (tensor
// CHECK: tile.return
!view = !tile.view<?xf32>
!t = tensor<128xf32>
#facts = #tile.facts<noalias>
#roles = [#tile.role<"all", warps = 4>]
tile.kernel @inner(%a: !view, %b: !view {tile.facts = #facts}, %n: index, %m: index) attributes {tile.roles = #roles} {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  scf.for %i = %c0 to %n step %c128 {
    %t = tile.load %a[%i] {stage = 0, role = "all"} : !view -> !t
    %r = scf.for %j = %c0 to %n step %c128 iter_args(%s = %t) -> (!t) {
      %late = arith.cmpi sgt, %j, %m : index
      %u = scf.if %late -> (!t) {
        %neg = arith.negf %s : !t
        scf.yield %neg : !t
      } else {
        scf.yield %s : !t
      } {tile.split_loop}
      scf.yield %u : !t
    } {tile.stage = 1, tile.role = "all"}
    tile.store %r, %b[%i] {stage = 1, role = "all"} : !t, !view
  }
  tile.return
}
