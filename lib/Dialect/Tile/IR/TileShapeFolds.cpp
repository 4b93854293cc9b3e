// Folders and canonicalisation of ops that move elements without computing.
#include "kiln/Dialect/Tile/IR/Tile.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace kiln::tile;

/// A splat stays one under any op that only moves elements.
static OpFoldResult foldSplat(Attribute input, RankedTensorType result) {
  auto splat = dyn_cast_or_null<SplatElementsAttr>(input);
  return splat ? splat.resizeSplat(result) : OpFoldResult();
}

/// The one splat that all inputs are, seen as the result; nothing if there is no such splat.
static OpFoldResult foldSplats(ArrayRef<Attribute> inputs, RankedTensorType result) {
  auto first = dyn_cast_or_null<SplatElementsAttr>(inputs.front());
  if (!first)
    return {};
  for (Attribute input : inputs) {
    auto splat = dyn_cast_or_null<SplatElementsAttr>(input);
    if (!splat || splat.getSplatValue<Attribute>() != first.getSplatValue<Attribute>())
      return {};
  }
  return first.resizeSplat(result);
}

//===- Sources ------------------------------------------------------------------------------===//

OpFoldResult SplatOp::fold(FoldAdaptor adaptor) {
  if (isa_and_nonnull<IntegerAttr, FloatAttr>(adaptor.getValue()))
    return SplatElementsAttr::get(getType(), adaptor.getValue());
  return {};
}

OpFoldResult ToScalarOp::fold(FoldAdaptor adaptor) {
  if (auto splat = getInput().getDefiningOp<SplatOp>())
    return splat.getValue();
  if (auto elements = dyn_cast_or_null<SplatElementsAttr>(adaptor.getInput()))
    return elements.getSplatValue<Attribute>();
  return {};
}

OpFoldResult IotaOp::fold(FoldAdaptor) {
  if (getType().getShape()[getDim()] != 1)
    return {};
  return SplatElementsAttr::get(getType(),
                                Builder(getContext()).getZeroAttr(getType().getElementType()));
}

//===- BroadcastOp, ReshapeOp, TransposeOp, SliceOp -----------------------------------------===//

OpFoldResult BroadcastOp::fold(FoldAdaptor adaptor) {
  if (getInput().getType() == getType())
    return getInput();
  if (auto before = getInput().getDefiningOp<BroadcastOp>()) {
    getInputMutable().assign(before.getInput());
    return getResult();
  }
  return foldSplat(adaptor.getInput(), getType());
}

OpFoldResult ReshapeOp::fold(FoldAdaptor adaptor) {
  if (getInput().getType() == getType())
    return getInput();
  if (auto before = getInput().getDefiningOp<ReshapeOp>()) {
    getInputMutable().assign(before.getInput());
    return getResult();
  }
  if (auto elements = dyn_cast_or_null<DenseElementsAttr>(adaptor.getInput()))
    return elements.reshape(getType());
  return {};
}

OpFoldResult TransposeOp::fold(FoldAdaptor adaptor) {
  ArrayRef<int64_t> permutation = getPermutation();
  if (llvm::equal(permutation, llvm::seq<int64_t>(0, permutation.size())) &&
      getInput().getType() == getType())
    return getInput();
  if (auto before = getInput().getDefiningOp<TransposeOp>()) {
    SmallVector<int64_t> both;
    for (int64_t dim : permutation)
      both.push_back(before.getPermutation()[dim]);
    setPermutation(both);
    getInputMutable().assign(before.getInput());
    return getResult();
  }
  return foldSplat(adaptor.getInput(), getType());
}

OpFoldResult SliceOp::fold(FoldAdaptor adaptor) {
  if (getInput().getType() == getType())
    return getInput();
  if (auto before = getInput().getDefiningOp<SliceOp>()) {
    SmallVector<int64_t> sum;
    for (auto [inner, outer] : llvm::zip_equal(before.getOffsets(), getOffsets()))
      sum.push_back(inner + outer);
    setOffsets(sum);
    getInputMutable().assign(before.getInput());
    return getResult();
  }
  return foldSplat(adaptor.getInput(), getType());
}

/// Where the dimension of an iota's positions is after an op that moves elements, or nothing if
/// the op changes the positions.
static std::optional<int64_t> movedDim(BroadcastOp op, int64_t dim) {
  if (op.getInput().getType().getShape()[dim] != op.getType().getShape()[dim])
    return std::nullopt;
  return dim;
}

static std::optional<int64_t> movedDim(TransposeOp op, int64_t dim) {
  return std::distance(op.getPermutation().begin(), llvm::find(op.getPermutation(), dim));
}

static std::optional<int64_t> movedDim(SliceOp op, int64_t dim) {
  if (op.getOffsets()[dim] != 0)
    return std::nullopt;
  return dim;
}

/// A reshape that only adds and drops extents of 1 keeps the order of the other dimensions.
static std::optional<int64_t> movedDim(ReshapeOp op, int64_t dim) {
  auto isWide = [](int64_t extent) { return extent != 1; };
  ArrayRef<int64_t> from = op.getInput().getType().getShape(), to = op.getType().getShape();
  if (!isWide(from[dim]) ||
      !llvm::equal(llvm::make_filter_range(from, isWide), llvm::make_filter_range(to, isWide)))
    return std::nullopt;
  int64_t before = llvm::count_if(from.take_front(dim), isWide), at = 0;
  while (!isWide(to[at]) || before-- > 0)
    ++at;
  return at;
}

/// Moving what is the same everywhere, or depends on one position only, is making it anew.
template <typename Move>
static LogicalResult remakeInput(Move op, PatternRewriter &rewriter) {
  if (auto splat = op.getInput().template getDefiningOp<SplatOp>()) {
    rewriter.replaceOpWithNewOp<SplatOp>(op, op.getType(), splat.getValue());
    return success();
  }
  auto iota = op.getInput().template getDefiningOp<IotaOp>();
  if (!iota)
    return rewriter.notifyMatchFailure(op, "moves neither a splat nor an iota");
  std::optional<int64_t> dim = movedDim(op, iota.getDim());
  if (!dim)
    return rewriter.notifyMatchFailure(op, "changes the positions of the iota");
  rewriter.replaceOpWithNewOp<IotaOp>(op, op.getType(), *dim);
  return success();
}

/// Elements that all come from one input of a concat are a slice of that input.
static LogicalResult sliceOneInput(SliceOp op, PatternRewriter &rewriter) {
  auto concat = op.getInput().getDefiningOp<ConcatOp>();
  if (!concat)
    return rewriter.notifyMatchFailure(op, "slices no concat");
  int64_t axis = concat.getAxis();
  int64_t begin = op.getOffsets()[axis], end = begin + op.getType().getShape()[axis];
  for (Value input : concat.getInputs()) {
    int64_t extent = cast<RankedTensorType>(input.getType()).getShape()[axis];
    if (begin < extent) {
      if (end > extent)
        break;
      SmallVector<int64_t> offsets(op.getOffsets());
      offsets[axis] = begin;
      rewriter.replaceOpWithNewOp<SliceOp>(op, op.getType(), input, offsets);
      return success();
    }
    begin -= extent;
    end -= extent;
  }
  return rewriter.notifyMatchFailure(op, "slices more than one input of the concat");
}

void BroadcastOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *) {
  patterns.add(remakeInput<BroadcastOp>);
}
void ReshapeOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *) {
  patterns.add(remakeInput<ReshapeOp>);
}
void TransposeOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *) {
  patterns.add(remakeInput<TransposeOp>);
}
void SliceOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *) {
  patterns.add(remakeInput<SliceOp>);
  patterns.add(sliceOneInput);
}

//===- ConcatOp, JoinOp, SplitOp, BitcastOp -------------------------------------------------===//

OpFoldResult ConcatOp::fold(FoldAdaptor adaptor) {
  if (getInputs().size() == 1 && getInputs().front().getType() == getType())
    return getInputs().front();
  return foldSplats(adaptor.getInputs(), getType());
}

OpFoldResult JoinOp::fold(FoldAdaptor adaptor) {
  auto split = getLeft().getDefiningOp<SplitOp>();
  if (split && getLeft() == split.getLeft() && getRight() == split.getRight() &&
      split.getInput().getType() == getType())
    return split.getInput();
  return foldSplats({adaptor.getLeft(), adaptor.getRight()}, getType());
}

LogicalResult SplitOp::fold(FoldAdaptor adaptor, SmallVectorImpl<OpFoldResult> &results) {
  auto join = getInput().getDefiningOp<JoinOp>();
  if (join && join.getLeft().getType() == getLeft().getType()) {
    results.assign({join.getLeft(), join.getRight()});
    return success();
  }
  OpFoldResult splat = foldSplat(adaptor.getInput(), getLeft().getType());
  if (!splat)
    return failure();
  results.assign({splat, splat});
  return success();
}

OpFoldResult BitcastOp::fold(FoldAdaptor) {
  if (getInput().getType() == getType())
    return getInput();
  if (auto before = getInput().getDefiningOp<BitcastOp>();
      before && !getExtents() && !before.getExtents()) {
    getInputMutable().assign(before.getInput());
    return getResult();
  }
  return {};
}
