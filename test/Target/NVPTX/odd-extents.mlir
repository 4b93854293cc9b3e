// Plain loops by tiles whose extents have odd factors, down to the instructions: tiles are what they
// are, none is grown.
// RUN: sed -e s/MM/256/g -e s/NN/192/g -e s/KK/64/g %s > %t.256.mlir
// RUN: tile-compile %t.256.mlir --target nvptx:sm_90a --emit asm | FileCheck %s --check-prefix=COLUMNS
// RUN: sed -e s/MM/192/g -e s/NN/128/g -e s/KK/64/g %s > %t.192.mlir
// RUN: tile-compile %t.192.mlir --target nvptx:sm_90a --emit asm | FileCheck %s --check-prefix=ROWS
// RUN: sed -e s/MM/128/g -e s/NN/192/g -e s/KK/96/g %s > %t.96.mlir
// RUN: tile-compile %t.96.mlir --target nvptx:sm_90a --emit asm | FileCheck %s --check-prefix=CUT
// RUN: tile-compile %t.96.mlir --target nvptx:sm_90a --emit metadata \
// RUN:   | FileCheck %s --check-prefix=BOXES
// RUN: sed -e s/MM/96/g -e s/NN/128/g -e s/KK/32/g %s > %t.32.mlir
// RUN: tile-compile %t.32.mlir --target nvptx:sm_80 --emit asm | FileCheck %s --check-prefix=WARPS
// RUN: sed -e s/MM/48/g -e s/NN/128/g -e s/KK/64/g %s > %t.48.mlir
// RUN: tile-compile %t.48.mlir --target nvptx:sm_80 --emit asm | FileCheck %s --check-prefix=PART
// RUN: sed -e s/MM/128/g -e s/NN/192/g -e s/KK/64/g %s > %t.100.mlir
// RUN: tile-compile %t.100.mlir --target nvptx:sm_100a --emit asm | FileCheck %s --check-prefix=TENSOR

// Two copies have 128 rows each.
// COLUMNS: .reqntid 384
// COLUMNS-COUNT-8: wgmma.mma_async.sync.aligned.m64n192k16.f32.bf16.bf16
// COLUMNS-NOT: wgmma.mma_async

// Three copies have 64 rows each.
// ROWS: .reqntid 416
// ROWS-COUNT-4: wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16
// ROWS-NOT: wgmma.mma_async

// Four steps of 64 and two of 32, in one ring.
// CUT: .reqntid 288
// CUT-COUNT-6: wgmma.mma_async.sync.aligned.m64n192k16.f32.bf16.bf16
// CUT-NOT: wgmma.mma_async
// CUT-COUNT-4: cp.async.bulk.tensor.2d.shared::cta.global
// CUT-NOT: {{wgmma.mma_async|cp.async.bulk.tensor.2d.shared::cta.global}}
// BOXES-DAG: {"arg":0,"box":[128,64],"kind":"tensor_map","swizzle":128,"type":"bf16"}
// BOXES-DAG: {"arg":0,"box":[128,32],"kind":"tensor_map","swizzle":64,"type":"bf16"}
// BOXES-DAG: {"arg":1,"box":[192,64],"kind":"tensor_map","swizzle":128,"type":"bf16"}
// BOXES-DAG: {"arg":1,"box":[192,32],"kind":"tensor_map","swizzle":64,"type":"bf16"}

// Eight warps have 6 by 16 blocks, in two steps: 24 each in each of four slots.
// WARPS: .reqntid 256
// WARPS-COUNT-96: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
// WARPS-NOT: mma.sync

// The second copy of 48 rows of 64 is that of the first four warps.
// PART: .reqntid 256
// PART: setp.gt.u32 %[[FEW:p[0-9]+]], %r{{[0-9]+}}, 3;
// PART: cp.async.cg.shared.global [%[[AT:.*]]], [%{{.*}}], 16
// PART-NEXT: @%[[FEW]] bra
// PART: cp.async.cg.shared.global [%[[AT]]+4096]
// PART: cp.async.cg.shared.global [%[[AT]]+{{[0-9]+}}]

// 192 columns, of 256 that are allocated; fetched by 32, as they are stored.
// TENSOR: mov.b32 %[[ALLOCATED:r[0-9]+]], 256;
// TENSOR: tcgen05.alloc{{.*}}, %[[ALLOCATED]];
// TENSOR-COUNT-4: tcgen05.mma.cta_group::1
// TENSOR-NOT: tcgen05.mma
// TENSOR-COUNT-6: tcgen05.ld.sync.aligned.32x32b.x32
// TENSOR-NOT: tcgen05.ld

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
