// What a role has in shared memory after one another lies at one place: a ring of its own, which is
// empty when its loop has ended, and the buffer of a conversion behind it; so does the ring of a
// second loop. All warps meet in front of each.
// RUN: tile-opt %s --tile-realise-rings --tile-decide-hand-overs --tile-realise-hand-overs --tile-realise-warp-groups --tile-complete-stages \
// RUN:   --tile-realise-stages --tile-realise-slots --tile-realise-copies --tile-realise-own-conversions \
// RUN:   --tile-prepare-roles --tile-plan-shared-memory --tile-order-shared --tile-check-protocol -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// Of the plan the check asks each barrier but the first, in front of which nobody was there.
// RUN: python3 %S/Inputs/barriers.py tile-opt %t.mlir | FileCheck %s --check-prefix=DROPPED
// DROPPED: {{[1-9][0-9]*}} refused, of these not: 1

#opa = #tile.layout<register = [[0,1],[8,0],[0,8]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = [[16,0]]>
#out = #tile.layout<register = [[0,1],[0,2],[0,4]], lane = [[0,8],[1,0],[2,0],[4,0],[8,0]], warp = [[16,0]]>
#rows = #tile.layout<offset = [[0,1],[0,2],[0,4],[0,8],[1,0],[2,0],[4,0],[8,0],[16,0]]>
!view = !tile.view<?x?xbf16, strides [?, 1]>
!buffer = !tile.buffer<32x16xbf16>
module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
// The rings have 3072 bytes each; the conversion has 1024.
// CHECK-LABEL: tile.kernel @twice
// CHECK-SAME: tile.shared_bytes = 3072
// CHECK-COUNT-2: tile.channel {{.*}} {tile.shared_offset = 0 : i64} : !tile.channel<3, own,
// CHECK: tile.alloc {tile.shared_offset = 0 : i64}
// Nobody was there before the first loop, but its ring lies where others do.
// CHECK: tile.barrier
// CHECK: tile.put %[[RING:.*]][
// CHECK: scf.for
// The conversion meets anyhow.
// CHECK: tile.release %[[RING]]
// CHECK: tile.write
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: tile.read
// CHECK: tile.barrier
// CHECK: tile.put %[[OTHER:.*]][
// CHECK: tile.release %[[OTHER]]
tile.kernel @twice(%a: !view {tile.facts = #tile.facts<pointer = 16, strides = [16, 2]>}, %o: !view)
    attributes {tile.roles = [#tile.role<"all", warps = 2>]} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %k = tile.dim %a, 1 : !view
  %zero = arith.constant dense<0.0> : tensor<32x16xbf16, #opa>
  %sum = scf.for %kk = %c0 to %k step %c16 iter_args(%s = %zero) -> tensor<32x16xbf16, #opa> {
    %t = tile.load %a[%c0, %kk]
        {atom = #nvptx.cp_async<16>, buffer = !buffer, read_atom = #nvptx.ldmatrix<4, 16>, ring = "first", stage = 0, role = "all"}
       : !view -> tensor<32x16xbf16, #opa>
    %d = arith.addf %s, %t {tile.stage = 2, tile.role = "all"} : tensor<32x16xbf16, #opa>
    scf.yield %d : tensor<32x16xbf16, #opa>
  } {tile.depth = 3}
  %turned = tile.convert_layout %sum {how = #tile.conversion<memory buffer = #rows>, role = "all"} : tensor<32x16xbf16, #opa> -> tensor<32x16xbf16, #out>
  tile.store %turned, %o[%c0, %c0] {role = "all"} : tensor<32x16xbf16, #out>, !view
  %more = scf.for %kk = %c0 to %k step %c16 iter_args(%s = %sum) -> tensor<32x16xbf16, #opa> {
    %t = tile.load %a[%c0, %kk]
        {atom = #nvptx.cp_async<16>, buffer = !buffer, read_atom = #nvptx.ldmatrix<4, 16>, ring = "second", stage = 0, role = "all"}
       : !view -> tensor<32x16xbf16, #opa>
    %d = arith.addf %s, %t {tile.stage = 2, tile.role = "all"} : tensor<32x16xbf16, #opa>
    scf.yield %d : tensor<32x16xbf16, #opa>
  } {tile.depth = 3}
  tile.store %more, %o[%c16, %c0] {role = "all"} : tensor<32x16xbf16, #opa>, !view
  tile.return
}
}
