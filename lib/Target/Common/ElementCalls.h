// Functions of mathematics by their names, and an op on scalars or on a vector of rank 1 as calls
// of a function of one element.
#ifndef KILN_LIB_TARGET_COMMON_ELEMENTCALLS_H
#define KILN_LIB_TARGET_COMMON_ELEMENTCALLS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/PatternMatch.h"

namespace kiln {

/// Whether `replaceByCalls` takes the op.
inline bool isOfElements(mlir::Operation *op) {
  auto vector = llvm::dyn_cast<mlir::VectorType>(op->getResult(0).getType());
  return !vector || vector.getRank() == 1;
}

/// Calls the function once, or once an element, in the place of an op with one result.
inline void replaceByCalls(mlir::Operation *op, mlir::func::FuncOp function,
                           mlir::PatternRewriter &rewriter) {
  mlir::Location loc = op->getLoc();
  auto call = [&](mlir::ValueRange operands) {
    return mlir::func::CallOp::create(rewriter, loc, function, operands).getResult(0);
  };
  auto vector = llvm::dyn_cast<mlir::VectorType>(op->getResult(0).getType());
  if (!vector) {
    rewriter.replaceOp(op, call(op->getOperands()));
    return;
  }
  llvm::SmallVector<mlir::Value> results;
  for (int64_t i = 0; i < vector.getNumElements(); ++i) {
    llvm::SmallVector<mlir::Value> operands;
    for (mlir::Value operand : op->getOperands())
      operands.push_back(mlir::vector::ExtractOp::create(rewriter, loc, operand, i));
    results.push_back(call(operands));
  }
  rewriter.replaceOpWithNewOp<mlir::vector::FromElementsOp>(op, vector, results);
}

/// Calls visit with each op that libraries have a function for, and the function's name in C.
template <typename Visitor>
void forEachFunction(Visitor visit) {
  visit(mlir::math::AcosOp(), "acos");
  visit(mlir::math::AcoshOp(), "acosh");
  visit(mlir::math::AsinOp(), "asin");
  visit(mlir::math::AsinhOp(), "asinh");
  visit(mlir::math::AtanOp(), "atan");
  visit(mlir::math::Atan2Op(), "atan2");
  visit(mlir::math::AtanhOp(), "atanh");
  visit(mlir::math::CbrtOp(), "cbrt");
  visit(mlir::math::CosOp(), "cos");
  visit(mlir::math::CoshOp(), "cosh");
  visit(mlir::math::ErfOp(), "erf");
  visit(mlir::math::ErfcOp(), "erfc");
  visit(mlir::math::ExpOp(), "exp");
  visit(mlir::math::Exp2Op(), "exp2");
  visit(mlir::math::ExpM1Op(), "expm1");
  visit(mlir::math::LogOp(), "log");
  visit(mlir::math::Log10Op(), "log10");
  visit(mlir::math::Log1pOp(), "log1p");
  visit(mlir::math::Log2Op(), "log2");
  visit(mlir::math::PowFOp(), "pow");
  visit(mlir::math::RsqrtOp(), "rsqrt");
  visit(mlir::math::SinOp(), "sin");
  visit(mlir::math::SinhOp(), "sinh");
  visit(mlir::math::TanOp(), "tan");
  visit(mlir::math::TanhOp(), "tanh");
}

} // namespace kiln

#endif // KILN_LIB_TARGET_COMMON_ELEMENTCALLS_H
