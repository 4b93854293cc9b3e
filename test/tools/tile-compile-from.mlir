// IR that --emit wrote is handed back with --from, and makes the same code; an edited decision is
// taken.

// RUN: tile-compile %s --target amdgpu:gfx942 --emit asm -o %t.asm
// RUN: tile-compile %s --target amdgpu:gfx942 --emit layout -o %t.layout.mlir
// RUN: FileCheck %s --check-prefix=LAYOUT < %t.layout.mlir
// LAYOUT: module attributes {tile.emitted = "layout", tile.metadata = {abi = {{.*}} kernel = "double"
// RUN: tile-compile %t.layout.mlir --from layout --emit asm -o %t.layout.asm
// RUN: cmp %t.asm %t.layout.asm
// RUN: tile-compile %t.layout.mlir --from layout --exact --emit asm -o %t.exact.asm
// RUN: cmp %t.asm %t.exact.asm
// RUN: tile-compile %t.layout.mlir --from layout --emit target -o %t.target.mlir
// RUN: FileCheck %s --check-prefix=TARGET < %t.target.mlir
// TARGET: module @kiln_host_grid
// TARGET-NEXT: tile.kernel @double
// RUN: tile-compile %t.target.mlir --from target --emit asm -o %t.target.asm
// RUN: cmp %t.asm %t.target.asm

// RUN: %S/Inputs/exits.sh 1 tile-compile %t.layout.mlir --from schedule 2>&1 | FileCheck %s --check-prefix=STAGE
// STAGE: layout.mlir:{{[0-9]+:[0-9]+}}: error: expected IR that --emit schedule wrote, to go on from there: it is of the stage 'layout'
// RUN: %S/Inputs/exits.sh 1 tile-compile %s --from layout 2>&1 | FileCheck %s --check-prefix=SOURCE
// SOURCE: error: expected IR that --emit layout wrote, to go on from there: the module has no 'tile.emitted'
// RUN: %S/Inputs/exits.sh 2 tile-compile %t.layout.mlir --from soup 2>&1 | FileCheck %s --check-prefix=SOUP
// SOUP: error: expected from to be tile, layout, schedule, target or llvm, got 'soup'
// RUN: %S/Inputs/exits.sh 2 tile-compile %t.layout.mlir --from layout --emit tile 2>&1 | FileCheck %s --check-prefix=BEFORE
// BEFORE: error: expected to go on from the stage layout to one behind it, got tile
// RUN: %S/Inputs/exits.sh 2 tile-compile %s --exact 2>&1 | FileCheck %s --check-prefix=EXACT
// EXACT: error: expected exact=true with from=layout or a later stage
// RUN: %S/Inputs/exits.sh 2 tile-compile %t.layout.mlir --from layout -O1 2>&1 | FileCheck %s --check-prefix=LEVEL
// LEVEL: error: expected the optimisation level that the source was compiled with, 3, got 1
// RUN: %S/Inputs/exits.sh 2 tile-compile %t.layout.mlir --from layout --fast-math 2>&1 | FileCheck %s --check-prefix=MATH
// MATH: error: expected the mathematics that the source was compiled with
// RUN: %S/Inputs/exits.sh 2 tile-compile %t.layout.mlir --from layout --target cpu 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: error: expected the target that the module is for, amdgpu:gfx942, got cpu
// RUN: sed 's/opt_level = 3/opt_level = 9/' %t.layout.mlir > %t.level.mlir
// RUN: %S/Inputs/exits.sh 1 tile-compile %t.level.mlir --from layout 2>&1 | FileCheck %s --check-prefix=MEMBER
// MEMBER: error: {{.*}}'tile.metadata' has no number from 0 to 3 'opt_level'
// RUN: sed 's/@double/@triple/' %t.layout.mlir > %t.name.mlir
// RUN: %S/Inputs/exits.sh 1 tile-compile %t.name.mlir --from layout 2>&1 | FileCheck %s --check-prefix=NAME
// NAME: error: {{.*}}'tile.metadata' is of the kernel @double

// What a code generator aborts on ends the compile with an error.
// RUN: tile-compile %s --target amdgpu:gfx942 --emit llvm -o %t.llvm.mlir
// RUN: sed 's/tile.target = [^}]*}/tile.target = #nvptx.target<chip = "sm_90a">}/; s/target = "amdgpu:gfx942"/target = "nvptx:sm_90a"/' %t.llvm.mlir > %t.forged.mlir
// RUN: %S/Inputs/exits.sh 4 tile-compile %t.forged.mlir --from llvm --emit asm 2>&1 | FileCheck %s --check-prefix=DEFECT
// DEFECT: error: a defect of the compiler ended the compile of

tile.kernel @double(%x: !tile.view<?xf32>, %y: !tile.view<?xf32>) grid {
  %c256 = arith.constant 256 : index
  %n = tile.dim %x, 0 : !tile.view<?xf32>
  %programs = arith.ceildivsi %n, %c256 : index
  tile.grid %programs
} {
  %c256 = arith.constant 256 : index
  %i = tile.program_id x
  %at = arith.muli %i, %c256 : index
  %tile = tile.load %x[%at] : !tile.view<?xf32> -> tensor<256xf32>
  %sum = arith.addf %tile, %tile : tensor<256xf32>
  tile.store %sum, %y[%at] : tensor<256xf32>, !tile.view<?xf32>
  tile.return
}
