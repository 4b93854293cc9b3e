// The matrix product of benchmarks/ whose decisions are pinned for gfx950, down to its final code.
// RUN: tile-compile %S/../../../benchmarks/gemm-gfx950.mlir --target amdgpu:gfx950 --emit asm -o %t.s
// RUN: grep -v "#ASM" %t.s | FileCheck %s
// RUN: tile-check-isa --figures %t.s | FileCheck %s --check-prefix=FIGURES
// RUN: python3 %S/Inputs/isa-mutants.py tile-check-isa %t.s 30 | FileCheck %s --check-prefix=MUTANTS
// Of the whole code each barrier is looked for, also where something harmless stands beside it. Three
// may go, one and all, as in gemm.mlir, where it stands why.
// RUN: sed 's/^\ts_barrier/\ts_mov_b32 s101, 0\n&/' %t.s > %t.beside.s
// RUN: python3 %S/Inputs/order-mutants.py tile-check-isa %t.s barriers=12 loose=3 | FileCheck %s --check-prefix=MUTANTS
// RUN: python3 %S/Inputs/order-mutants.py tile-check-isa %t.beside.s barriers=12 loose=3 | FileCheck %s --check-prefix=MUTANTS
// RUN: tile-compile %S/../../../benchmarks/gemm-gfx950.mlir --target amdgpu:gfx950 -o %t.kiln

// One of the two trips that the loop has been unrolled to: 4 loads of 16 bytes a lane into the other
// slot, 12 reads of this one, one wait for all of them, and 16 products, each of what two reads gave.
// CHECK: s_setprio 0
// CHECK-NEXT: s_barrier
// CHECK-COUNT-4: buffer_load_dwordx4 v{{[0-9]+}}, s[{{.*}}], s{{[0-9]+}} offen lds
// CHECK-NOT: s_waitcnt
// CHECK-COUNT-12: ds_read_b128
// CHECK-NEXT: s_waitcnt vmcnt(0) lgkmcnt(0)
// CHECK-NEXT: s_barrier
// CHECK-NEXT: s_setprio 1
// CHECK-COUNT-16: v_mfma_f32_32x32x16_bf16
// CHECK-NEXT: s_setprio 0
// CHECK-NEXT: s_barrier

// FIGURES: "inner_loops":[{"barriers":4
// FIGURES-SAME: "lds_reads":{"16":24},"loads_to_lds":{"16":8},"matrix":{"v_mfma_f32_32x32x16_bf16":32}
// FIGURES-SAME: "waits":["load 0, lds 0, scalar 0","load 0, lds 0, scalar 0"]}]
// FIGURES-SAME: "lds_bytes":65536
// FIGURES-SAME: "scratch_bytes":0
// FIGURES-SAME: "sgpr_spills":0
// FIGURES-SAME: "strong_waits":0,"threads":512,"vgpr_spills":0,"vgprs":{{19[0-9]|20[0-9]}}}

// MUTANTS: mutants refused
