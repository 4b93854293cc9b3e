// An op on scalars or on a vector of rank 1 as calls of a function of one element.
#ifndef KILN_LIB_TARGET_COMMON_ELEMENTCALLS_H
#define KILN_LIB_TARGET_COMMON_ELEMENTCALLS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
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

} // namespace kiln

#endif // KILN_LIB_TARGET_COMMON_ELEMENTCALLS_H
