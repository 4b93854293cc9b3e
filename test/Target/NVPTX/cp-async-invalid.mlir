// Rings that cp.async is pinned to fill and cannot: each is refused by name.
// RUN: not tile-opt %s -split-input-file --pass-pipeline='builtin.module(tile-realise-rings,tile-decide-hand-overs,tile-realise-hand-overs,tile-realise-warp-groups,tile-complete-stages,tile-realise-stages,tile-realise-slots,tile-count-puts,tile-plan-shared-memory,tile-order-shared,tile-lower-to-threads)' 2>&1 | FileCheck %s

// CHECK: error: 'tile.copy_in' op expected a view whose pointer, rows and offsets facts say are multiples of 16 bytes, for #nvptx.cp_async<16>
#acc = #tile.layout<register = [[0,1],[8,0]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = []>
#opa = #tile.layout<register = [[0,1],[8,0],[0,8]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = []>
#opb = #tile.layout<register = [[0,1],[0,8]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = []>
!view = !tile.view<?x?xbf16, strides [?, 1]>
module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
tile.kernel @rows(%a: !view {tile.facts = #tile.facts<pointer = 16, strides = [8, 2]>}, %o: !view {tile.facts = #tile.facts<noalias>}, %k: index)
    attributes {tile.roles = [#tile.role<"all", warps = 1>]} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  scf.for %kk = %c0 to %k step %c16 {
    %t = tile.load %a[%c0, %kk] {atom = #nvptx.cp_async<16>, buffer = !tile.buffer<16x16xbf16>, stage = 0, role = "all"}
       : !view -> tensor<16x16xbf16, #opa>
    tile.store %t, %o[%c0, %kk] {stage = 1, role = "all"} : tensor<16x16xbf16, #opa>, !view
  } {tile.depth = 2}
  tile.return
}
}

// -----

// Pieces of 8 bytes are permuted: a lane's 16 bytes are not behind one another.
// CHECK: error: 'tile.copy_in' op expected a buffer that has 8 elements of a row behind one another, for #nvptx.cp_async<16>, got '!tile.buffer<16x16xbf16
#opa = #tile.layout<register = [[0,1],[8,0],[0,8]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = []>
#halves = #tile.layout<offset = [[0,1],[0,2],[0,8],[0,4],[1,0],[2,0],[4,0],[8,0]]>
!view = !tile.view<?x?xbf16, strides [?, 1]>
module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
tile.kernel @pieces(%a: !view {tile.facts = #tile.facts<pointer = 16, strides = [16, 2]>}, %o: !view {tile.facts = #tile.facts<noalias>}, %k: index)
    attributes {tile.roles = [#tile.role<"all", warps = 1>]} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  scf.for %kk = %c0 to %k step %c16 {
    %t = tile.load %a[%c0, %kk] {atom = #nvptx.cp_async<16>, buffer = !tile.buffer<16x16xbf16, #halves>, stage = 0, role = "all"}
       : !view -> tensor<16x16xbf16, #opa>
    tile.store %t, %o[%c0, %kk] {stage = 1, role = "all"} : tensor<16x16xbf16, #opa>, !view
  } {tile.depth = 2}
  tile.return
}
}

// -----

// Elements are padded by other than zeros.
// CHECK: error: 'tile.load' op expected no padding value, since '#nvptx.cp_async<16>' copies zeros there
#opa = #tile.layout<register = [[0,1],[8,0],[0,8]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = []>
!view = !tile.view<?x?xbf16, strides [?, 1]>
module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
tile.kernel @padding(%a: !view {tile.facts = #tile.facts<pointer = 16, strides = [16, 2]>}, %o: !view {tile.facts = #tile.facts<noalias>}, %k: index, %p: bf16)
    attributes {tile.roles = [#tile.role<"all", warps = 1>]} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  scf.for %kk = %c0 to %k step %c16 {
    %t = tile.load %a[%c0, %kk] pad(%p : bf16) {atom = #nvptx.cp_async<16>, buffer = !tile.buffer<16x16xbf16>, stage = 0, role = "all"}
       : !view -> tensor<16x16xbf16, #opa>
    tile.store %t, %o[%c0, %kk] {stage = 1, role = "all"} : tensor<16x16xbf16, #opa>, !view
  } {tile.depth = 2}
  tile.return
}
}

// -----

// Another chip's copy.
// CHECK: error: 'tile.copy_in' op expected an atom by which warps of nvptx:sm_80 copy into shared memory, got #amdgcn.load_to_lds<"gfx942", 4>
#opa = #tile.layout<register = [[0,1],[8,0],[0,8]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = []>
!view = !tile.view<?x?xbf16, strides [?, 1]>
module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
tile.kernel @other(%a: !view {tile.facts = #tile.facts<pointer = 16, strides = [16, 2]>}, %o: !view {tile.facts = #tile.facts<noalias>}, %k: index)
    attributes {tile.roles = [#tile.role<"all", warps = 1>]} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  scf.for %kk = %c0 to %k step %c16 {
    %t = tile.load %a[%c0, %kk] {atom = #amdgcn.load_to_lds<"gfx942", 4>, buffer = !tile.buffer<16x16xbf16>, stage = 0, role = "all"}
       : !view -> tensor<16x16xbf16, #opa>
    tile.store %t, %o[%c0, %kk] {stage = 1, role = "all"} : tensor<16x16xbf16, #opa>, !view
  } {tile.depth = 2}
  tile.return
}
}

// -----

// ldmatrix names rows of 16 bytes, which the tensor's layout does not have.
// CHECK: error: 'tile.read' op expected an atom of nvptx:sm_80 that reads 'tensor<16x16xbf16, {{.*}}>' from '!tile.buffer<16x16xbf16>', got #nvptx.ldmatrix<4, 16>
#rows = #tile.layout<register = [[0,1],[0,2],[0,4]], lane = [[0,8],[1,0],[2,0],[4,0],[8,0]], warp = []>
!view = !tile.view<?x?xbf16, strides [?, 1]>
module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
tile.kernel @read(%a: !view {tile.facts = #tile.facts<pointer = 16, strides = [16, 2]>}, %o: !view {tile.facts = #tile.facts<noalias>}, %k: index)
    attributes {tile.roles = [#tile.role<"all", warps = 1>]} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  scf.for %kk = %c0 to %k step %c16 {
    %t = tile.load %a[%c0, %kk] {atom = #nvptx.cp_async<16>, buffer = !tile.buffer<16x16xbf16>, read_atom = #nvptx.ldmatrix<4, 16>, stage = 0, role = "all"}
       : !view -> tensor<16x16xbf16, #rows>
    tile.store %t, %o[%c0, %kk] {stage = 1, role = "all"} : tensor<16x16xbf16, #rows>, !view
  } {tile.depth = 2}
  tile.return
}
}

// -----

// CHECK: error: expected 4, 8 or 16 bytes a lane, got 12
func.func private @bytes() attributes {atom = #nvptx.cp_async<12>}
