// The source of the NVPTX test, by the matrix instructions of four generations.
// RUN: tile-compile %s --target amdgpu:gfx90a --emit asm | FileCheck %s --check-prefixes=CHECK,GFX90A
// RUN: tile-compile %s --target amdgpu:gfx942 --emit asm | FileCheck %s --check-prefixes=CHECK,GFX942
// RUN: tile-compile %s --target amdgpu:gfx950 --emit asm | FileCheck %s --check-prefixes=CHECK,GFX950
// RUN: tile-compile %s --target amdgpu:gfx1100 --emit asm | FileCheck %s --check-prefixes=CHECK,GFX11
// RUN: tile-compile %s --target amdgpu:gfx1201 --emit asm | FileCheck %s --check-prefixes=CHECK,GFX11

// CHECK-LABEL: matmul:
// GFX90A: global_load_dwordx4
// What is read more often than it is written is read widely.
// GFX90A: s_barrier
// GFX90A: ds_write_b64
// GFX90A: s_barrier
// GFX90A-COUNT-2: ds_read_b128
// GFX90A-COUNT-4: v_mfma_f32_32x32x8bf16_1k
// GFX942: global_load_dwordx4
// GFX942-COUNT-4: v_mfma_f32_32x32x8_bf16
// GFX950: global_load_dwordx4
// GFX950-COUNT-2: v_mfma_f32_32x32x16_bf16
// GFX11: global_load_b128
// GFX11-COUNT-8: v_wmma_f32_16x16x16_bf16
// Nothing spills.
// CHECK: .private_segment_fixed_size: 0
#facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [0, 16]>
tile.kernel @matmul(%a: !tile.view<?x?xbf16> {tile.facts = #facts},
                    %b: !tile.view<?x?xbf16> {tile.facts = #facts},
                    %c: !tile.view<?x?xf32> {tile.facts = #tile.facts<pointer = 16, strides = [16, 4], extents = [0, 16]>})
{
  %i = tile.program_id x
  %j = tile.program_id y
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %m = arith.muli %i, %c64 : index
  %n = arith.muli %j, %c128 : index
  %K = tile.dim %a, 1 : !tile.view<?x?xbf16>
  %zero = arith.constant dense<0.0> : tensor<64x128xf32>
  %acc = scf.for %k = %c0 to %K step %c32 iter_args(%s = %zero) -> tensor<64x128xf32> {
    %ta = tile.load %a[%m, %k] : !tile.view<?x?xbf16> -> tensor<64x32xbf16>
    %tb = tile.load %b[%k, %n] : !tile.view<?x?xbf16> -> tensor<32x128xbf16>
    %d = tile.dot %ta, %tb, %s : tensor<64x32xbf16>, tensor<32x128xbf16> -> tensor<64x128xf32>
    scf.yield %d : tensor<64x128xf32>
  }
  tile.store %acc, %c[%m, %n] : tensor<64x128xf32>, !tile.view<?x?xf32>
  tile.return
}
