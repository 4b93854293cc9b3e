// How lanes of a wave exchange registers.
#ifndef KILN_LIB_TARGET_AMDGPU_SHUFFLES_H
#define KILN_LIB_TARGET_AMDGPU_SHUFFLES_H

#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/IR/PatternMatch.h"

namespace kiln::amdgcn {

/// gpu.shuffle by the means that the chip has.
void populateShufflePatterns(const mlir::LLVMTypeConverter &converter,
                             mlir::RewritePatternSet &patterns, llvm::StringRef chip);

} // namespace kiln::amdgcn

#endif // KILN_LIB_TARGET_AMDGPU_SHUFFLES_H
