// How the values of a kernel's body depend on the number of the program along x.
#ifndef KILN_LIB_SCHEDULE_BATCH_VARIATION_H
#define KILN_LIB_SCHEDULE_BATCH_VARIATION_H

#include "kiln/Dialect/Tile/IR/Tile.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include <string>

namespace kiln {

/// A value *varies* if it may be another one in the next program. An integer that varies as a
/// multiple of the program's number plus what does not vary has a *step*.
class Variation {
public:
  explicit Variation(tile::KernelOp kernel);

  bool varies(mlir::Value value) const { return varying.contains(value); }
  bool anyVaries(mlir::ValueRange values) const {
    return llvm::any_of(values, [&](mlir::Value value) { return varies(value); });
  }
  /// By how much an integer is greater in the next program.
  std::optional<int64_t> getStep(mlir::Value value) const;

private:
  bool visit(mlir::Block &block);
  bool visit(mlir::Operation &op);
  bool add(mlir::Value value) { return varying.insert(value).second; }

  llvm::DenseSet<mlir::Value> varying;
  mutable llvm::DenseMap<mlir::Value, std::optional<int64_t>> steps;
};

/// The one dimension of a view along which the programs' tiles follow one another without a gap: an
/// access to it is one of all their tiles at once. Nothing if they lie otherwise.
std::optional<unsigned> findBatchedDim(const Variation &variation, mlir::ValueRange offsets,
                                       llvm::ArrayRef<int64_t> shape);

/// Why programs cannot run in step, and at which op.
struct BatchObstacle {
  mlir::Operation *op;
  std::string reason;
  /// What is decided of the op, if that is why.
  std::string decision = "";
};
/// Nothing if so many programs of the kernel can run as one.
std::optional<BatchObstacle> findBatchObstacle(tile::KernelOp kernel, const Variation &variation,
                                               int64_t programs);

} // namespace kiln

#endif // KILN_LIB_SCHEDULE_BATCH_VARIATION_H
