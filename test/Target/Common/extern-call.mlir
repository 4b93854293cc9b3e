// A call of a library's function: one for each element that a thread holds. The library is linked
// in, what it needs with it, and nothing of it is left over or seen from outside.
// RUN: sed s:LIBRARY:%S/Inputs/functions.ll: %s > %t.mlir
// RUN: tile-compile %t.mlir --target nvptx:sm_80 --emit llvm | FileCheck %s --check-prefix CALLS
// RUN: tile-compile %t.mlir --target nvptx:sm_80 --emit llvmir | FileCheck %s --check-prefix LINKED
// RUN: tile-compile %t.mlir --target amdgpu:gfx942 --emit llvmir | FileCheck %s --check-prefix LINKED
// RUN: tile-compile %t.mlir --target emu:sm_90a --emit llvmir | FileCheck %s --check-prefix LINKED
// RUN: tile-compile %t.mlir --target amdgpu:gfx1201 --emit metadata | FileCheck %s --check-prefix META
// RUN: tile-compile %t.mlir --target nvptx:sm_80 --emit asm -o %t.ptx
// RUN: FileCheck %s --input-file %t.ptx --check-prefix PTX
// RUN: %ptxas -arch=sm_80 %t.ptx -o %t.cubin

// CALLS: llvm.func @kiln_foreign_0_scaled(f32, i32) -> f32 attributes {sym_visibility = "private", tile.foreign = {hash = "{{[0-9a-f]+}}", library = "{{.*}}/Inputs/functions.ll", symbol = "scaled"}}
// CALLS-COUNT-8: llvm.call @kiln_foreign_0_scaled
// CALLS-NOT: llvm.call @kiln_foreign

// LINKED-NOT: never_called
// LINKED-NOT: declare {{.*}}scaled
// LINKED-NOT: define float @
// LINKED-NOT: target-cpu"="another

// META: "libraries":[{"hash":"{{[0-9a-f]+}}","path":"{{.*}}/Inputs/functions.ll"}]

// PTX-NOT: .visible .func
// PTX-NOT: .extern .func
// PTX: .visible .entry foreign
// PTX-NOT: .extern .func
tile.kernel @foreign(%x: !tile.view<?xf32>, %i: !tile.view<?xi32>) grid {
  %one = arith.constant 1 : index
  tile.grid %one
} {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0] : !tile.view<?xf32> -> tensor<256xf32>
  %n = tile.load %i[%c0] : !tile.view<?xi32> -> tensor<256xi32>
  %e = tile.extern_call "scaled" from "LIBRARY" pure (%a, %n)
     : (tensor<256xf32>, tensor<256xi32>) -> tensor<256xf32>
  tile.store %e, %x[%c0] : tensor<256xf32>, !tile.view<?xf32>
  tile.return
}
