// A product with some of its extents grown: whether an instruction can make it, and by how much
// work.
#ifndef KILN_LIB_LAYOUT_TRANSFORMS_PRODUCTCANDIDATE_H
#define KILN_LIB_LAYOUT_TRANSFORMS_PRODUCTCANDIDATE_H

#include "kiln/Dialect/Tile/IR/Tile.h"
#include "kiln/Layout/Transforms/AsyncAtomInterfaces.h"
#include "kiln/Layout/Transforms/Layouts.h"
#include "kiln/Target/TargetInterface.h"
#include "llvm/ADT/DenseSet.h"
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

/// The values that become parts if a product is cut along k.
void addCutValues(tile::DotOp dot, llvm::DenseSet<mlir::Value> &values);
/// Makes a product as a sum of products of the parts of k that its `tile.extents` says, each with
/// its own.
void cutProduct(tile::DotOp dot);

/// The instruction that an author has decided, or named, for an op; null if there is none.
mlir::Attribute getDecidedAtom(mlir::Operation *op, TargetInterface target);
/// The same, if it is an engine.
EngineAtomInterface getDecidedEngine(mlir::Operation *access, TargetInterface target);
/// What a target has for a dot, were it of these extents: asked of one that stands in its place.
mlir::Attribute askOfExtents(tile::DotOp dot, std::array<int64_t, 3> extents,
                             llvm::function_ref<mlir::Attribute(tile::DotOp)> choose);
/// Whether products that run on beside their warps, by their atoms, are all that reads a tile: from
/// the buffer that it is brought to, where windows of it are as good as parts.
bool isReadInWindows(mlir::Value tile, TargetInterface target);

/// How many warps share out a kernel's products, if these are made by single ones.
int64_t countSingleWarps(tile::KernelOp kernel, TargetInterface target);
/// Whether instructions that nobody has decided may be ones that run on beside their warps.
bool mayRunBeside(tile::KernelOp kernel);

/// What keeps an instruction from making a product of some extents.
enum class ProductLimit { None, Instruction, Copies, Multiples, Sum, Operands, Registers, Cut };

/// A product with some of its extents grown.
struct ProductCandidate {
  ProductCandidate(tile::DotOp dot, TargetInterface target, OpenProducts open, int64_t warps);

  tile::DotOp dot;
  TargetInterface target;
  OpenProducts open;
  /// Whether its instruction is the author's.
  bool isDecided;
  int64_t warps, copies;
  int64_t m, n, k;
  /// Which dimension copies share out, -1: none; and how many warps, of those that make products
  /// each by itself, have something of their own to make.
  int dim = -1;
  int64_t workers = 1;
  /// Into which parts of k it had best be cut, or is if that is decided; none if it is one.
  llvm::SmallVector<int64_t> pieces = {};
  bool hasDecidedPieces = false;
  /// The instruction that was asked last, if there is one, and what kept it from being it.
  mlir::Attribute atom;
  ProductLimit limit = ProductLimit::None;

  /// These, as `tile.extents` says them.
  void setExtents(llvm::ArrayRef<int64_t> decided);
  /// Whether there is an instruction for it that can make these extents.
  bool isMade();
  /// What was expected of them, if it cannot.
  std::string describeLimit() const;
  /// What all multiply together, or each of those that work by themselves.
  int64_t getWork() const { return m * n * k / workers; }

private:
  int64_t getOwn(int of, int64_t extent) const { return dim == of ? extent / copies : extent; }
  bool isRead(AsyncMmaAtomInterface async, unsigned operand, int64_t depth);
  bool isWhole() const { return !hasDecidedPieces || pieces.empty(); }
  bool isCut(int64_t least, llvm::function_ref<bool(int64_t)> isMade);
  bool isLimitedBy(ProductLimit by);
  bool isMadeBeside(AsyncMmaAtomInterface async);
  bool isMadeByWarps(WarpMmaAtomInterface atom);
};

} // namespace kiln

#endif // KILN_LIB_LAYOUT_TRANSFORMS_PRODUCTCANDIDATE_H
