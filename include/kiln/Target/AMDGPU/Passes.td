// The passes of the AMDGPU target alone.
#ifndef KILN_TARGET_AMDGPU_PASSES_TD
#define KILN_TARGET_AMDGPU_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertThreadsToROCDL : Pass<"convert-threads-to-rocdl", "::mlir::ModuleOp"> {
  let summary = "convert a thread's program to the LLVM and ROCDL dialects";
  let description = [{
    Postcondition: nothing but LLVM and ROCDL is left; functions that `tile-lower-to-threads`
    made are kernels with their number of threads, and shared memory has its size.
    The test is `test/Target/AMDGPU/convert-threads-to-rocdl.mlir`.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::ROCDL::ROCDLDialect",
                           "::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect",
                           "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
}

#endif // KILN_TARGET_AMDGPU_PASSES_TD
