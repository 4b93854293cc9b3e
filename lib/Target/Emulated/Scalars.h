// Instructions of one thread that compute a scalar: those that libraries of functions are made of.
#ifndef KILN_LIB_TARGET_EMULATED_SCALARS_H
#define KILN_LIB_TARGET_EMULATED_SCALARS_H

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"

namespace kiln::emulated {

/// The same by the host's arithmetic; null for any other instruction. Approximations are the exact
/// results rounded: an emulated chip errs less than a real one.
llvm::Value *computeScalar(llvm::IRBuilder<> &builder, llvm::CallInst &call);

/// A division of f32 that NVIDIA's chips may approximate; null for any other.
llvm::Value *computeApproximateQuotient(llvm::IRBuilder<> &builder, llvm::BinaryOperator &division);

/// `llvm.maxnum` and `llvm.minnum` as chips have them; null for any other call.
llvm::Value *computeExtreme(llvm::IRBuilder<> &builder, llvm::CallInst &call);

/// Replaces an atomic sum or extreme of f16 or bf16. LLVM's code for the host compares words that
/// went through registers of f32, which change signalling NaNs: it would try for ever.
void updateNarrowFloat(llvm::IRBuilder<> &builder, llvm::AtomicRMWInst &update);

} // namespace kiln::emulated

#endif // KILN_LIB_TARGET_EMULATED_SCALARS_H
