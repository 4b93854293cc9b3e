// Which extents that are no powers of two tensors keep.
#ifndef KILN_LIB_LAYOUT_TRANSFORMS_EXACTEXTENTS_H
#define KILN_LIB_LAYOUT_TRANSFORMS_EXACTEXTENTS_H

#include "kiln/Dialect/Tile/IR/Tile.h"
#include "kiln/Layout/Transforms/AsyncAtomInterfaces.h"
#include "kiln/Target/TargetInterface.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/IntEqClasses.h"
#include "llvm/ADT/SmallVector.h"

namespace kiln {

/// An extent is exact if a product has it that its instruction can make as it is, and all else that
/// has it can be made so as well. So dimensions of values are told apart into classes: ops that
/// work element by element, loops and products give the dimensions of their operands and results
/// one extent. An op that works along a dimension, or moves elements, refuses the class. Then each
/// product is asked which of its classes it can keep, until none refuses more.
class ExactExtents {
public:
  /// Nothing is exact without a target.
  ExactExtents(tile::KernelOp kernel, TargetInterface target);

  bool isExact(mlir::Value value, unsigned dim) const;
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
  AsyncMmaAtomInterface getAtom(tile::DotOp dot) const;

  TargetInterface target;
  llvm::DenseMap<Dim, unsigned> numbers;
  llvm::IntEqClasses classes;
  llvm::SmallVector<Dim> refused;
  /// By class: whether it may be exact, a product has it, and copies of a role count its odd
  /// factor.
  llvm::SmallVector<bool> may, multiplied, shared;
};

/// The instruction that an author has decided, or named, for an op; null if there is none.
mlir::Attribute getDecidedAtom(mlir::Operation *op, TargetInterface target);

} // namespace kiln

#endif // KILN_LIB_LAYOUT_TRANSFORMS_EXACTEXTENTS_H
