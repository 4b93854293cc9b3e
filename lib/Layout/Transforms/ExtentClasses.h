// Which dimensions of a kernel's tensors have one extent, and which ops keep that from being exact.
#ifndef KILN_LIB_LAYOUT_TRANSFORMS_EXTENTCLASSES_H
#define KILN_LIB_LAYOUT_TRANSFORMS_EXTENTCLASSES_H

#include "kiln/Dialect/Tile/IR/Tile.h"
#include "kiln/Target/TargetInterface.h"
#include "llvm/ADT/IntEqClasses.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/ADT/SmallVector.h"
#include <array>

namespace kiln {

using ExtentDim = std::pair<mlir::Value, unsigned>;
/// A product's rows, its columns and its inner dimension.
using ProductDims = std::array<ExtentDim, 3>;
ProductDims getProductDims(tile::DotOp dot);

/// Dimensions of several elements, told apart into classes: ops that work element by element, loops
/// and products give the dimensions of their operands and results one extent. Where that is no
/// power of two, an op that works along a dimension, or moves elements, refuses the class: its
/// extent grows.
class ExtentClasses {
public:
  ExtentClasses(tile::KernelOp kernel, TargetInterface target);

  unsigned size() const { return refusing.size(); }
  /// The class of a dimension; none if its extent is a power of two.
  std::optional<unsigned> find(ExtentDim dim) const;
  /// The same, whatever its extent; none if that is 1.
  std::optional<unsigned> findAny(ExtentDim dim) const;
  /// The first op that refuses a class; null if none does.
  mlir::Operation *getRefusing(unsigned of) const { return refusing[of]; }
  /// All of them, with a number each.
  const llvm::MapVector<ExtentDim, unsigned> &getDims() const { return numbers; }
  /// The classes of a value's dimensions that one part of a place counts by its highest bits,
  /// though these count one alone: of a tile in registers exact ones that copies of its role do not
  /// share out; of one in a buffer all exact ones, and those that copies share out, since each
  /// reads a part of it, unless products read windows.
  llvm::SmallVector<unsigned, 2> findCounted(mlir::Value value,
                                             llvm::function_ref<bool(unsigned)> isExact,
                                             const llvm::SmallBitVector &ofCopies) const;

private:
  bool isWrittenInParts(tile::LoadOp load) const;
  bool isSharedOut(mlir::Value value, const llvm::SmallBitVector &ofCopies) const;
  void connect(mlir::Operation *op);
  void join(mlir::Value left, unsigned leftDim, mlir::Value right, unsigned rightDim);
  void joinAll(mlir::ValueRange values);
  void joinShapes(mlir::Value left, mlir::Value right);
  void connectDot(tile::DotOp dot);
  bool connectAccess(mlir::Operation *op);
  void refuse(mlir::Operation *op);

  TargetInterface target;
  llvm::MapVector<ExtentDim, unsigned> numbers;
  llvm::IntEqClasses classes;
  llvm::SmallVector<std::pair<unsigned, mlir::Operation *>> refused;
  llvm::SmallVector<mlir::Operation *> refusing;
};

} // namespace kiln

#endif // KILN_LIB_LAYOUT_TRANSFORMS_EXTENTCLASSES_H
