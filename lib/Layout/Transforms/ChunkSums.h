// A combination of all elements along a dimension, as a loop over chunks makes it.
//
// Where the order of elements does not matter, what the loop carries is a tile as large as a chunk,
// to which each chunk is added element by element; the elements of that tile are combined behind
// the loop, once. A position that wins is carried beside its element, and of equals the lower
// position wins behind the loop. All other combinations are made of each chunk, and combined with
// that of all chunks before it.
#ifndef KILN_LIB_LAYOUT_TRANSFORMS_CHUNKSUMS_H
#define KILN_LIB_LAYOUT_TRANSFORMS_CHUNKSUMS_H

#include "ChunkPhases.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

namespace kiln {

class ChunkSum {
public:
  /// Of a `tile.reduce` or `tile.arg_reduce` along the dimension. What it carries stands behind so
  /// many values that the loop carries.
  ChunkSum(mlir::Operation *op, const ChunkPhases &phases, int64_t length, unsigned place);

  mlir::Operation *getOp() const { return op; }
  /// What the loop begins with.
  llvm::SmallVector<mlir::Value> begin(mlir::OpBuilder &builder) const;
  /// Adds a chunk to the loop's values: `tiles` says what has become of the op's operands. Where
  /// `isFirst` holds there is nothing to add to; it is null of what never comes first.
  void add(mlir::OpBuilder &builder, const mlir::IRMapping &tiles, mlir::Value at,
           mlir::Value isFirst, llvm::MutableArrayRef<mlir::Value> values) const;
  /// The op's results, of the loop's.
  llvm::SmallVector<mlir::Value> end(mlir::OpBuilder &builder, mlir::ValueRange loop) const;

private:
  enum class Kind { AnyOrder, Position, InOrder };

  mlir::Block &getCombiner() const { return op->getRegion(0).front(); }
  int64_t getAxis() const;

  mlir::Operation *op;
  Kind kind = Kind::AnyOrder;
  unsigned place;
  llvm::SmallVector<mlir::RankedTensorType> carried;
};

/// What a region that combines scalars makes of tiles, element by element.
llvm::SmallVector<mlir::Value> combineTiles(mlir::OpBuilder &builder, mlir::Block &combiner,
                                            mlir::ValueRange left, mlir::ValueRange right);

} // namespace kiln

#endif // KILN_LIB_LAYOUT_TRANSFORMS_CHUNKSUMS_H
