// Conversions to bf16, which chips round once and LLVM's code for the host rounds to f32 before.
#ifndef KILN_LIB_TARGET_EMULATED_ROUNDONCE_H
#define KILN_LIB_TARGET_EMULATED_ROUNDONCE_H

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstrTypes.h"

namespace kiln::emulated {

/// The same rounded once; null for any other conversion, and for those that f32 can be on the way
/// of.
llvm::Value *roundOnce(llvm::IRBuilder<> &builder, llvm::CastInst &cast);

} // namespace kiln::emulated

#endif // KILN_LIB_TARGET_EMULATED_ROUNDONCE_H
