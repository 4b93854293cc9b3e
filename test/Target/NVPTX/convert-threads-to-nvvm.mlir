// RUN: tile-opt %s --convert-threads-to-nvvm | FileCheck %s

// CHECK-LABEL: llvm.func @kernel
// CHECK-SAME: attributes {nvvm.kernel, nvvm.reqntid = array<i32: 64>}
// CHECK: nvvm.read.ptx.sreg.tid.x : i32
// CHECK: nvvm.read.ptx.sreg.ctaid.y : i32
// CHECK: nvvm.read.ptx.sreg.nctaid.z : i32
// CHECK: nvvm.barrier0
// CHECK: nvvm.shfl.sync bfly
// CHECK: nvvm.shfl.sync idx
// exp is the chip's exp2 of what is left of an integer, times a power of two made of that integer.
// CHECK: llvm.call_intrinsic "llvm.nvvm.fma.rn.sat.f"
// CHECK: llvm.intr.fma
// CHECK: llvm.fsub
// CHECK-COUNT-2: llvm.intr.fma
// CHECK: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz"
// CHECK: llvm.shl
// CHECK: llvm.fmul
// CHECK-NOT: llvm.intr.exp(
// A logarithm is a polynomial.
// CHECK-NOT: llvm.intr.log(
func.func @kernel(%p: !llvm.ptr<1>, %v: vector<4xf32>, %w: i32) attributes {tile.threads = 64 : i64} {
  %t = gpu.thread_id x
  %b = gpu.block_id y
  %g = gpu.grid_dim z
  gpu.barrier
  %c1 = arith.constant 1 : i32
  %c32 = arith.constant 32 : i32
  %x, %ok = gpu.shuffle xor %w, %c1, %c32 : i32
  %y, %ok2 = gpu.shuffle idx %x, %c1, %c32 : i32
  %e = math.exp %v : vector<4xf32>
  %l = math.log %e : vector<4xf32>
  llvm.store %l, %p {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<1>
  llvm.store %y, %p : i32, !llvm.ptr<1>
  %i = arith.addi %t, %b : index
  %j = arith.addi %i, %g : index
  %k = arith.index_cast %j : index to i64
  llvm.store %k, %p : i64, !llvm.ptr<1>
  return
}
