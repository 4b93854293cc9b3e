// The matrix product of benchmarks/ whose decisions are pinned for sm_80, down to its final code on
// every chip that has its instructions, with what the assembler says of it.
// RUN: tile-compile %S/../../../benchmarks/gemm-sm_80.mlir --target nvptx:sm_80 --emit asm -o %t.ptx
// RUN: FileCheck %s --check-prefix=PTX --input-file %t.ptx
// RUN: FileCheck %s --check-prefix=COUNT --input-file %t.ptx
// RUN: FileCheck %s --check-prefix=PRODUCTS --input-file %t.ptx
// RUN: %ptxas -v -arch=sm_80 %t.ptx -o %t.cubin 2>&1 | FileCheck %s --check-prefix=INFO
// RUN: sed s/sm_80/sm_86/ %S/../../../benchmarks/gemm-sm_80.mlir > %t.86.mlir
// RUN: tile-compile %t.86.mlir --target nvptx:sm_86 --emit asm -o %t.86.ptx
// RUN: %ptxas -v -arch=sm_86 %t.86.ptx -o %t.cubin 2>&1 | FileCheck %s --check-prefix=INFO
// RUN: sed s/sm_80/sm_89/ %S/../../../benchmarks/gemm-sm_80.mlir > %t.89.mlir
// RUN: tile-compile %t.89.mlir --target nvptx:sm_89 --emit asm -o %t.89.ptx
// RUN: %ptxas -v -arch=sm_89 %t.89.ptx -o %t.cubin 2>&1 | FileCheck %s --check-prefix=INFO
// RUN: sed s/sm_80/sm_90a/ %S/../../../benchmarks/gemm-sm_80.mlir > %t.90.mlir
// RUN: tile-compile %t.90.mlir --target nvptx:sm_90a --emit asm -o %t.90.ptx
// RUN: %ptxas -v -arch=sm_90a %t.90.ptx -o %t.cubin 2>&1 | FileCheck %s --check-prefix=INFO
// RUN: tile-compile %S/../../../benchmarks/gemm-sm_80.mlir --target nvptx:sm_80 --emit metadata \
// RUN:   | FileCheck %s --check-prefix=METADATA

// PTX: .visible .entry gemm(
// PTX: .reqntid 256
// Three groups of six copies before the loop, each if there is such a trip.
// PTX: cp.async.cg.shared.global [%{{.*}}], [%{{.*}}], 16, %r{{[0-9]+}};
// PTX-COUNT-5: cp.async.cg.shared.global
// PTX: cp.async.commit_group;
// PTX-COUNT-6: cp.async.cg.shared.global
// PTX: cp.async.commit_group;
// PTX-COUNT-6: cp.async.cg.shared.global
// PTX: cp.async.commit_group;
// PTX-NOT: cp.async
// A trip: one wait, one barrier, one group into the slot that was read before, and one slot read.
// PTX: cp.async.wait_group 2;
// PTX-NEXT: bar.sync 0;
// PTX-COUNT-6: cp.async.cg.shared.global
// PTX: cp.async.commit_group;
// PTX-COUNT-16: ldmatrix.sync.aligned.m8n8.x4.shared.b16
// What is left: three trips whose puts went before. They wait for as many as there still are.
// PTX-NOT: cp.async.cg
// PTX: cp.async.wait_group 0;

// COUNT-COUNT-4: cp.async.commit_group;
// COUNT-NOT: cp.async.commit_group;
// PRODUCTS-COUNT-256: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
// PRODUCTS-NOT: mma.sync

// INFO-NOT: arning
// INFO: 0 bytes spill stores, 0 bytes spill loads
// INFO: Used {{[12][0-9][0-9]}} registers, used 1 barriers

// What a warp's copies and reads cost, without a bank conflict.
// METADATA: {"atom":"#nvptx.cp_async<16>","bytes":16,"cycles":8,"instructions":2
// METADATA: {"atom":"#nvptx.ldmatrix<4, 16>","bytes":16,"conflicts":0,"cycles":32,"instructions":8
// METADATA: "shared_bytes":98304
// METADATA: "warps":8
