// Which extents that are no powers of two tensors keep.
#ifndef KILN_LIB_LAYOUT_TRANSFORMS_EXACTEXTENTS_H
#define KILN_LIB_LAYOUT_TRANSFORMS_EXACTEXTENTS_H

#include "ProductCandidate.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/IntEqClasses.h"
#include "llvm/ADT/SmallVector.h"

namespace kiln {

/// An extent is exact if a product has it that its instruction can make as it is, and all else that
/// has it can be made so as well. So dimensions of values are told apart into classes: ops that
/// work element by element, loops and products give the dimensions of their operands and results
/// one extent. An op that works along a dimension, or moves elements, refuses the class. Then each
/// product is asked which of its classes it can keep, until none refuses more.
///
/// By which instruction a product is made is the author's decision, or one that comes later. Of the
/// latter it must be said which instructions of the target may be thought of.
class ExactExtents {
public:
  using Open = OpenProducts;

  /// Nothing is exact without a target.
  ExactExtents(tile::KernelOp kernel, TargetInterface target, Open open);

  bool isExact(mlir::Value value, unsigned dim) const;
  /// How many extents of values are.
  size_t countExact() const;
  /// Whether an instruction that was thought of runs on beside its warps.
  bool thinksOfBeside() const { return hasBeside; }
  /// The parts of k that a product had best be cut into, so that others of its extents are exact;
  /// none if it is one.
  llvm::ArrayRef<int64_t> getPieces(tile::DotOp dot) const;
  TargetInterface getTarget() const { return target; }

private:
  using Dim = std::pair<mlir::Value, unsigned>;

  void connect(mlir::Operation *op);
  void join(mlir::Value left, unsigned leftDim, mlir::Value right, unsigned rightDim);
  void joinAll(mlir::ValueRange values);
  void joinShapes(mlir::Value left, mlir::Value right);
  void connectDot(tile::DotOp dot);
  bool connectAccess(mlir::Operation *op);
  void refuse(mlir::Operation *op);
  void refuse(mlir::Value value, unsigned dim);
  void refuse(mlir::Value value);

  bool decide(tile::DotOp dot);
  bool decideRegisters(mlir::Value value);

  TargetInterface target;
  Open open;
  bool hasBeside = false;
  /// Of the kernel, if its products are made by single warps.
  int64_t warps = 1;
  llvm::DenseMap<Dim, unsigned> numbers;
  llvm::IntEqClasses classes;
  llvm::SmallVector<Dim> refused;
  /// By class: whether it may be exact, a product has it, and copies of a role count its odd
  /// factor.
  llvm::SmallVector<bool> may, multiplied, shared;
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<int64_t>> pieces;
  /// The operands that become parts.
  llvm::DenseSet<mlir::Value> cut;
};

} // namespace kiln

#endif // KILN_LIB_LAYOUT_TRANSFORMS_EXACTEXTENTS_H
