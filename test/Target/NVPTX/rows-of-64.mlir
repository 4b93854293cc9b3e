// Products of 64 rows into tensor memory: rows by the 16 lanes that each warp has of them, and what the
// assembler says of it.
// RUN: tile-opt %s --tile-pipeline=stop-after=layout | FileCheck %s --check-prefix=LAYOUT
// RUN: tile-compile %s --emit asm -o %t.ptx
// RUN: FileCheck %s --check-prefix=PTX --input-file %t.ptx
// RUN: %ptxas -v -arch=sm_100a %t.ptx -o %t.cubin 2>&1 | FileCheck %s --check-prefix=INFO
// RUN: sed s/sm_100a\"/sm_103a\"/ %s > %t.103.mlir
// RUN: tile-compile %t.103.mlir --emit asm -o %t.103.ptx
// RUN: FileCheck %s --check-prefix=PTX --input-file %t.103.ptx
// RUN: %ptxas -v -arch=sm_103a %t.103.ptx -o %t.103.cubin 2>&1 | FileCheck %s --check-prefix=INFO
// RUN: sed s/m64n64k16/m128n64k16/ %s > %t.tall.mlir
// RUN: not tile-compile %t.tall.mlir 2>&1 | FileCheck %s --check-prefix=TALL
// RUN: sed -e s/64x64xf32/128x64xf32/g -e 's/tensor<64x64xbf16>\(, tensor\|, !tile\| \/\/ rows\)/tensor<128x64xbf16>\1/' -e 's/to tensor<64x/to tensor<128x/' %s > %t.wide.mlir
// RUN: not tile-compile %t.wide.mlir 2>&1 | FileCheck %s --check-prefix=ROWS

// A thread has half of a row: lane 16 has further columns of the row that lane 0 has. Warps have 16 rows each.
// LAYOUT: #[[SUM:[a-z0-9]+]] = #tile.layout<register = {{\[\[}}0,1],[0,2],[0,4],[0,8],[0,32]], lane = {{\[\[}}1,0],[2,0],[4,0],[8,0],[0,16]], warp = {{\[\[}}16,0],[32,0]]>
// LAYOUT: tile.dot {{.*}} -> tensor<64x64xf32, #[[SUM]]>

// 64 columns, whose other lanes nothing has.
// PTX: mov.b32 [[ALL:%r[0-9]+]], 64;
// PTX: tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 {{.*}}, [[ALL]];
// The descriptor of the instruction: a sum of f32 (1 << 4), bf16 (1 << 7, 1 << 10), 64 columns (8 << 17), 64 rows (4 << 24).
// PTX: mov.b32 [[HOW:%r[0-9]+]], 68158608;
// PTX-COUNT-4: tcgen05.mma.cta_group::1.kind::f16{{.*}}, [[HOW]], %p{{[0-9]+}};
// Of 32 columns at a time each half of a warp writes, or fetches, 16; one waits for all.
// PTX-COUNT-2: tcgen05.st.sync.aligned.16x32bx2.x16.b32 [%r{{[0-9]+}}], 16, {
// PTX: tcgen05.ld.sync.aligned.16x32bx2.x16.b32 {{.*}}, [%r{{[0-9]+}}], 16;
// PTX-NOT: tcgen05.wait
// PTX: tcgen05.ld.sync.aligned.16x32bx2.x16.b32 {{.*}}, [%r{{[0-9]+}}], 16;
// PTX: tcgen05.wait::ld.sync.aligned;

// INFO-NOT: {{C75|C76|arning}}
// INFO: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads

// TALL: 'tile.dot' op expected rows, columns and a depth that are multiples of 128, 64 and 16, got 64, 64 and 64, since 'atom' is #nvptx.tcgen05<"m128n64k16", bf16, f32>
// ROWS: 'tile.dot' op expected 64 rows for each copy of its role, got 128, since 'atom' is #nvptx.tcgen05<"m64n64k16", bf16, f32>
#facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [16, 16], index32>
#roles = [#tile.role<"mma", warps = 4>, #tile.role<"load", warps = 1>]
module attributes {tile.target = #nvptx.target<chip = "sm_100a">} {
tile.kernel @rows(%a: !tile.view<?x?xbf16> {tile.facts = #facts}, %b: !tile.view<?x?xbf16> {tile.facts = #facts},
                  %c: !tile.view<?x?xbf16> {tile.facts = #facts}) attributes {tile.roles = #roles} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %i = tile.program_id x
  %j = tile.program_id y
  %row = arith.muli %i, %c64 : index
  %column = arith.muli %j, %c64 : index
  %n = tile.dim %a, 1 : !tile.view<?x?xbf16>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %k = %c0 to %n step %c64 iter_args(%s = %zero) -> tensor<64x64xf32> {
    %x = tile.load %a[%row, %k] {atom = #nvptx.tma, stage = 0, role = "load"}
        : !tile.view<?x?xbf16> -> tensor<64x64xbf16> // rows
    %y = tile.load %b[%column, %k] {atom = #nvptx.tma, stage = 0, role = "load"}
        : !tile.view<?x?xbf16> -> tensor<64x64xbf16>
    %d = tile.dot %x, %y, %s transpose_b
        {atom = #nvptx.tcgen05<"m64n64k16", bf16, f32>, stage = 0, role = "mma", in_flight = 0}
        : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  } {tile.depth = 2}
  %r = arith.truncf %sum {tile.role = "mma"} : tensor<64x64xf32> to tensor<64x64xbf16>
  tile.store %r, %c[%row, %column] {atom = #nvptx.tma, role = "mma", in_flight = 0}
      : tensor<64x64xbf16>, !tile.view<?x?xbf16>
  tile.return
}
}
