// What the models of DistributionInterface have in common.
#ifndef KILN_LIB_LAYOUT_TRANSFORMS_DISTRIBUTIONMODELS_H
#define KILN_LIB_LAYOUT_TRANSFORMS_DISTRIBUTIONMODELS_H

#include "LayoutInference.h"
#include "kiln/Layout/Transforms/DistributionInterface.h"

namespace kiln::distribution {

using Entry = LayoutInference::Entry;
using Misfit = std::optional<ShareMisfit>;

bool isTensor(mlir::Value value);
llvm::ArrayRef<int64_t> shapeOf(mlir::Value value);
/// Operands and results.
llvm::SmallVector<mlir::Value> getValues(mlir::Operation *op);

/// All results as the strongest operand is. What is made of free values alone is, if it costs no
/// more than they do, made again as well as they are.
void followOperands(mlir::Operation *op, LayoutInference &inference,
                    LayoutInference::Strength least);
void makeBlocked(mlir::Operation *op, LayoutInference &inference,
                 LayoutInference::Strength strength);
LinearLayout getHere(mlir::OpOperand &operand, const LayoutInference &inference);
LinearLayout getResults(mlir::OpOperand &operand, const LayoutInference &inference);

Misfit isAlike(mlir::Operation *op, const CopyShares &shares);
/// What varies by place: no copy has what another needs.
Misfit isWhole(mlir::Operation *op, const CopyShares &shares);
Misfit require(bool fits, mlir::Value value);

/// Element by element, which others override in part.
template <typename Model, typename OpTy, LayoutInference::Strength least = LayoutInference::Plain>
struct Elements : DistributionInterface::ExternalModel<Model, OpTy> {
  void inferLayouts(mlir::Operation *op, LayoutInference &inference) const {
    followOperands(op, inference, least);
  }
  LinearLayout getWantedLayout(mlir::Operation *, mlir::OpOperand &operand,
                               const LayoutInference &inference) const {
    return getResults(operand, inference);
  }
  Misfit findMisfit(mlir::Operation *op, const CopyShares &shares) const {
    return isAlike(op, shares);
  }
};

/// Elements change their places: results are made anew, from operands as they are.
template <typename Model, typename OpTy>
struct Moves : Elements<Model, OpTy> {
  void inferLayouts(mlir::Operation *op, LayoutInference &inference) const {
    makeBlocked(op, inference, LayoutInference::Plain);
  }
  LinearLayout getWantedLayout(mlir::Operation *, mlir::OpOperand &operand,
                               const LayoutInference &inference) const {
    return getHere(operand, inference);
  }
  Misfit findMisfit(mlir::Operation *op, const CopyShares &shares) const {
    return isWhole(op, shares);
  }
};

/// Gives theirs to ops that change shapes or move elements along an axis.
void attachMoves(mlir::MLIRContext *context);

} // namespace kiln::distribution

#endif // KILN_LIB_LAYOUT_TRANSFORMS_DISTRIBUTIONMODELS_H
