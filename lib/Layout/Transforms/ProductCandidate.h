// A product with some of its extents grown: whether an instruction can make it, and by how much
// work.
#ifndef KILN_LIB_LAYOUT_TRANSFORMS_PRODUCTCANDIDATE_H
#define KILN_LIB_LAYOUT_TRANSFORMS_PRODUCTCANDIDATE_H

#include "kiln/Dialect/Tile/IR/Tile.h"
#include "kiln/Layout/Transforms/AsyncAtomInterfaces.h"
#include "kiln/Layout/Transforms/Layouts.h"
#include "kiln/Target/TargetInterface.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace kiln {

/// Which instructions of the target are thought of for a product that nobody has decided.
enum class OpenProducts {
  Grown,  ///< none
  Warps,  ///< those of one warp, whoever decides them
  Beside, ///< those that run on beside their warps
};

/// What a product's operand is, if it is a loaded tile, or one turned or without dimensions of one
/// element.
struct OperandTile {
  OperandTile(tile::DotOp dot, unsigned operand);
  /// Whether nothing is decided of it, and nothing else uses it.
  bool isOwn();

  mlir::Value value;
  tile::LoadOp load; ///< null if it is none
  /// From the operand to the load, each with the dimension of its result that is k.
  llvm::SmallVector<std::pair<mlir::Operation *, unsigned>, 2> views;
  /// Whether it is read the other way round than it is loaded.
  bool isTransposed;
  /// Which dimension of the load is k.
  unsigned dimK;
};

/// Makes a product as a sum of products of parts of k.
void cutProduct(tile::DotOp dot, llvm::ArrayRef<int64_t> pieces);

/// The instruction that an author has decided, or named, for an op; null if there is none.
mlir::Attribute getDecidedAtom(mlir::Operation *op, TargetInterface target);
/// The same, if it is an engine.
EngineAtomInterface getDecidedEngine(mlir::Operation *access, TargetInterface target);

/// A product with some of its extents grown.
struct ProductCandidate {
  tile::DotOp dot;
  TargetInterface target;
  OpenProducts open;
  /// Whether its instruction is the author's.
  bool isDecided;
  int64_t warps = 1, copies = 1;
  int64_t m = 1, n = 1, k = 1;
  /// Which dimension copies share out, -1: none; and how many warps, of those that make products
  /// each by itself, have something of their own to make.
  int dim = -1;
  int64_t workers = 1;
  /// Into which parts of k it had best be cut; none if it is one.
  llvm::SmallVector<int64_t> pieces = {};

  /// Whether there is an instruction for it that can make these extents.
  bool isMade();
  /// What all multiply together, or each of those that work by themselves.
  int64_t getWork() const { return m * n * k / workers; }

private:
  int64_t getOwn(int of, int64_t extent) const { return dim == of ? extent / copies : extent; }
  bool isRead(AsyncMmaAtomInterface async, unsigned operand, int64_t depth);
  bool isCut(int64_t least, llvm::function_ref<bool(int64_t)> isMade);
  bool isMadeBeside(AsyncMmaAtomInterface async);
  bool isMadeByWarps(WarpMmaAtomInterface atom);
};

} // namespace kiln

#endif // KILN_LIB_LAYOUT_TRANSFORMS_PRODUCTCANDIDATE_H
