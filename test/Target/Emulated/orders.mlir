// RUN: tile-compile %s --target emu:sm_90a --emit llvmir | FileCheck %s
// RUN: tile-compile %s --target emu:gfx942 --emit llvmir | FileCheck %s --check-prefixes=CHECK,FENCE
// What orders accesses to global memory the runtime is told: of an atomic access, which reads (1), writes (2)
// and is atomic (4), whether it acquires (16) or releases (32), and times 64 for whom. On chips whose barriers
// order LDS alone, a fence says what else is ordered; what is of LDS is told to nobody.

tile.kernel @k(%x: !tile.view<?xi32>, %y: !tile.view<?xi32>) grid {
  %one = arith.constant 1 : index
  tile.grid %one
} {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1 : i32
  %t = tile.load %x[%c0] : !tile.view<?xi32> -> tensor<256xi32>
  tile.store %t, %y[%c0] : tensor<256xi32>, !tile.view<?xi32>
  // FENCE: call void @kiln_emulated_fence(i32 160, i32 [[#]])
  // CHECK: call void @kiln_emulated_access(ptr {{.*}}, i64 4, i32 39, ptr null, i32 [[#]])
  // CHECK: call void @kiln_emulated_access(ptr {{.*}}, i64 4, i32 23, ptr null, i32 [[#]])
  // CHECK: call void @kiln_emulated_access(ptr {{.*}}, i64 4, i32 183, ptr null, i32 [[#]])
  // CHECK: call void @kiln_emulated_access(ptr {{.*}}, i64 4, i32 7, ptr null, i32 [[#]])
  %0 = tile.atomic_rmw addi %x[%c0], %one order = release scope = device : !tile.view<?xi32>, [index], i32
  %1 = tile.atomic_rmw addi %x[%c0], %one order = acquire scope = device : !tile.view<?xi32>, [index], i32
  %2 = tile.atomic_rmw addi %x[%c0], %one order = acq_rel scope = program : !tile.view<?xi32>, [index], i32
  %3 = tile.atomic_rmw addi %x[%c0], %one order = relaxed scope = device : !tile.view<?xi32>, [index], i32
  tile.return
}
