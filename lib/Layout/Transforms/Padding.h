// Tensors whose extents have grown to powers of two: what was there before, and what stands in the
// elements that were not.
#ifndef KILN_LIB_LAYOUT_TRANSFORMS_PADDING_H
#define KILN_LIB_LAYOUT_TRANSFORMS_PADDING_H

#include "kiln/Dialect/Tile/IR/Tile.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"

namespace kiln {

/// Each extent as the next power of two; a buffer's and a tensor's type, any other as it is.
mlir::Type getPaddedType(mlir::Type type);
bool isPadded(mlir::RankedTensorType original);

/// Makes what ops need that must not see padded elements.
class Padding {
public:
  explicit Padding(mlir::OpBuilder &builder) : builder(builder) {}

  /// The extents before, of a tensor that has grown; none if it has not.
  std::optional<llvm::ArrayRef<int64_t>> getExtents(mlir::Value value) const;
  void remember(mlir::Value value, mlir::RankedTensorType original) { originals[value] = original; }

  /// Which elements were there before, looking along these dimensions; null if all were. Of the
  /// padded shape.
  mlir::Value getValid(mlir::Value value, llvm::ArrayRef<unsigned> dims);
  mlir::Value getValid(mlir::Value value);
  /// `value` with other elements set to `fill`; itself if there are none, or if they are zero
  /// already and `fill` is.
  mlir::Value fill(mlir::Value value, mlir::Attribute fill, llvm::ArrayRef<unsigned> dims);
  mlir::Value fill(mlir::Value value, mlir::Attribute fill);

private:
  mlir::OpBuilder &builder;
  llvm::DenseMap<mlir::Value, mlir::RankedTensorType> originals;
  llvm::DenseMap<std::pair<mlir::Block *, mlir::Type>, mlir::Value> masks;
};

/// What combined with x gives x, for a reduction's result `index`; null if not known.
mlir::Attribute getIdentity(mlir::Block &combiner, unsigned index);

/// What no element sorts behind, in the order of `tile.sort`.
mlir::Attribute getLastKey(mlir::Type element, bool descending, bool isUnsigned);

/// Makes a reduction or scan skip elements that are not valid, whatever its region does: each
/// scalar is accompanied by whether it counts. `op` is replaced, by what is returned.
mlir::Operation *skipInvalid(mlir::OpBuilder &builder, mlir::Operation *op, mlir::Value valid);

} // namespace kiln

#endif // KILN_LIB_LAYOUT_TRANSFORMS_PADDING_H
