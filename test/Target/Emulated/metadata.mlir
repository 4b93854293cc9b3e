// What the emulator tells in reports and profiles, the artifact says: which warps have which role,
// how the chip's shared memory serves lanes: banks, then the lanes that span a group, of reads and
// of writes; what a core holds: blocks, threads, bytes of shared memory; and whether barriers order
// accesses to global memory.
// RUN: tile-compile %S/../../../benchmarks/gemm.mlir --target emu:sm_90a --emit metadata | FileCheck %s
// CHECK: "bare_barriers":false
// CHECK-SAME: "core_holds":[32,2048,233472]
// CHECK-SAME: "roles":[{"name":"load","warps":4},{"name":"mma","warps":8}]
// CHECK-SAME: "shared_phases":{{\[\[}}[32,1,2,4,8,16],[32,1,2,4,8],[32,1,2,4]],{{\[\[}}32,

// RUN: tile-compile %S/../../../benchmarks/gemm-gfx942.mlir --target emu:gfx942 --emit metadata | FileCheck %s --check-prefix=WIDE
// WIDE: "bare_barriers":true
// WIDE-SAME: "core_holds":[32,2048,65536]
// WIDE-SAME: "shared_phases":{{\[\[}}[32,1,2,4,8,16],[32,1,2,4,8],[32,1,2,20]],{{\[\[}}32,
