// The passes of the NVPTX target alone.
#ifndef KILN_TARGET_NVPTX_PASSES_TD
#define KILN_TARGET_NVPTX_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertThreadsToNVVM : Pass<"convert-threads-to-nvvm", "::mlir::ModuleOp"> {
  let summary = "convert a thread's program to the LLVM and NVVM dialects";
  let description = [{
    Postcondition: nothing but LLVM and NVVM is left; functions that `tile-lower-to-threads` made
    are kernels with their number of threads.
    The test is `test/Target/NVPTX/convert-threads-to-nvvm.mlir`.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect",
                           "::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect",
                           "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
}

#endif // KILN_TARGET_NVPTX_PASSES_TD
