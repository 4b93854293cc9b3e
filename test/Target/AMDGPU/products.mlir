// Which instruction each chip multiplies narrow types by, down to its code: its own, or that of the
// type that the operands become.
// RUN: tile-compile %s --target amdgpu:gfx90a --emit asm -o - | FileCheck %s --check-prefix GFX90A
// RUN: tile-compile %s --target amdgpu:gfx942 --emit asm -o - | FileCheck %s --check-prefix GFX942
// RUN: tile-compile %s --target amdgpu:gfx950 --emit asm -o - | FileCheck %s --check-prefix GFX950
// RUN: tile-compile %s --target amdgpu:gfx1100 --emit asm -o - | FileCheck %s --check-prefix GFX1100
// RUN: tile-compile %s --target amdgpu:gfx1201 --emit asm -o - | FileCheck %s --check-prefix GFX1201

// GFX90A: v_mfma_f32_16x16x16bf16_1k
// GFX90A: v_mfma_i32_16x16x16i8
// GFX90A: v_mfma_f32_16x16x4f32
// GFX942: v_mfma_f32_16x16x16_f16
// GFX942: v_mfma_i32_16x16x32_i8
// GFX942: v_mfma_f32_16x16x8_xf32
// GFX950: v_mfma_f32_16x16x32_fp8_bf8
// GFX950: v_mfma_i32_16x16x64_i8
// GFX950: v_mfma_f32_16x16x4_f32
// GFX1100: v_wmma_f32_16x16x16_f16
// GFX1100: v_wmma_i32_16x16x16_iu4 {{.*}} neg_lo:[1,0,0]
// GFX1201: v_wmma_f32_16x16x16_fp8_bf8
// GFX1201: v_wmma_i32_16x16x32_iu4 {{.*}} neg_lo:[1,0,0]
tile.kernel @products(%a: !tile.view<?x?xf8E4M3FN>, %b: !tile.view<?x?xf8E5M2>,
                      %i: !tile.view<?x?xi4>, %f: !tile.view<?x?xf32>, %c: !tile.view<?x?xf32>,
                      %d: !tile.view<?x?xi32>) {
  %c0 = arith.constant 0 : index
  %x = tile.load %a[%c0, %c0] : !tile.view<?x?xf8E4M3FN> -> tensor<16x32xf8E4M3FN>
  %y = tile.load %b[%c0, %c0] : !tile.view<?x?xf8E5M2> -> tensor<16x32xf8E5M2>
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %p = tile.dot %x, %y, %zero transpose_b : tensor<16x32xf8E4M3FN>, tensor<16x32xf8E5M2> -> tensor<16x16xf32>
  tile.store %p, %c[%c0, %c0] : tensor<16x16xf32>, !tile.view<?x?xf32>
  %u = tile.load %i[%c0, %c0] : !tile.view<?x?xi4> -> tensor<16x64xi4>
  %none = arith.constant dense<0> : tensor<16x16xi32>
  %q = tile.dot %u, %u, %none transpose_b unsigned_b : tensor<16x64xi4>, tensor<16x64xi4> -> tensor<16x16xi32>
  tile.store %q, %d[%c0, %c0] : tensor<16x16xi32>, !tile.view<?x?xi32>
  %s = tile.load %f[%c0, %c0] : !tile.view<?x?xf32> -> tensor<16x16xf32>
  %r = tile.dot %s, %s, %p precision = tf32 : tensor<16x16xf32>, tensor<16x16xf32> -> tensor<16x16xf32>
  tile.store %r, %c[%c0, %c0] : tensor<16x16xf32>, !tile.view<?x?xf32>
  tile.return
}
