// The clean-ups of a compile for a GPU: before anything is decided, once the kernel is one thread's,
// and once it is LLVM's; none between a decision and what realises it, none twice.
// RUN: tile-opt %s --tile-pipeline="target=nvptx:sm_90a" --mlir-print-ir-after-all -o %t 2>&1 \
// RUN:   | FileCheck %s --implicit-check-not="After Canonicalize" \
// RUN:     --implicit-check-not="After CSE" --implicit-check-not="After Simplify" \
// RUN:     --implicit-check-not="After HoistInvariants"

// CHECK: IR Dump After InlineFunctions
// CHECK: IR Dump After Simplify
// CHECK: IR Dump After HoistInvariants
// CHECK: IR Dump After DecideAtoms
// CHECK: IR Dump After PlanSharedMemory
// CHECK: IR Dump After LowerToThreads
// CHECK: IR Dump After Canonicalize
// CHECK: IR Dump After CSE
// CHECK: IR Dump After ConvertThreadsToNVVM
// CHECK: IR Dump After Canonicalize
// CHECK: IR Dump After CSE
tile.kernel @copy(%x: !tile.view<?xf32>, %y: !tile.view<?xf32>) grid {
  %one = arith.constant 1 : index
  tile.grid %one
} {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0] : !tile.view<?xf32> -> tensor<64xf32>
  tile.store %a, %y[%c0] : tensor<64xf32>, !tile.view<?xf32>
  tile.return
}
