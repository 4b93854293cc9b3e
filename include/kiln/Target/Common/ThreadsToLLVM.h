// From the program of one thread to the LLVM dialect, for targets that share everything but how
// they name threads and barriers and which functions their code generators know.
#ifndef KILN_TARGET_COMMON_THREADSTOLLVM_H
#define KILN_TARGET_COMMON_THREADSTOLLVM_H

#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"
#include <functional>

namespace kiln {

/// What a target adds.
struct ThreadsToLLVM {
  /// Whether the code generator computes this f32 function well by itself, by the name of its
  /// op; others become polynomials.
  std::function<bool(llvm::StringRef)> isNativeMath;
  /// Rewrites of math that the target has better ways for, before polynomials.
  std::function<void(mlir::RewritePatternSet &)> addMathPatterns;
  /// Conversions of the gpu dialect.
  std::function<void(const mlir::LLVMTypeConverter &, mlir::RewritePatternSet &)> addPatterns;
};

/// Converts all that is in the module.
mlir::LogicalResult convertThreadsToLLVM(mlir::ModuleOp module, const ThreadsToLLVM &target);

} // namespace kiln

#endif // KILN_TARGET_COMMON_THREADSTOLLVM_H
