// What a kernel computes along the longest dimension of its tiles, and in how many turns.
//
// A tile that is cut into chunks along a dimension is computed by loops over the chunks. What
// combines all elements along the dimension ends a loop: who uses the result needs another one
// behind it. So ops are sorted into phases, one loop each:
//
//   phase 0   load, maximum                         | as many loops as reductions follow
//   phase 1   load, subtract, exp, sum              | one another, and one
//   phase 2   load, subtract, exp, divide, store
//
// Nothing is carried from one phase to the next but what has no such dimension. What a phase uses
// it computes again, down to the loads; what is stored is stored in the last phase.
// docs/rationale/long-rows.md says why.
#ifndef KILN_LIB_LAYOUT_TRANSFORMS_CHUNKPHASES_H
#define KILN_LIB_LAYOUT_TRANSFORMS_CHUNKPHASES_H

#include "kiln/Dialect/Tile/IR/Tile.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <optional>
#include <string>

namespace kiln {

class ChunkPhases {
public:
  /// What stands in the way of cutting, and why.
  struct Obstacle {
    mlir::Operation *op;
    std::string why;
  };

  explicit ChunkPhases(tile::KernelOp kernel);

  const std::optional<Obstacle> &getObstacle() const { return obstacle; }
  /// The first access that would no longer see what it did, if these loads are kept by the first
  /// phase that uses them and all others are made again by each.
  std::optional<Obstacle> findConflict(llvm::function_ref<bool(tile::LoadOp)> isKept) const;

  /// The longest extent of a tensor; 1 if there is none of several elements.
  int64_t getExtent() const { return extent; }
  /// The dimension of a tensor that has it; none of any other value.
  std::optional<unsigned> findDim(mlir::Value value) const;
  /// The type of a chunk of a tensor.
  mlir::RankedTensorType getChunkType(mlir::Value tensor, int64_t length) const;
  /// Whether an op combines all elements along the dimension.
  bool isAlong(mlir::Operation *op) const;

  /// Where all that is cut stands.
  mlir::Block *getBlock() const { return block; }
  unsigned countPhases() const { return last + 1; }
  /// All ops of the block that have cut operands or results, in order.
  llvm::ArrayRef<mlir::Operation *> getCut() const { return cut; }
  /// Those that a phase runs, loads first: what it stores and what it combines along the dimension,
  /// and what that is made of.
  llvm::SmallVector<mlir::Operation *> getOps(unsigned phase) const;
  /// Of an op that is not cut, the phase in front of which it can run; as many as there are if it
  /// comes behind all.
  unsigned getLevel(mlir::Operation *op) const { return std::min(levels.lookup(op), last + 1); }
  bool isUsed(mlir::Operation *op) const { return uses.contains(op); }
  /// Whether a value is there in front of all phases.
  bool isInFront(mlir::Value value) const {
    mlir::Operation *maker = value.getDefiningOp();
    return !maker || maker->getBlock() != block || levels.lookup(maker) == 0;
  }
  /// The first and the last phase that use what an op gives.
  std::pair<unsigned, unsigned> getUses(mlir::Operation *op) const { return uses.lookup(op); }

private:
  void findExtent(tile::KernelOp kernel);
  void findCut(tile::KernelOp kernel);
  void findLevels();
  void findUses();
  std::optional<std::string> whyWhole(mlir::Operation *op) const;
  /// What a phase is for.
  bool isEnd(mlir::Operation *op, unsigned phase) const;

  int64_t extent = 1;
  mlir::Block *block = nullptr;
  unsigned last = 0;
  llvm::SmallVector<mlir::Operation *> cut;
  llvm::DenseMap<mlir::Operation *, unsigned> levels;
  llvm::DenseMap<mlir::Operation *, std::pair<unsigned, unsigned>> uses;
  std::optional<Obstacle> obstacle;
};

/// Whether a region that combines scalars can combine tiles, element by element.
bool canCombineTiles(mlir::Block &combiner);

} // namespace kiln

#endif // KILN_LIB_LAYOUT_TRANSFORMS_CHUNKPHASES_H
