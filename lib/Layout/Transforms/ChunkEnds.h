// What loops over chunks need not do behind the end of what memory has.
//
// A row of 100,000 elements is loaded as a tile of 131,072, of which all that lies behind the row
// is padding. There each load gives the one value that pads it, and stores write nothing. So what
// is computed of them is the same value everywhere, if it hangs on no position, and a loop can end
// in front of it: of a maximum that value counts once, whatever its number is, and a sum takes it
// once if it is a zero, an infinity or no number, which any number of them add up to.
#ifndef KILN_LIB_LAYOUT_TRANSFORMS_CHUNKENDS_H
#define KILN_LIB_LAYOUT_TRANSFORMS_CHUNKENDS_H

#include "ChunkPhases.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

namespace kiln {

class ChunkEnds {
public:
  explicit ChunkEnds(const ChunkPhases &phases);

  /// Whether all phases may end where the padding begins.
  bool areKnown() const { return isKnown; }
  /// How many elements along the dimension lie in front of the padding of all tiles, at most the
  /// extent; an index, which is there in front of all phases.
  mlir::Value countElements(mlir::OpBuilder &builder, mlir::Location loc) const;
  /// What has become of the ops' results there, as tiles with one element along the dimension: of
  /// those that `sum` combines.
  mlir::IRMapping makePadding(mlir::OpBuilder &builder, mlir::Operation *sum) const;

private:
  /// What an element of a tile may be behind the end, and whether it hangs on its position.
  struct Element {
    unsigned kinds;
    bool varies = false;
  };
  Element find(mlir::Value value) const;
  Element follow(mlir::Operation *op) const;
  bool canEnd(mlir::Operation *op) const;
  bool isReachKnown(mlir::Operation *op) const;
  /// The number of which a mask is true in front alone; null if it is no such mask.
  mlir::Value findMasked(mlir::Operation *op) const;

  const ChunkPhases &phases;
  /// Those that phases use.
  llvm::SmallVector<mlir::Operation *> ops;
  llvm::DenseMap<mlir::Value, Element> elements;
  bool isKnown = true;
};

} // namespace kiln

#endif // KILN_LIB_LAYOUT_TRANSFORMS_CHUNKENDS_H
