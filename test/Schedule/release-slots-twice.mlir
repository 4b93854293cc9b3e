// A slot that dots read which end by commit, and lanes, too: all wait for it, and it goes back when a commit has told of
// the dots and each warp of its own lanes.
// RUN: tile-opt %s --tile-realise-rings --tile-realise-warp-groups --tile-complete-stages --tile-realise-stages | FileCheck %s
// RUN: tile-opt %s --tile-realise-rings --tile-realise-warp-groups --tile-complete-stages --tile-realise-stages --tile-decide-columns --tile-realise-accumulators --tile-realise-slots --tile-realise-fences | FileCheck %s --check-prefix=FENCES

!view = !tile.view<?x?xf16>
!out = !tile.view<?x?xf32>
#apart = #tile.facts<noalias>
!x = !tile.buffer<128x32xf16>
#mma = #nvptx.tcgen05<"m128n128k16", f16, f32>
#roles = [#tile.role<"load", warps = 4>, #tile.role<"mma", warps = 4, copies = 2>]
#rows = #tile.layout<register = [[0,1],[0,2],[0,4],[0,8],[0,16]], lane = [[1,0],[2,0],[4,0],[8,0],[16,0]], warp = [[32,0],[64,0],[0,0]]>
#sum = #tile.layout<register = [[0,1],[0,2],[0,4],[0,8],[0,16],[0,32],[0,64]], lane = [[1,0],[2,0],[4,0],[8,0],[16,0]], warp = [[32,0],[64,0],[0,0]]>
!t = tensor<128x32xf16, #rows>
!s = tensor<128x128xf32, #sum>

// Two copies with a commit each, and eight warps.
// CHECK-LABEL: tile.kernel @loop
// CHECK: tile.channel full = 1 empty = 10 : !tile.channel<2, !tile.buffer<128x32xf16>>
// CHECK: role #tile.role<"mma"
// CHECK: scf.for
// CHECK: %[[S:.*]], %{{.*}} = tile.next %[[RING:.*]] :
// CHECK-NEXT: %[[X:.*]] = tile.get %[[RING]][%[[S]], %{{.*}}] :
// CHECK-NOT: to_start
// CHECK: tile.start_dot %[[X]], %[[X]],
// CHECK-NEXT: tile.release %[[RING]][%[[S]]] commit
// CHECK: tile.read %[[X]]
// CHECK-NEXT: tile.release %[[RING]][%[[S]]] lanes
// CHECK: tile.store
// Who starts the dots has waited for what the engine brought; an engine fills the slot behind what lanes have read.
// FENCES-LABEL: tile.kernel @loop
// FENCES: role #tile.role<"mma"
// FENCES: scf.for
// FENCES: tile.get %[[RING:.*]][%{{.*}}, %{{.*}}] :
// FENCES-NEXT: tile.fence tensor_after
// FENCES: tile.read
// FENCES-NEXT: tile.fence shared
// FENCES-NEXT: tile.release %{{.*}} lanes
tile.kernel @loop(%a: !view {tile.facts = #apart}, %b: !view, %o: !out, %n: index) attributes {tile.roles = #roles} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : !s
  %sum = scf.for %k = %c0 to %n step %c32 iter_args(%acc = %zero) -> !s {
    %x = tile.load %a[%c0, %k] {atom = #nvptx.tma, buffer = !x, role = "load"} : !view -> !t
    %d = tile.dot %x, %x, %acc transpose_b {atom = #mma, role = "mma", in_flight = 0} : !t, !t -> !s
    tile.store %x, %b[%c0, %c0] {role = "mma"} : !t, !view
    scf.yield %d : !s
  } {tile.depth = 2}
  tile.store %sum, %o[%c0, %c0] {role = "mma"} : !s, !out
  tile.return
}

// Where a later loop's products alone read the ring, its slots go back in both ways as well.
// CHECK-LABEL: tile.kernel @later
// CHECK: role #tile.role<"mma"
// CHECK: tile.get %{{.*}} :
// CHECK: tile.read
// CHECK-NEXT: tile.release %{{.*}} lanes
// CHECK: tile.get %[[RING:.*]][%[[S:.*]], %{{.*}}] :
// CHECK-NEXT: tile.release %[[RING]][%[[S]]] lanes :
// CHECK: tile.start_dot
// CHECK-NEXT: tile.release %[[RING]][%[[S]]] commit
tile.kernel @later(%a: !view {tile.facts = #apart}, %b: !view, %o: !out, %n: index) attributes {tile.roles = #roles} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : !s
  %y = tile.load %a[%c0, %c0] {atom = #nvptx.tma, buffer = !x, role = "load", ring = "r"} : !view -> !t
  tile.store %y, %b[%c0, %c0] {role = "mma"} : !t, !view
  %x = tile.load %a[%c0, %c32] {atom = #nvptx.tma, buffer = !x, role = "load", ring = "r"} : !view -> !t
  %d = tile.dot %x, %x, %zero transpose_b {atom = #mma, role = "mma", in_flight = 0} : !t, !t -> !s
  tile.store %d, %o[%c0, %c0] {role = "mma"} : !s, !out
  tile.return
}
