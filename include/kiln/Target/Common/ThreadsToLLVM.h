// From the program of one thread to the LLVM dialect, for targets that share everything but how
// they name threads and barriers and which functions their code generators know.
#ifndef KILN_TARGET_COMMON_THREADSTOLLVM_H
#define KILN_TARGET_COMMON_THREADSTOLLVM_H

#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"
#include <array>
#include <functional>

namespace kiln {

/// What a target adds.
struct ThreadsToLLVM {
  /// The dialect of the target's own instructions, which are what they should be already.
  llvm::StringRef dialect;
  /// Whether the code generator computes this f32 function well by itself, by the name of its
  /// op; others become polynomials.
  std::function<bool(llvm::StringRef)> isNativeMath;
  /// Rewrites of math that the target has better ways for, before polynomials.
  std::function<void(mlir::RewritePatternSet &)> addMathPatterns;
  /// Conversions of the gpu dialect.
  std::function<void(const mlir::LLVMTypeConverter &, mlir::RewritePatternSet &)> addPatterns;
  /// Makes a kernel of a function that so many threads run.
  std::function<void(mlir::LLVM::LLVMFuncOp, int32_t threads)> markKernel;
  /// Whether shared memory has its size in the code; a launch says it otherwise.
  bool sharedHasSize = false;
  /// What the target calls each of `kScopeNames`.
  std::array<llvm::StringLiteral, 4> scopes = {"", "", "", ""};
};

/// Converts all that is in the module.
mlir::LogicalResult convertThreadsToLLVM(mlir::ModuleOp module, const ThreadsToLLVM &target);

/// gpu.thread_id and its kin: one register of the target for each dimension.
template <typename Op, typename X, typename Y, typename Z>
struct ConvertIndex : mlir::ConvertOpToLLVMPattern<Op> {
  using mlir::ConvertOpToLLVMPattern<Op>::ConvertOpToLLVMPattern;
  mlir::LogicalResult matchAndRewrite(Op op, typename Op::Adaptor,
                                      mlir::ConversionPatternRewriter &rewriter) const override {
    mlir::Type i32 = rewriter.getI32Type();
    mlir::Value id;
    switch (op.getDimension()) {
    case mlir::gpu::Dimension::x:
      id = X::create(rewriter, op.getLoc(), i32);
      break;
    case mlir::gpu::Dimension::y:
      id = Y::create(rewriter, op.getLoc(), i32);
      break;
    case mlir::gpu::Dimension::z:
      id = Z::create(rewriter, op.getLoc(), i32);
      break;
    }
    rewriter.replaceOpWithNewOp<mlir::LLVM::ZExtOp>(op, rewriter.getI64Type(), id);
    return mlir::success();
  }
};

} // namespace kiln

#endif // KILN_TARGET_COMMON_THREADSTOLLVM_H
