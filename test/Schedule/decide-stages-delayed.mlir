// A role hands over what it makes of a ring of its own as late as it reads that; what it loads for others it loads no
// more trips before than their ring has slots for.
// RUN: tile-opt %s --split-input-file --tile-decide-stages --tile-check-schedule | FileCheck %s
// RUN: tile-opt %s --split-input-file --tile-decide-stages --tile-check-schedule --tile-realise-rings \
// RUN:   --tile-decide-hand-overs --tile-realise-hand-overs --tile-realise-warp-groups --tile-complete-stages \
// RUN:   --tile-realise-stages --tile-realise-slots --tile-realise-fences --tile-realise-threads --tile-check-protocol
// RUN: sed 's/depth = 1, role/depth = 1, stage = 0, role/' %s > %t.said.mlir
// RUN: not tile-opt %t.said.mlir --split-input-file --tile-decide-stages --tile-check-schedule 2>&1 | FileCheck %s --check-prefix=SAID

// CHECK-LABEL: tile.kernel @one
// CHECK: tile.load %a[{{.*}}depth = 1 : i64, {{.*}}stage = 2 : i64
// CHECK: tile.load %b[{{.*}}depth = 3 : i64
// CHECK-LABEL: tile.kernel @two
// CHECK: tile.load %a[{{.*}}depth = 2 : i64, {{.*}}stage = 1 : i64
// CHECK: tile.load %b[{{.*}}depth = 3 : i64
// SAID: error: {{.*}}expected a depth of at least 3, since with fewer slots the roles wait for one another:
// SAID: note: 'tile.load' of stage 0 in role "load"
#t = #tile.layout<register = [[0,1],[8,0],[0,8]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = []>
!view = !tile.view<?x?xbf16, strides [?, 1]>
!buffer = !tile.buffer<16x16xbf16>
#facts = #tile.facts<noalias>
#roles = [#tile.role<"load", warps = 1>, #tile.role<"use", warps = 1>]
module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
tile.kernel @one(%a: !view {tile.facts = #facts}, %b: !view {tile.facts = #facts}, %o: !view {tile.facts = #facts}, %n: index) attributes {tile.roles = #roles} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  scf.for %i = %c0 to %n step %c16 {
    %x = tile.load %a[%c0, %i] {atom = #nvptx.cp_async<16>, buffer = !buffer, ring = "x", depth = 1, role = "load"} : !view -> tensor<16x16xbf16, #t>
    %w = tile.load %b[%c0, %i] {atom = #nvptx.cp_async<16>, buffer = !buffer, ring = "w", depth = 3, role = "load"} : !view -> tensor<16x16xbf16, #t>
    %u = arith.addf %w, %w {tile.role = "load"} : tensor<16x16xbf16, #t>
    %y = arith.addf %x, %u {tile.role = "use"} : tensor<16x16xbf16, #t>
    tile.store %y, %o[%c0, %i] {role = "use"} : tensor<16x16xbf16, #t>, !view
  }
  tile.return
}
tile.kernel @two(%a: !view {tile.facts = #facts}, %b: !view {tile.facts = #facts}, %o: !view {tile.facts = #facts}, %n: index) attributes {tile.roles = #roles} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  scf.for %i = %c0 to %n step %c16 {
    %x = tile.load %a[%c0, %i] {atom = #nvptx.cp_async<16>, buffer = !buffer, ring = "x", depth = 2, role = "load"} : !view -> tensor<16x16xbf16, #t>
    %w = tile.load %b[%c0, %i] {atom = #nvptx.cp_async<16>, buffer = !buffer, ring = "w", depth = 3, role = "load"} : !view -> tensor<16x16xbf16, #t>
    %u = arith.addf %w, %w {tile.role = "load"} : tensor<16x16xbf16, #t>
    %y = arith.addf %x, %u {tile.role = "use"} : tensor<16x16xbf16, #t>
    tile.store %y, %o[%c0, %i] {role = "use"} : tensor<16x16xbf16, #t>, !view
  }
  tile.return
}
}
