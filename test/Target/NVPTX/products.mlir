// Products of narrow types by the chip's own instructions, or by those for wider ones; tf32x3 by
// three of tf32.
// RUN: tile-compile %s --target nvptx:sm_80 --emit asm -o %t.80.ptx
// RUN: FileCheck %s --input-file %t.80.ptx --check-prefix SM80
// RUN: %ptxas -arch=sm_80 %t.80.ptx -o %t.cubin
// RUN: tile-compile %s --target nvptx:sm_89 --emit asm -o %t.89.ptx
// RUN: FileCheck %s --input-file %t.89.ptx --check-prefix SM89
// RUN: %ptxas -arch=sm_89 %t.89.ptx -o %t.cubin
// RUN: tile-compile %s --target nvptx:sm_90a --emit asm -o %t.90.ptx
// RUN: FileCheck %s --input-file %t.90.ptx --check-prefix SM90
// RUN: %ptxas -arch=sm_90a %t.90.ptx -o %t.cubin

// SM80: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
// SM80: mma.sync.aligned.m16n8k64.row.col.s32.s4.u4.s32
// SM80-COUNT-3: mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32
// SM89: mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32
// SM89: mma.sync.aligned.m16n8k64.row.col.s32.s4.u4.s32
// SM90: mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32
// SM90: mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32
#facts = #tile.facts<pointer = 16, strides = [16, 1], extents = [0, 16]>
tile.kernel @products(%a: !tile.view<?x?xf8E4M3FN> {tile.facts = #facts},
                      %b: !tile.view<?x?xf8E5M2> {tile.facts = #facts}, %i: !tile.view<?x?xi4>,
                      %f: !tile.view<?x?xf32>, %c: !tile.view<?x?xf32>, %d: !tile.view<?x?xi32>) {
  %c0 = arith.constant 0 : index
  %x = tile.load %a[%c0, %c0] : !tile.view<?x?xf8E4M3FN> -> tensor<16x32xf8E4M3FN>
  %y = tile.load %b[%c0, %c0] : !tile.view<?x?xf8E5M2> -> tensor<8x32xf8E5M2>
  %zero = arith.constant dense<0.0> : tensor<16x8xf32>
  %p = tile.dot %x, %y, %zero transpose_b : tensor<16x32xf8E4M3FN>, tensor<8x32xf8E5M2> -> tensor<16x8xf32>
  tile.store %p, %c[%c0, %c0] : tensor<16x8xf32>, !tile.view<?x?xf32>
  %u = tile.load %i[%c0, %c0] : !tile.view<?x?xi4> -> tensor<16x64xi4>
  %none = arith.constant dense<0> : tensor<16x16xi32>
  %q = tile.dot %u, %u, %none transpose_b unsigned_b : tensor<16x64xi4>, tensor<16x64xi4> -> tensor<16x16xi32>
  tile.store %q, %d[%c0, %c0] : tensor<16x16xi32>, !tile.view<?x?xi32>
  %s = tile.load %f[%c0, %c0] : !tile.view<?x?xf32> -> tensor<16x8xf32>
  %t = tile.load %f[%c0, %c0] : !tile.view<?x?xf32> -> tensor<8x8xf32>
  %r = tile.dot %s, %t, %p precision = tf32x3 : tensor<16x8xf32>, tensor<8x8xf32> -> tensor<16x8xf32>
  tile.store %r, %c[%c0, %c0] : tensor<16x8xf32>, !tile.view<?x?xf32>
  tile.return
}
