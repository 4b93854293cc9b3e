// Chips that take subnormals of f32 for zeros.
#ifndef KILN_LIB_TARGET_EMULATED_SUBNORMALS_H
#define KILN_LIB_TARGET_EMULATED_SUBNORMALS_H

#include "llvm/IR/IRBuilder.h"

namespace kiln::emulated {

/// Of f32, subnormals as zeros of their sign; any other type as it is.
llvm::Value *flush(llvm::IRBuilder<> &builder, llvm::Value *value);

/// In a function that is compiled so, operands and results of the instructions that NVIDIA's chips
/// have with `.ftz`.
void flushSubnormals(llvm::Function &function);

} // namespace kiln::emulated

#endif // KILN_LIB_TARGET_EMULATED_SUBNORMALS_H
