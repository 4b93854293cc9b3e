// Between which numbers the integers of a kernel lie: MLIR's range analysis, told of the tile
// dialect's ops and of the facts about arguments.
#ifndef KILN_DIALECT_TILE_TRANSFORMS_INDEXRANGES_H
#define KILN_DIALECT_TILE_TRANSFORMS_INDEXRANGES_H

#include "kiln/Dialect/Tile/IR/Tile.h"
#include "mlir/Analysis/DataFlow/IntegerRangeAnalysis.h"
#include "mlir/Analysis/DataFlowFramework.h"

namespace kiln::tile {

class IndexRangeAnalysis : public mlir::dataflow::IntegerRangeAnalysis {
public:
  using IntegerRangeAnalysis::IntegerRangeAnalysis;
  mlir::LogicalResult
  visitOperation(mlir::Operation *op,
                 llvm::ArrayRef<const mlir::dataflow::IntegerValueRangeLattice *> operands,
                 llvm::ArrayRef<mlir::dataflow::IntegerValueRangeLattice *> results) override;

private:
  /// MLIR's analysis and the ranges that this one adds.
  mlir::LogicalResult
  visitTransfer(mlir::Operation *op,
                llvm::ArrayRef<const mlir::dataflow::IntegerValueRangeLattice *> operands,
                llvm::ArrayRef<mlir::dataflow::IntegerValueRangeLattice *> results);

  /// How often each value's range has grown.
  llvm::DenseMap<mlir::Value, unsigned> growths;
};

/// Loads the analysis into a solver and runs it over a kernel.
mlir::LogicalResult findIndexRanges(mlir::DataFlowSolver &solver, KernelOp kernel);

/// The least and the greatest value of a signed integer or of a tile of them.
struct SignedRange {
  int64_t least, greatest;
  bool isWithin(int64_t low, int64_t high) const { return least >= low && greatest <= high; }
};
std::optional<SignedRange> getSignedRange(const mlir::DataFlowSolver &solver, mlir::Value value);

} // namespace kiln::tile

#endif // KILN_DIALECT_TILE_TRANSFORMS_INDEXRANGES_H
