// Verifiers of ops that move elements without computing.
#include "Checks.h"
#include "kiln/Dialect/Tile/IR/Tile.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace kiln::tile;

LogicalResult ToScalarOp::verify() {
  if (getInput().getType().getNumElements() != 1)
    return emitOpError("expected a tensor of one element, got ") << getInput().getType();
  return success();
}

LogicalResult IotaOp::verify() {
  if (failed(verifyAxis(*this, getDim(), getType())))
    return failure();
  Type element = getType().getElementType();
  int64_t extent = getType().getShape()[getDim()];
  if (element.isInteger() && element.getIntOrFloatBitWidth() < 63 &&
      extent > int64_t(1) << element.getIntOrFloatBitWidth())
    return emitOpError("expected an element type that holds positions up to ")
           << extent - 1 << ", got " << element;
  return success();
}

LogicalResult BroadcastOp::verify() {
  ArrayRef<int64_t> from = getInput().getType().getShape(), to = getType().getShape();
  if (from.size() != to.size())
    return emitOpError("expected the same rank, got ") << from.size() << " and " << to.size();
  for (auto [dim, extents] : llvm::enumerate(llvm::zip_equal(from, to)))
    if (std::get<0>(extents) != std::get<1>(extents) && std::get<0>(extents) != 1)
      return emitOpError("expected extent 1 or ")
             << std::get<1>(extents) << " in dimension " << dim << ", got " << std::get<0>(extents);
  return success();
}

LogicalResult ReshapeOp::verify() {
  if (getInput().getType().getNumElements() != getType().getNumElements())
    return emitOpError("expected ") << getInput().getType().getNumElements() << " elements, got "
                                    << getType().getNumElements();
  return success();
}

static bool isPermutation(ArrayRef<int64_t> values) {
  SmallVector<bool> seen(values.size(), false);
  for (int64_t value : values) {
    if (value < 0 || value >= static_cast<int64_t>(values.size()) || seen[value])
      return false;
    seen[value] = true;
  }
  return true;
}

LogicalResult TransposeOp::verify() {
  ArrayRef<int64_t> from = getInput().getType().getShape(), to = getType().getShape();
  if (!isPermutation(getPermutation()) || getPermutation().size() != from.size())
    return emitOpError("expected a permutation of ") << from.size() << " dimensions";
  if (from.size() != to.size())
    return emitOpError("expected the same rank, got ") << from.size() << " and " << to.size();
  for (auto [dim, source] : llvm::enumerate(getPermutation()))
    if (to[dim] != from[source])
      return emitOpError("expected extent ")
             << from[source] << " in dimension " << dim << ", got " << to[dim];
  return success();
}

LogicalResult SliceOp::verify() {
  ArrayRef<int64_t> from = getInput().getType().getShape(), to = getType().getShape();
  if (from.size() != to.size() || getOffsets().size() != to.size())
    return emitOpError("expected ranks and offsets of one number, got ")
           << from.size() << ", " << to.size() << " and " << getOffsets().size();
  for (auto [dim, offset] : llvm::enumerate(getOffsets()))
    if (offset < 0 || to[dim] > from[dim] || offset > from[dim] - to[dim])
      return emitOpError("expected ")
             << to[dim] << " elements from offset " << offset << " on to lie within extent "
             << from[dim] << " of dimension " << dim;
  return success();
}

LogicalResult ConcatOp::verify() {
  int64_t axis = getAxis(), rank = getType().getRank(), extent = 0;
  if (failed(verifyAxis(*this, axis, getType())))
    return failure();
  for (Type type : getInputs().getTypes()) {
    ArrayRef<int64_t> shape = cast<RankedTensorType>(type).getShape();
    for (int64_t dim = 0; dim < rank; ++dim)
      if (static_cast<int64_t>(shape.size()) != rank ||
          (dim != axis && shape[dim] != getType().getShape()[dim]))
        return emitOpError("expected inputs of the result's extents but along axis ")
               << axis << ", got " << type << " for " << getType();
    extent += shape[axis];
  }
  if (extent != getType().getShape()[axis])
    return emitOpError("expected extent ")
           << extent << " along axis " << axis << ", got " << getType().getShape()[axis];
  return success();
}

/// `pair` is `half` with a last dimension of extent 2.
static LogicalResult verifyPair(Operation *op, RankedTensorType half, RankedTensorType pair) {
  if (pair.getRank() == half.getRank() + 1 && pair.getShape().back() == 2 &&
      pair.getShape().drop_back() == half.getShape() &&
      pair.getElementType() == half.getElementType())
    return success();
  return op->emitOpError("expected ")
         << pair << " to be " << half << " with a last dimension of extent 2";
}

LogicalResult JoinOp::verify() { return verifyPair(*this, getLeft().getType(), getType()); }

LogicalResult SplitOp::verify() {
  return verifyPair(*this, getLeft().getType(), getInput().getType());
}

LogicalResult BitcastOp::verify() {
  RankedTensorType from = getInput().getType(), to = getType();
  for (Type element : {from.getElementType(), to.getElementType()})
    if (isa<IndexType, FloatTF32Type>(element))
      return emitOpError("expected element types of a width that memory knows, got ") << element;
  if (from.getRank() != to.getRank() || from.getRank() == 0 ||
      from.getShape().drop_back() != to.getShape().drop_back())
    return emitOpError("expected the same extents but the last, got ") << from << " and " << to;
  int64_t fromBits = from.getShape().back() * from.getElementTypeBitWidth();
  int64_t toBits = to.getShape().back() * to.getElementTypeBitWidth();
  if (!getExtents()) {
    if (fromBits != toBits)
      return emitOpError("expected ") << fromBits << " bits in the last dimension, got " << toBits;
    return success();
  }
  if (failed(verifyExtents(*this, getExtents(), to)))
    return failure();
  int64_t bits = getExtents()->back() * to.getElementTypeBitWidth();
  if (bits > fromBits)
    return emitOpError("expected at least ")
           << bits << " bits in the last dimension of what is read, got " << fromBits;
  return success();
}

bool BitcastOp::keepsElements() {
  return getInput().getType().getElementTypeBitWidth() == getType().getElementTypeBitWidth();
}
