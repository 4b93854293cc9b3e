// Waits for what a wave has under way.
#ifndef KILN_LIB_TARGET_AMDGPU_COUNTERS_H
#define KILN_LIB_TARGET_AMDGPU_COUNTERS_H

#include "mlir/IR/Builders.h"

namespace kiln::amdgcn {

/// Until so many accesses of vector memory are outstanding, on chips of WaitForm::GFX9, which count
/// loads and stores alike.
void waitForVector(mlir::OpBuilder &builder, mlir::Location loc, int64_t vector);
/// No instruction: the code generator moves no read of shared memory across it.
void keepReads(mlir::OpBuilder &builder, mlir::Location loc);

} // namespace kiln::amdgcn

#endif // KILN_LIB_TARGET_AMDGPU_COUNTERS_H
