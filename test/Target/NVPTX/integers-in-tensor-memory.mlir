// Products of integers into tensor memory, of either sign; GB300 has none.
// RUN: tile-compile %s --emit asm -o %t.ptx
// RUN: FileCheck %s --check-prefixes=PTX,HALF --input-file %t.ptx
// RUN: %ptxas -v -arch=sm_100a %t.ptx -o %t.cubin 2>&1 | FileCheck %s --check-prefix=INFO
// RUN: sed -e s/64x64xi32/128x64xi32/g -e 's/tensor<64x64xi8>\(, tensor\| \/\/ rows\)/tensor<128x64xi8>\1/' -e s/m64n64/m128n64/ %s > %t.tall.mlir
// RUN: tile-compile %t.tall.mlir --emit asm -o %t.tall.ptx
// RUN: FileCheck %s --check-prefixes=PTX,WHOLE --input-file %t.tall.ptx
// RUN: %ptxas -v -arch=sm_100a %t.tall.ptx -o %t.tall.cubin 2>&1 | FileCheck %s --check-prefix=INFO
// RUN: sed s/sm_100a\"/sm_103a\"/ %s > %t.103.mlir
// RUN: not tile-compile %t.103.mlir 2>&1 | FileCheck %s --check-prefix=OTHER

// The descriptor of the instruction: a sum of s32 (2 << 4), a with signs (1 << 7) and b without, 64 columns (8 << 17), 64 or
// 128 rows (4 << 24, 8 << 24).
// HALF: mov.b32 [[HOW:%r[0-9]+]], 68157600;
// WHOLE: mov.b32 [[HOW:%r[0-9]+]], 135266464;
// PTX-COUNT-2: tcgen05.mma.cta_group::1.kind::i8{{.*}}, [[HOW]], %p{{[0-9]+}};
// HALF: tcgen05.ld.sync.aligned.16x32bx2.x16.b32
// WHOLE: tcgen05.ld.sync.aligned.32x32b.x

// INFO-NOT: {{C75|C76|arning}}
// INFO: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads

// OTHER: 'tile.dot' op expected 'atom' to be an instruction of nvptx:sm_103a, got #nvptx.tcgen05<"m64n64k32", i8, i32>
#wide = #tile.facts<pointer = 16, strides = [16, 4], extents = [16, 16], index32>
#facts = #tile.facts<pointer = 16, strides = [16, 1], extents = [16, 16], index32>
#roles = [#tile.role<"mma", warps = 4>, #tile.role<"load", warps = 1>]
module attributes {tile.target = #nvptx.target<chip = "sm_100a">} {
tile.kernel @integers(%a: !tile.view<?x?xi8> {tile.facts = #facts}, %b: !tile.view<?x?xi8> {tile.facts = #facts},
                  %c: !tile.view<?x?xi32> {tile.facts = #wide}) attributes {tile.roles = #roles} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %i = tile.program_id x
  %j = tile.program_id y
  %row = arith.muli %i, %c64 : index
  %column = arith.muli %j, %c64 : index
  %n = tile.dim %a, 1 : !tile.view<?x?xi8>
  %zero = arith.constant dense<0> : tensor<64x64xi32>
  %sum = scf.for %k = %c0 to %n step %c64 iter_args(%s = %zero) -> tensor<64x64xi32> {
    %x = tile.load %a[%row, %k] {atom = #nvptx.tma, stage = 0, role = "load"}
        : !tile.view<?x?xi8> -> tensor<64x64xi8> // rows
    %y = tile.load %b[%column, %k] {atom = #nvptx.tma, stage = 0, role = "load"}
        : !tile.view<?x?xi8> -> tensor<64x64xi8>
    %d = tile.dot %x, %y, %s transpose_b unsigned_b
        {atom = #nvptx.tcgen05<"m64n64k32", i8, i32>, stage = 0, role = "mma", in_flight = 0}
        : tensor<64x64xi8>, tensor<64x64xi8> -> tensor<64x64xi32>
    scf.yield %d : tensor<64x64xi32>
  } {tile.depth = 2}
  tile.store %sum, %c[%row, %column] {atom = #nvptx.tma, role = "mma", in_flight = 0}
      : tensor<64x64xi32>, !tile.view<?x?xi32>
  tile.return
}
}
