// What may differ from program to program of a cluster.
#ifndef KILN_LIB_SCHEDULE_DIFFERENCES_H
#define KILN_LIB_SCHEDULE_DIFFERENCES_H

#include "kiln/Dialect/Tile/IR/Tile.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

namespace kiln {

/// What programs that differ along some axes alone may have different values of. What differs is
/// followed from the program's place through all that is computed of it.
class Differences {
public:
  Differences(tile::KernelOp kernel, llvm::ArrayRef<unsigned> axes);

  bool has(mlir::Value value) const { return values.contains(value); }
  bool hasAny(mlir::ValueRange range) const {
    return llvm::any_of(range, [&](mlir::Value value) { return has(value); });
  }
  /// Whether they may part at a loop or a condition.
  bool mayPart(mlir::Operation *op) const;

private:
  void add(mlir::Value value, bool differs) {
    if (differs)
      hasGrown |= values.insert(value).second;
  }
  void addAll(mlir::ValueRange to, mlir::ValueRange from, bool differs) {
    for (auto [value, source] : llvm::zip_equal(to, from))
      add(value, differs || has(source));
  }
  void visit(mlir::Operation *op);
  bool isWritten(mlir::Value view);

  tile::KernelOp kernel;
  llvm::ArrayRef<unsigned> axes;
  llvm::DenseSet<mlir::Value> values;
  bool hasGrown = false;
};

/// Whether all programs of a cluster along an axis load the same tile.
bool isSameAlong(tile::KernelOp kernel, tile::LoadOp load, unsigned axis);

/// An error at a load or a dot if programs may come to it more or less often than one another: at a
/// loop or a condition around it. `expected` says of whom, and why.
llvm::LogicalResult checkSteps(mlir::Operation *op, const Differences &differences,
                               llvm::StringRef expected);

} // namespace kiln

#endif // KILN_LIB_SCHEDULE_DIFFERENCES_H
