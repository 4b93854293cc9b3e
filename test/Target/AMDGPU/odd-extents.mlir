// Plain loops by tiles whose extents have odd factors, by the instructions of single waves.
// RUN: sed -e s/MM/192/g -e s/NN/128/g -e s/KK/32/g %s > %t.192.mlir
// RUN: tile-compile %t.192.mlir --target amdgpu:gfx942 --emit asm | FileCheck %s --check-prefix=MFMA
// RUN: sed -e s/MM/128/g -e s/NN/96/g -e s/KK/64/g %s > %t.128.mlir
// RUN: tile-compile %t.128.mlir --target amdgpu:gfx942 --emit asm | FileCheck %s --check-prefix=SMALL
// RUN: sed -e s/MM/96/g -e s/NN/64/g -e s/KK/32/g %s > %t.96.mlir
// RUN: tile-compile %t.96.mlir --target amdgpu:gfx1201 --emit asm | FileCheck %s --check-prefix=WMMA

// Eight waves have 6 by 4 blocks, in four steps: 12 each, in each of two trips; 256 rows had 16.
// MFMA-COUNT-24: v_mfma_f32_32x32x8_bf16
// MFMA-NOT: v_mfma

// Three blocks of 32 beside one another are one wave's, six of 16 are shared out by two: each of eight
// has 6 blocks, in four steps, in each of two trips.
// SMALL-COUNT-48: v_mfma_f32_16x16x16_bf16
// SMALL-NOT: v_mfma

// 6 by 4 blocks of 16, in two steps: 6 each, in each of four trips.
// WMMA-COUNT-24: v_wmma_f32_16x16x16_bf16
// WMMA-NOT: v_wmma

#facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [16, 16], index32>
tile.kernel @plain(%a: !tile.view<?x?xbf16> {tile.facts = #facts},
                   %b: !tile.view<?x?xbf16> {tile.facts = #facts},
                   %c: !tile.view<?x?xf32> {tile.facts = #tile.facts<pointer = 16, strides = [16, 4], extents = [16, 16], index32, noalias>})
{
  %i = tile.program_id x
  %j = tile.program_id y
  %c0 = arith.constant 0 : index
  %rows = arith.constant MM : index
  %columns = arith.constant NN : index
  %step = arith.constant KK : index
  %m = arith.muli %i, %rows : index
  %n = arith.muli %j, %columns : index
  %K = tile.dim %a, 1 : !tile.view<?x?xbf16>
  %zero = arith.constant dense<0.0> : tensor<MMxNNxf32>
  %acc = scf.for %k = %c0 to %K step %step iter_args(%s = %zero) -> tensor<MMxNNxf32> {
    %x = tile.load %a[%m, %k] : !tile.view<?x?xbf16> -> tensor<MMxKKxbf16>
    %y = tile.load %b[%n, %k] : !tile.view<?x?xbf16> -> tensor<NNxKKxbf16>
    %d = tile.dot %x, %y, %s transpose_b : tensor<MMxKKxbf16>, tensor<NNxKKxbf16> -> tensor<MMxNNxf32>
    scf.yield %d : tensor<MMxNNxf32>
  }
  tile.store %acc, %c[%m, %n] : tensor<MMxNNxf32>, !tile.view<?x?xf32>
  tile.return
}
