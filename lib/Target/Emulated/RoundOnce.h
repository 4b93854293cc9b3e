// Sums of products that chips round once, and LLVM's code for the host rounds to f32 before.
#ifndef KILN_LIB_TARGET_EMULATED_ROUNDONCE_H
#define KILN_LIB_TARGET_EMULATED_ROUNDONCE_H

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"

namespace kiln::emulated {

/// `llvm.fma` of f16 or bf16, rounded once; null for any other call.
llvm::Value *roundOnce(llvm::IRBuilder<> &builder, llvm::CallInst &call);

} // namespace kiln::emulated

#endif // KILN_LIB_TARGET_EMULATED_ROUNDONCE_H
