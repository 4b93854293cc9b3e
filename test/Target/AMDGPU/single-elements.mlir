// A thread that has one element of a tensor computes with scalars: on `<1 x i8>` that came out of
// shared memory, LLVM 22's instruction selection for these chips went round for ever.
// RUN: tile-compile %s --target amdgpu:gfx1100 --emit llvmir -o - | FileCheck %s
// RUN: tile-compile %s --target amdgpu:gfx1100 --emit asm -o - | FileCheck %s --check-prefix=ASM
// RUN: tile-compile %s --target amdgpu:gfx1201 --emit asm -o - | FileCheck %s --check-prefix=ASM

// CHECK: define
// CHECK-NOT: <1 x i8>
// ASM: v_fma_mix_f32
// ASM: s_endpgm
tile.kernel @k(%a_view: !tile.view<?x?xf8E5M2>, %b_view: !tile.view<?x?xf8E5M2>,
               %r_view: !tile.view<?x?xf32>) {
  %zero = arith.constant 0 : index
  %a = tile.load %a_view[%zero, %zero] : !tile.view<?x?xf8E5M2> -> tensor<33x40xf8E5M2>
  %b = tile.load %b_view[%zero, %zero] : !tile.view<?x?xf8E5M2> -> tensor<33x1xf8E5M2>
  %c = arith.constant dense<0.0> : tensor<40x1xf32>
  %r = tile.dot %a, %b, %c transpose_a
      : tensor<33x40xf8E5M2>, tensor<33x1xf8E5M2> -> tensor<40x1xf32>
  tile.store %r, %r_view[%zero, %zero] : tensor<40x1xf32>, !tile.view<?x?xf32>
  tile.return
}
