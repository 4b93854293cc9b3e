// Functions of f64, and those of f32 that no few terms are good for, are calls of Kiln's own
// mathematics, which is linked in: nothing is left for a vendor's library to define.
// RUN: tile-compile %s --target nvptx:sm_90a --emit llvm | FileCheck %s --check-prefix CALLS
// RUN: tile-compile %s --target nvptx:sm_90a --emit llvmir | FileCheck %s --check-prefix LINKED
// RUN: tile-compile %s --target amdgpu:gfx942 --emit llvmir | FileCheck %s --check-prefix LINKED
// RUN: tile-compile %s --target emu:gfx942 --emit llvmir | FileCheck %s --check-prefix LINKED
// RUN: tile-compile %s --target nvptx:sm_80 --emit asm -o %t.ptx
// RUN: %ptxas -arch=sm_80 %t.ptx -o %t.cubin
// RUN: FileCheck %s --input-file %t.ptx --check-prefix PTX
// RUN: tile-compile %s --target amdgpu:gfx90a -o %t.artifact

// CALLS-DAG: llvm.func @kiln_math_powf(f32, f32) -> f32 attributes {sym_visibility = "private"}
// CALLS-DAG: llvm.func @kiln_math_sin(f64) -> f64
// Each element by itself; short series of f32 stay where they are.
// CALLS-NOT: kiln_math_exp
// CALLS-COUNT-8: llvm.call @kiln_math_powf
// CALLS: llvm.call @kiln_math_sin

// LINKED-NOT: declare {{.*}}@kiln_math_
// LINKED-NOT: define {{(dso_local )?}}double @kiln_math_
// LINKED-NOT: atan2

// PTX-NOT: .extern .func
// PTX: fma.rn.f64
tile.kernel @math(%x: !tile.view<?xf32>, %y: !tile.view<?xf64>) grid {
  %one = arith.constant 1 : index
  tile.grid %one
} {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0] : !tile.view<?xf32> -> tensor<256xf32>
  %e = math.exp %a : tensor<256xf32>
  %p = math.powf %a, %e : tensor<256xf32>
  tile.store %p, %x[%c0] : tensor<256xf32>, !tile.view<?xf32>
  %b = tile.load %y[%c0] : !tile.view<?xf64> -> tensor<256xf64>
  %s = math.sin %b : tensor<256xf64>
  tile.store %s, %y[%c0] : tensor<256xf64>, !tile.view<?xf64>
  tile.return
}
