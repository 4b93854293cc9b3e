// The passes that all targets with warps of threads share.
#ifndef KILN_TARGET_COMMON_THREADPASSES_TD
#define KILN_TARGET_COMMON_THREADPASSES_TD

include "mlir/Pass/PassBase.td"

def PlanSharedMemory : Pass<"tile-plan-shared-memory", "::mlir::ModuleOp"> {
  let summary = "give buffers and scratch their place in shared memory";
  let description = [{
    Precondition: conversions are realised. Postcondition: each `tile.alloc` and each op that
    needs scratch has `tile.shared_offset`, and the kernel `tile.shared_bytes`. Buffers whose
    lives do not meet share memory; in a role so do rings of its own, buffers and scratch. What does not fit the chip is an error
    that says how many bytes each of them takes, at its line.
    The test is `test/Target/Common/plan-shared-memory.mlir`.
  }];
}

def CheckSharedMemory : Pass<"tile-check-shared-memory", "::mlir::ModuleOp"> {
  let summary = "hold the places in shared memory that IR handed back says against one another";
  let description = [{
    Precondition: shared memory is planned. Postcondition: each `tile.alloc`, each channel and each
    op that needs scratch has an aligned place that ends within `tile.shared_bytes`, which the chip
    has; what is in use at one time shares no byte.
    The test is `test/Target/Common/check-shared-memory-invalid.mlir`.
  }];
}

def CheckThreads : Pass<"tile-check-threads", "::mlir::ModuleOp"> {
  let summary = "hold the layouts that IR handed back says against the threads that run them";
  let description = [{
    Precondition: layouts are decided. Postcondition: warps are so many as the chip runs, and no
    tensor is spread over more lanes than a warp has, or more warps than its role or its kernel.
    The test is `test/Target/Common/check-threads-invalid.mlir`.
  }];
}

def LowerToThreads : Pass<"tile-lower-to-threads", "::mlir::ModuleOp"> {
  let summary = "lower a kernel over tiles to the program of one thread";
  let description = [{
    Precondition: every tensor has a layout, conversions are realised, shared memory is planned.
    Postcondition: each kernel is a `func.func` over the parameters of the ABI; a tensor is a
    vector of the thread's registers, on which arith and math go on unchanged; memory is reached
    through LLVM's pointers, threads and barriers through the gpu dialect.
    The test is `test/Target/Common/lower-to-threads.mlir`.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect",
                           "::mlir::func::FuncDialect",
                           "::mlir::gpu::GPUDialect", "::mlir::LLVM::LLVMDialect",
                           "::mlir::math::MathDialect", "::mlir::scf::SCFDialect", "::mlir::ub::UBDialect",
                           "::mlir::vector::VectorDialect"];
}

#endif // KILN_TARGET_COMMON_THREADPASSES_TD
