// One kernel to every stage, from a file and from standard input.
// RUN: tile-compile %s --kernel double --emit tile | FileCheck %s --check-prefix=TILE
// RUN: tile-compile %s --kernel double --emit layout | FileCheck %s --check-prefix=MLIR
// RUN: tile-compile %s --kernel double --emit schedule | FileCheck %s --check-prefix=MLIR
// RUN: tile-compile %s --kernel double --emit target | FileCheck %s --check-prefix=TARGET
// RUN: tile-compile %s --kernel double --emit llvm | FileCheck %s --check-prefix=LLVM
// RUN: tile-compile - --kernel=double --emit=llvmir < %s | FileCheck %s --check-prefix=LLVMIR
// RUN: tile-compile %s --kernel double --emit metadata | FileCheck %s --check-prefix=META
// RUN: tile-compile %s --kernel double --emit asm -o %t.s && grep -q kiln_entry %t.s
// RUN: tile-compile %s --kernel double --emit binary -o %t.o && llvm-nm %t.o | FileCheck %s --check-prefix=NM

// TILE: tile.kernel @double
// TILE: tile.load
// TILE-NOT: @triple
// MLIR: tile.kernel @double
// TARGET-NOT: tile.load
// LLVM: llvm.func @kiln_entry
// LLVMIR: define {{.*}}i32 @kiln_entry(
// META: "kernel":{{ ?}}"double"
// NM-DAG: T kiln_entry
// NM-DAG: T kiln_grid

// The default is the artifact, the same as is written to a file.
// RUN: tile-compile %s --kernel double > %t.1
// RUN: tile-compile %s --kernel double -o %t.2
// RUN: cmp %t.1 %t.2
// RUN: head -c 7 %t.1 | FileCheck %s --check-prefix=MAGIC
// MAGIC: KILNART

// Bytecode is source too.
// RUN: tile-opt %s --emit-bytecode -o %t.bc
// RUN: tile-compile %t.bc --kernel triple --emit tile | FileCheck %s --check-prefix=TRIPLE
// TRIPLE: tile.kernel @triple

tile.kernel @double(%x: !tile.view<?xf32>) grid {
  %n = tile.dim %x, 0 : !tile.view<?xf32>
  %c128 = arith.constant 128 : index
  %programs = arith.ceildivui %n, %c128 : index
  tile.grid %programs
} {
  %i = tile.program_id x
  %c128 = arith.constant 128 : index
  %offset = arith.muli %i, %c128 : index
  %t = tile.load %x[%offset] : !tile.view<?xf32> -> tensor<128xf32>
  %d = arith.addf %t, %t : tensor<128xf32>
  tile.store %d, %x[%offset] : tensor<128xf32>, !tile.view<?xf32>
  tile.return
}

tile.kernel @triple(%x: !tile.view<?xf32>) {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%c0] : !tile.view<?xf32> -> tensor<128xf32>
  %three = arith.constant dense<3.0> : tensor<128xf32>
  %d = arith.mulf %t, %three : tensor<128xf32>
  tile.store %d, %x[%c0] : tensor<128xf32>, !tile.view<?xf32>
  tile.return
}
