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

def DecideRolledLoops : Pass<"nvptx-decide-rolled-loops", "::mlir::ModuleOp"> {
  let summary = "decide which loops the assembler leaves rolled";
  let description = [{
    Precondition: a thread's program in the LLVM and NVVM dialects. Postcondition: the branches back of a
    loop in which all threads of the block wait at a barrier have a loop annotation with
    `pipeline = <disable = true>`: turns of it do not overlap. Roles wait at barriers with a count, which
    are none of these. Loops of which that is said, and in which no other stands when LLVM is done, are
    written with the pragma by which the assembler leaves them rolled; whoever edits the text behind
    the stage `llvm` says of each loop what he wants.

    ptxas unrolls an innermost loop by four, with a remainder of two and one: seven copies of the
    body, for which it then takes seven times as long. Where loads of several turns can be in flight
    at once that pays, but nothing of one turn moves over a barrier to another. What is left is a
    saved comparison, for more registers: a product of 128x128x32 in bf16 took 146 instead of 128,
    which is one block on a multiprocessor instead of two, and 103 ms in ptxas instead of 42.

    Before: `llvm.br ^loop(%i : i32)`.
    After: `llvm.br ^loop(%i : i32) {loop_annotation = #llvm.loop_annotation<pipeline = <disable = true>>}`.
    The test is `test/Target/NVPTX/decide-rolled-loops.mlir`.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect"];
}

#endif // KILN_TARGET_NVPTX_PASSES_TD
