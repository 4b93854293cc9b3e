// RUN: tile-opt %s --tile-pipeline="target=nvptx:sm_90a" | FileCheck %s --check-prefix=NV
// RUN: tile-opt %s --tile-pipeline="target=amdgpu:gfx942" | FileCheck %s --check-prefix=AMD
// Who observes the order of an atomic access is said as each target says it.

// NV: llvm.atomicrmw fadd {{.*}} syncscope("device") acq_rel
// NV: llvm.cmpxchg {{.*}} syncscope("block") acquire acquire
// AMD: llvm.atomicrmw fadd {{.*}} syncscope("agent") acq_rel
// AMD: llvm.cmpxchg {{.*}} syncscope("workgroup") acquire acquire
tile.kernel @atomics(%x: !tile.view<?xf32>, %locks: !tile.view<?xi32>) {
  %c0 = arith.constant 0 : index
  %i = tile.iota 0 : tensor<64xi32>
  %v = arith.constant dense<1.0> : tensor<64xf32>
  %old = tile.atomic_rmw addf %x[%i], %v : !tile.view<?xf32>, [tensor<64xi32>], tensor<64xf32>
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %was = tile.atomic_cas %locks[%c0], %zero, %one order = acquire scope = program
       : !tile.view<?xi32>, [index], i32
  tile.return
}
