// The matrix product of benchmarks/ whose decisions are pinned for gfx942, down to its final code.
// RUN: tile-compile %S/../../../benchmarks/gemm-gfx942.mlir --target amdgpu:gfx942 --emit asm -o %t.s
// RUN: grep -v "#ASM" %t.s | FileCheck %s
// RUN: tile-check-isa --figures %t.s | FileCheck %s --check-prefix=FIGURES
// RUN: python3 %S/Inputs/isa-mutants.py tile-check-isa %t.s 30 | FileCheck %s --check-prefix=MUTANTS
// Of the whole code each barrier is looked for, not of the loop alone. Three may go, one and all: the
// two behind the last trip that reads slot 1, which keep the groups in turns, and the one in front of
// the next program. The waves that lag have passed one barrier more at the same instruction; an access
// is ordered with a later one of the other group if its wave has a barrier less to pass, and one more.
// Say the last reads of slot 1 stand behind c barriers, c + 1 of those that lag. Without the three
// there is the one at which the leading group waits for the other, behind it both have passed c + 1,
// and the one behind the first loads: slot 1 is filled again behind c + 2 at the least, and those that
// lag have told of their reads by then. Slot 0 is read in the trip before, two barriers earlier.
// RUN: python3 %S/Inputs/order-mutants.py tile-check-isa %t.s barriers=12 loose=3 | FileCheck %s --check-prefix=MUTANTS
// Waves lag behind others whatever else stands beside the barriers at which they part and meet again.
// RUN: sed 's/^\ts_barrier/\ts_mov_b32 s101, 0\n&/' %t.s > %t.beside.s
// RUN: python3 %S/Inputs/order-mutants.py tile-check-isa %t.beside.s barriers=12 loose=3 | FileCheck %s --check-prefix=MUTANTS
// RUN: tile-compile %S/../../../benchmarks/gemm-gfx942.mlir --target amdgpu:gfx942 -o %t.kiln

// One of the two trips that the loop has been unrolled to: 16 loads into the other slot, 12 reads of
// 16 bytes of this one, one wait for all of them, and while the other group does that, 32 products.
// CHECK: s_setprio 0
// CHECK-NEXT: s_barrier
// CHECK-COUNT-16: buffer_load_dword v{{[0-9]+}}, s[{{.*}}], s{{[0-9]+}} offen lds
// CHECK-NOT: s_waitcnt
// CHECK-COUNT-12: ds_read_b128
// CHECK-NEXT: s_waitcnt vmcnt(0) lgkmcnt(0)
// CHECK-NEXT: s_barrier
// CHECK-NEXT: s_setprio 1
// CHECK-COUNT-32: v_mfma_f32_32x32x8_bf16
// CHECK-NEXT: s_setprio 0
// CHECK-NEXT: s_barrier

// FIGURES: "inner_loops":[{"barriers":4
// FIGURES-SAME: "lds_reads":{"16":24},"loads_to_lds":{"4":32},"matrix":{"v_mfma_f32_32x32x8_bf16":64}
// FIGURES-SAME: "waits":["load 0, lds 0, scalar 0","load 0, lds 0, scalar 0"]}]
// FIGURES-SAME: "lds_bytes":65536
// FIGURES-SAME: "scratch_bytes":0
// FIGURES-SAME: "strong_waits":0,"threads":512,"vgpr_spills":0,"vgprs":2{{[01][0-9]}}}

// MUTANTS: {{[0-9]+}} mutants refused
