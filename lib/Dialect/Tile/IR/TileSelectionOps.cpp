// Verifiers of sorting, selecting and counting.
#include "Checks.h"
#include "kiln/Dialect/Tile/IR/Tile.h"

using namespace mlir;
using namespace kiln::tile;

LogicalResult SortOp::verify() {
  if (!llvm::equal(getInputs().getTypes(), getResultTypes()))
    return emitOpError("expected results of the inputs' types");
  return verifyAxis(*this, getAxis(), cast<RankedTensorType>(getInputs().front().getType()));
}

LogicalResult SortOp::fold(FoldAdaptor, SmallVectorImpl<OpFoldResult> &results) {
  if (cast<RankedTensorType>(getInputs().front().getType()).getShape()[getAxis()] != 1)
    return failure();
  llvm::append_range(results, getInputs());
  return success();
}

LogicalResult TopKOp::verify() {
  RankedTensorType input = getInput().getType(), values = getValues().getType();
  if (failed(verifyAxis(*this, getAxis(), input)))
    return failure();
  if (values.getElementType() != input.getElementType() ||
      values.getShape() != getPositions().getType().getShape() ||
      values.getRank() != input.getRank())
    return emitOpError("expected values and positions of one shape, of the input's rank and "
                       "element type");
  for (int64_t dim = 0; dim < input.getRank(); ++dim) {
    int64_t from = input.getShape()[dim], to = values.getShape()[dim];
    bool isAxis = dim == static_cast<int64_t>(getAxis());
    if (isAxis ? to > from : to != from)
      return emitOpError("expected ") << (isAxis ? "at most " : "") << from
                                      << " elements in dimension " << dim << ", got " << to;
  }
  return success();
}

LogicalResult TakeOp::verify() {
  RankedTensorType input = getInput().getType(), result = getType();
  if (failed(verifyAxis(*this, getAxis(), input)))
    return failure();
  if (result.getElementType() != input.getElementType() || result.getRank() != input.getRank())
    return emitOpError("expected a result of the input's rank and element type, got ")
           << result << " of " << input;
  for (int64_t dim = 0; dim < input.getRank(); ++dim)
    if (dim != static_cast<int64_t>(getAxis()) && input.getDimSize(dim) != result.getDimSize(dim))
      return emitOpError("expected ") << input.getDimSize(dim) << " elements in dimension " << dim
                                      << ", got " << result.getDimSize(dim);
  return success();
}

LogicalResult HistogramOp::verify() {
  if (getType().getRank() != 1)
    return emitOpError("expected a result of rank 1, got ") << getType();
  if (getMask() && getMask().getType().getShape() != getInput().getType().getShape())
    return emitOpError("expected a mask of the input's shape, got ")
           << getMask().getType() << " for " << getInput().getType();
  return success();
}
