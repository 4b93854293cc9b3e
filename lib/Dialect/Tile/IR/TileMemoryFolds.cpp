// Folders and canonicalisation of views and of accesses to memory.
#include "kiln/Dialect/Tile/IR/Tile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace kiln::tile;

//===- Views --------------------------------------------------------------------------------===//

/// The static value, or the operand of what made the view.
static OpFoldResult foldQuery(ArrayRef<int64_t> statics, int64_t dim, ValueRange dynamics,
                              MLIRContext *context) {
  if (!ShapedType::isDynamic(statics[dim]))
    return IntegerAttr::get(IndexType::get(context), statics[dim]);
  if (dynamics.empty())
    return {};
  return dynamics[llvm::count_if(statics.take_front(dim), ShapedType::isDynamic)];
}

OpFoldResult DimOp::fold(FoldAdaptor) {
  ValueRange extents;
  if (auto maker = getView().getDefiningOp<ViewFromPointerOp>())
    extents = maker.getExtents();
  else if (auto maker = getView().getDefiningOp<SubviewOp>())
    extents = maker.getExtents();
  return foldQuery(getView().getType().getShape(), getDim(), extents, getContext());
}

OpFoldResult StrideOp::fold(FoldAdaptor) {
  ValueRange strides;
  if (auto maker = getView().getDefiningOp<ViewFromPointerOp>())
    strides = maker.getStrides();
  else if (auto maker = getView().getDefiningOp<SubviewOp>())
    strides = maker.getStrides();
  return foldQuery(getView().getType().getStrides(), getDim(), strides, getContext());
}

/// The address that the memory was made of.
OpFoldResult AddressOp::fold(FoldAdaptor) {
  Value memory = getMemory();
  if (auto view = memory.getDefiningOp<ViewFromPointerOp>())
    memory = view.getPointer();
  if (auto pointer = memory.getDefiningOp<PointerFromAddressOp>())
    return pointer.getAddress();
  return {};
}

void DimOp::inferResultRanges(ArrayRef<ConstantIntRanges>, SetIntRangeFn setResultRange) {
  setResultRange(getResult(),
                 ConstantIntRanges::fromSigned(APInt(64, 0), APInt::getSignedMaxValue(64)));
}

//===- Paddings and masks -------------------------------------------------------------------===//

/// All bits zero: what an element is that was not read and has no padding.
static Attribute getZeroBits(Type type) {
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return SplatElementsAttr::get(tensor, getZeroBits(tensor.getElementType()));
  if (auto real = dyn_cast<FloatType>(type))
    return FloatAttr::get(real, APFloat(real.getFloatSemantics(), APInt::getZero(real.getWidth())));
  return IntegerAttr::get(type, 0);
}

static Value createZeros(PatternRewriter &rewriter, Location loc, Type type) {
  return arith::ConstantOp::create(rewriter, loc, cast<TypedAttr>(getZeroBits(type)));
}

/// A padding of zero is what none means.
template <typename Read>
static LogicalResult dropZeroPadding(Read op, PatternRewriter &rewriter) {
  Attribute padding;
  if (!op.getPadding() || !matchPattern(op.getPadding(), m_Constant(&padding)) ||
      padding != getZeroBits(op.getPadding().getType()))
    return rewriter.notifyMatchFailure(op, "has no padding that is known to be zero");
  rewriter.modifyOpInPlace(op, [&] { op.getPaddingMutable().clear(); });
  return success();
}

/// What an access yields where its mask is false.
static SmallVector<Value> createUntouched(GatherOp op, PatternRewriter &rewriter) {
  if (op.getPadding())
    return {SplatOp::create(rewriter, op.getLoc(), op.getType(), op.getPadding())};
  return {createZeros(rewriter, op.getLoc(), op.getType())};
}
static SmallVector<Value> createUntouched(ScatterOp, PatternRewriter &) { return {}; }
template <typename Atomic>
static SmallVector<Value> createUntouched(Atomic op, PatternRewriter &rewriter) {
  return {createZeros(rewriter, op.getLoc(), op.getType())};
}

/// A mask that is true everywhere says nothing; one that is false everywhere leaves no access.
template <typename Access>
static LogicalResult simplifyMask(Access op, PatternRewriter &rewriter) {
  if (!op.getMask())
    return rewriter.notifyMatchFailure(op, "has no mask");
  if (matchPattern(op.getMask(), m_One())) {
    rewriter.modifyOpInPlace(op, [&] { op.getMaskMutable().clear(); });
    return success();
  }
  if (!matchPattern(op.getMask(), m_Zero()))
    return rewriter.notifyMatchFailure(op, "the mask is not one constant");
  rewriter.replaceOp(op, createUntouched(op, rewriter));
  return success();
}

void LoadOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *) {
  patterns.add(dropZeroPadding<LoadOp>);
}
void GatherOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *) {
  patterns.add(dropZeroPadding<GatherOp>);
  patterns.add(simplifyMask<GatherOp>);
}
void ScatterOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *) {
  patterns.add(simplifyMask<ScatterOp>);
}
void AtomicRMWOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *) {
  patterns.add(simplifyMask<AtomicRMWOp>);
}
void AtomicCASOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *) {
  patterns.add(simplifyMask<AtomicCASOp>);
}
