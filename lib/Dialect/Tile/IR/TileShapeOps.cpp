// Verifiers, folders and canonicalisation of ops that move elements without computing.
#include "kiln/Dialect/Tile/IR/Tile.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace kiln::tile;

/// A splat stays one under any op that only moves elements.
static OpFoldResult foldSplat(Attribute input, RankedTensorType result) {
  auto splat = dyn_cast_or_null<SplatElementsAttr>(input);
  return splat ? splat.resizeSplat(result) : OpFoldResult();
}

OpFoldResult SplatOp::fold(FoldAdaptor adaptor) {
  if (adaptor.getValue() && isa<IntegerAttr, FloatAttr>(adaptor.getValue()))
    return SplatElementsAttr::get(getType(), adaptor.getValue());
  return {};
}

LogicalResult ToScalarOp::verify() {
  if (getInput().getType().getNumElements() != 1)
    return emitOpError("expected a tensor of one element, got ") << getInput().getType();
  return success();
}

OpFoldResult ToScalarOp::fold(FoldAdaptor adaptor) {
  if (auto splat = getInput().getDefiningOp<SplatOp>())
    return splat.getValue();
  if (auto elements = dyn_cast_or_null<SplatElementsAttr>(adaptor.getInput()))
    return elements.getSplatValue<Attribute>();
  return {};
}

LogicalResult IotaOp::verify() {
  int64_t rank = getType().getRank(), dim = getDim();
  if (dim < 0 || dim >= rank)
    return emitOpError("expected a dimension from 0 to ") << rank - 1 << ", got " << dim;
  Type element = getType().getElementType();
  int64_t extent = getType().getShape()[dim];
  if (element.isInteger() && element.getIntOrFloatBitWidth() < 63 &&
      extent > int64_t(1) << element.getIntOrFloatBitWidth())
    return emitOpError("expected an element type that holds positions up to ")
           << extent - 1 << ", got " << element;
  return success();
}

//===- BroadcastOp --------------------------------------------------------------------------===//

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

OpFoldResult BroadcastOp::fold(FoldAdaptor adaptor) {
  if (getInput().getType() == getType())
    return getInput();
  return foldSplat(adaptor.getInput(), getType());
}

//===- ReshapeOp ----------------------------------------------------------------------------===//

LogicalResult ReshapeOp::verify() {
  if (getInput().getType().getNumElements() != getType().getNumElements())
    return emitOpError("expected ") << getInput().getType().getNumElements() << " elements, got "
                                    << getType().getNumElements();
  return success();
}

OpFoldResult ReshapeOp::fold(FoldAdaptor adaptor) {
  if (getInput().getType() == getType())
    return getInput();
  if (auto before = getInput().getDefiningOp<ReshapeOp>()) {
    if (before.getInput().getType() == getType())
      return before.getInput();
    getInputMutable().assign(before.getInput());
    return getResult();
  }
  if (auto elements = dyn_cast_or_null<DenseElementsAttr>(adaptor.getInput()))
    return elements.reshape(getType());
  return {};
}

//===- TransposeOp --------------------------------------------------------------------------===//

LogicalResult TransposeOp::verify() {
  ArrayRef<int64_t> from = getInput().getType().getShape(), to = getType().getShape();
  if (!isPermutationVector(getPermutation()) || getPermutation().size() != from.size())
    return emitOpError("expected a permutation of ") << from.size() << " dimensions";
  if (from.size() != to.size())
    return emitOpError("expected the same rank, got ") << from.size() << " and " << to.size();
  for (auto [dim, source] : llvm::enumerate(getPermutation()))
    if (to[dim] != from[source])
      return emitOpError("expected extent ")
             << from[source] << " in dimension " << dim << ", got " << to[dim];
  return success();
}

OpFoldResult TransposeOp::fold(FoldAdaptor adaptor) {
  if (llvm::equal(getPermutation(), llvm::seq<int64_t>(0, getPermutation().size())))
    return getInput();
  return foldSplat(adaptor.getInput(), getType());
}

//===- SliceOp ------------------------------------------------------------------------------===//

LogicalResult SliceOp::verify() {
  ArrayRef<int64_t> from = getInput().getType().getShape(), to = getType().getShape();
  if (from.size() != to.size() || getOffsets().size() != to.size())
    return emitOpError("expected ranks and offsets of one number, got ")
           << from.size() << ", " << to.size() << " and " << getOffsets().size();
  for (auto [dim, offset] : llvm::enumerate(getOffsets()))
    if (offset < 0 || offset + to[dim] > from[dim])
      return emitOpError("expected elements ")
             << offset << " to " << offset + to[dim] << " to lie within extent " << from[dim]
             << " of dimension " << dim;
  return success();
}

OpFoldResult SliceOp::fold(FoldAdaptor adaptor) {
  if (getInput().getType() == getType())
    return getInput();
  return foldSplat(adaptor.getInput(), getType());
}

//===- ConcatOp, JoinOp, SplitOp ------------------------------------------------------------===//

LogicalResult ConcatOp::verify() {
  int64_t axis = getAxis(), rank = getType().getRank(), extent = 0;
  if (getInputs().empty())
    return emitOpError("expected at least one input");
  if (axis < 0 || axis >= rank)
    return emitOpError("expected an axis from 0 to ") << rank - 1 << ", got " << axis;
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

void SplitOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *) {
  patterns.add(+[](SplitOp op, PatternRewriter &rewriter) -> LogicalResult {
    auto join = op.getInput().getDefiningOp<JoinOp>();
    if (!join)
      return rewriter.notifyMatchFailure(op, "does not split what a join made");
    rewriter.replaceOp(op, {join.getLeft(), join.getRight()});
    return success();
  });
}

//===- BitcastOp ----------------------------------------------------------------------------===//

LogicalResult BitcastOp::verify() {
  RankedTensorType from = getInput().getType(), to = getType();
  if (from.getElementType().isIndex() || to.getElementType().isIndex())
    return emitOpError("expected element types of known width, got index");
  if (from.getRank() != to.getRank() || from.getRank() == 0 ||
      from.getShape().drop_back() != to.getShape().drop_back())
    return emitOpError("expected the same extents but the last, got ") << from << " and " << to;
  int64_t fromBits = from.getShape().back() * from.getElementTypeBitWidth();
  int64_t toBits = to.getShape().back() * to.getElementTypeBitWidth();
  if (fromBits != toBits)
    return emitOpError("expected ") << fromBits << " bits in the last dimension, got " << toBits;
  return success();
}

OpFoldResult BitcastOp::fold(FoldAdaptor) {
  if (getInput().getType() == getType())
    return getInput();
  if (auto before = getInput().getDefiningOp<BitcastOp>()) {
    getInputMutable().assign(before.getInput());
    return getResult();
  }
  return {};
}
