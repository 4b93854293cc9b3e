// The first kernel: wide accesses where facts allow them, guarded at the edge.
// RUN: tile-opt %s --tile-pipeline="target=nvptx:sm_80 stop-after=layout" | FileCheck %s --check-prefix=LAYOUT
// RUN: tile-opt %s --tile-pipeline="target=nvptx:sm_80 stop-after=target" | FileCheck %s --check-prefix=THREAD
// RUN: tile-compile %s --target nvptx:sm_90a --emit asm -o %t.ptx
// RUN: FileCheck %s --check-prefix=PTX --input-file %t.ptx
// RUN: %ptxas -arch=sm_90a %t.ptx -o %t.cubin

// PTX: .target sm_90a
// PTX: .visible .entry add(
// PTX: .reqntid 64
// PTX-COUNT-8: ld.global.v4.b32
// PTX-COUNT-16: add.rn.f32
// PTX: st.global.v4.b32

// LAYOUT: #[[L:.*]] = #tile.layout<register = {{\[}}[1],[2],[256],[512]], lane = {{\[}}[4],[8],[16],[32],[64]], warp = {{\[}}[128]]>
// LAYOUT: tile.kernel @add{{.*}} attributes {tile.warps = 2
// LAYOUT: tile.load {{.*}} -> tensor<1024xf32, #[[L]]>
// LAYOUT: arith.addf {{.*}} : tensor<1024xf32, #[[L]]>
// LAYOUT-NOT: convert_layout

// THREAD: func.func @add(%{{.*}}: !llvm.ptr<1>, %{{.*}}: i64, %{{.*}}: !llvm.ptr<1>, %{{.*}}: i64, %{{.*}}: !llvm.ptr<1>, %{{.*}}: i64)
// THREAD-SAME: tile.threads = 64
// THREAD: llvm.load {{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// THREAD: arith.addf {{.*}} : vector<16xf32>
// THREAD: scf.if
// THREAD: llvm.store {{.*}} {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<1>
tile.kernel @add(%x: !tile.view<?xf32> {tile.facts = #tile.facts<pointer = 16, extents = [16]>},
                 %y: !tile.view<?xf32> {tile.facts = #tile.facts<pointer = 16, extents = [16]>},
                 %z: !tile.view<?xf32> {tile.facts = #tile.facts<pointer = 16, extents = [16]>})
    grid {
  %n = tile.dim %x, 0 : !tile.view<?xf32>
  %c = arith.constant 1024 : index
  %programs = arith.ceildivui %n, %c : index
  tile.grid %programs
} {
  %i = tile.program_id x
  %c = arith.constant 1024 : index
  %o = arith.muli %i, %c : index
  %a = tile.load %x[%o] : !tile.view<?xf32> -> tensor<1024xf32>
  %b = tile.load %y[%o] : !tile.view<?xf32> -> tensor<1024xf32>
  %s = arith.addf %a, %b : tensor<1024xf32>
  tile.store %s, %z[%o] : tensor<1024xf32>, !tile.view<?xf32>
  tile.return
}
