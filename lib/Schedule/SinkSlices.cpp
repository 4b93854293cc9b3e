// Makes tensors of which nothing but slices is used a slice at a time, where each is used.
#include "kiln/Layout/Transforms/Layouts.h"
#include "kiln/Schedule/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/MapVector.h"

namespace kiln {
#define GEN_PASS_DEF_SINKSLICES
#include "kiln/Schedule/Passes.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

/// The slices of a tensor that are one and the same.
using EqualSlices = SmallVector<SliceOp>;

/// The slices that use an op's result, those of the same elements together, in the order of the
/// text. None if something else uses it, or if they have more elements than it has.
static SmallVector<EqualSlices> findSlices(Operation *op) {
  llvm::MapVector<ArrayAttr, EqualSlices> found;
  Builder builder(op);
  int64_t elements = 0;
  for (Operation *user : op->getUsers()) {
    auto slice = dyn_cast<SliceOp>(user);
    if (!slice || slice->getBlock() != op->getBlock())
      return {};
    auto key = builder.getArrayAttr({slice.getOffsetsAttr(), TypeAttr::get(slice.getType())});
    if (!found.contains(key))
      elements += slice.getType().getNumElements();
    found[key].push_back(slice);
  }
  if (elements > cast<RankedTensorType>(op->getResult(0).getType()).getNumElements())
    return {};
  auto slices = llvm::map_to_vector(found, [](auto &entry) { return entry.second; });
  auto isBefore = [](SliceOp one, SliceOp other) { return one->isBeforeInBlock(other); };
  for (EqualSlices &equal : slices)
    llvm::sort(equal, isBefore);
  llvm::sort(slices, [&](const EqualSlices &one, const EqualSlices &other) {
    return isBefore(one.front(), other.front());
  });
  return slices;
}

static bool isElementwise(Operation *op) {
  return op->getNumResults() == 1 && op->getNumRegions() == 0 && isMemoryEffectFree(op) &&
         OpTrait::hasElementwiseMappableTraits(op) &&
         isa<RankedTensorType>(op->getResult(0).getType());
}

/// Which dimension of the result each of the input has, where nothing but dimensions of one element
/// comes or goes.
static std::optional<SmallVector<int>> findDims(ReshapeOp reshape) {
  ArrayRef<int64_t> from = reshape.getInput().getType().getShape();
  ArrayRef<int64_t> to = reshape.getType().getShape();
  SmallVector<int> dims;
  unsigned at = 0;
  for (int64_t extent : from) {
    unsigned next = at;
    while (extent != 1 && next < to.size() && to[next] == 1)
      ++next;
    bool isThere = extent != 1 && next < to.size() && to[next] == extent;
    if (extent != 1 && !isThere)
      return std::nullopt;
    dims.push_back(isThere ? int(next) : -1);
    if (isThere)
      at = next + 1;
  }
  return dims;
}

/// Whether registers of what a slice is taken of choose its elements, so that no thread has another
/// one's.
static bool isOfRegisters(SliceOp slice) {
  std::optional<LinearLayout> layout =
      getBoxLayout(getLayout(slice.getInput()), slice.getType().getShape());
  return layout && withLayout(slice.getType(), *layout) == slice.getType();
}

/// Of one operand, what a slice of the result is made of.
struct Piece {
  SmallVector<int64_t> offsets;
  RankedTensorType type;
};

/// None if registers do not choose among such pieces of the operand.
static std::optional<Piece> findPiece(Operation *op, Value operand, SliceOp slice) {
  auto whole = cast<RankedTensorType>(operand.getType());
  RankedTensorType box = slice.getType();
  if (isElementwise(op)) {
    if (whole.getShape() != slice.getInput().getType().getShape() ||
        whole.getEncoding() != slice.getInput().getType().getEncoding())
      return std::nullopt;
    return Piece{SmallVector<int64_t>(slice.getOffsets()),
                 cast<RankedTensorType>(box.clone(whole.getElementType()))};
  }
  if (auto convert = dyn_cast<ConvertLayoutOp>(op)) {
    std::optional<LinearLayout> layout = getBoxLayout(getLayout(operand), box.getShape());
    if (!layout ||
        classifyConversion(*layout, getLayout(slice)).kind > convert.getHowAttr().getKind())
      return std::nullopt;
    return Piece{SmallVector<int64_t>(slice.getOffsets()),
                 withLayout(cast<RankedTensorType>(whole.clone(box.getShape())), *layout)};
  }
  auto dims = llvm::to_vector(llvm::seq<int>(0, whole.getRank()));
  if (auto reshape = dyn_cast<ReshapeOp>(op)) {
    std::optional<SmallVector<int>> found = findDims(reshape);
    if (!found)
      return std::nullopt;
    dims = *found;
  }
  Piece piece;
  SmallVector<int64_t> shape;
  for (auto [extent, dim] : llvm::zip_equal(whole.getShape(), dims)) {
    bool isCut = dim >= 0 && extent != 1;
    shape.push_back(isCut ? box.getDimSize(dim) : extent);
    piece.offsets.push_back(isCut ? slice.getOffsets()[dim] : 0);
  }
  std::optional<LinearLayout> layout = getBoxLayout(getLayout(operand), shape);
  if (!layout ||
      (isa<ReshapeOp>(op) && withLayout(box, layout->reshapeOuts(box.getShape())) != box))
    return std::nullopt;
  piece.type = withLayout(cast<RankedTensorType>(whole.clone(shape)), *layout);
  return piece;
}

static Value take(OpBuilder &builder, Value whole, const Piece &piece) {
  if (piece.type == whole.getType())
    return whole;
  DenseElementsAttr splat;
  if (matchPattern(whole, m_Constant(&splat)) && splat.isSplat())
    return arith::ConstantOp::create(builder, whole.getLoc(), splat.resizeSplat(piece.type));
  return SliceOp::create(builder, whole.getLoc(), piece.type, whole, piece.offsets);
}

/// Whether an op is made of slices as well as of the whole. What goes through memory is read slice
/// by slice as it is (tile-realise-own-conversions).
static bool canSink(Operation *op) {
  auto convert = dyn_cast<ConvertLayoutOp>(op);
  bool isInWarps =
      convert && convert.getHowAttr() && convert.getHowAttr().getKind() != ConversionKind::Memory;
  return isInWarps || isElementwise(op) || isa<BroadcastOp, ReshapeOp>(op);
}

/// Makes of an op of which slices are used one op a slice.
static void sink(Operation *op) {
  if (!canSink(op))
    return;
  SmallVector<EqualSlices> slices = findSlices(op);
  SmallVector<SmallVector<Piece>> pieces;
  for (const EqualSlices &equal : slices) {
    if (!isOfRegisters(equal.front()))
      return;
    pieces.emplace_back();
    for (Value operand : op->getOperands()) {
      std::optional<Piece> piece = isa<RankedTensorType>(operand.getType())
                                       ? findPiece(op, operand, equal.front())
                                       : Piece();
      if (!piece)
        return;
      pieces.back().push_back(std::move(*piece));
    }
  }
  for (auto [equal, operands] : llvm::zip_equal(slices, pieces)) {
    OpBuilder builder(equal.front());
    IRMapping parts;
    for (auto [operand, piece] : llvm::zip_equal(op->getOperands(), operands))
      if (piece.type && !parts.contains(operand))
        parts.map(operand, take(builder, operand, piece));
    Operation *part = builder.clone(*op, parts);
    part->getResult(0).setType(equal.front().getType());
    for (SliceOp slice : equal) {
      slice.replaceAllUsesWith(part->getResult(0));
      slice.erase();
    }
  }
  if (!slices.empty())
    op->erase();
}

namespace {
struct SinkSlices : kiln::impl::SinkSlicesBase<SinkSlices> {
  void runOnOperation() override {
    // From the last op on: what one op makes of slices, the ops in front of it are used by.
    SmallVector<Operation *> ops;
    getOperation().walk([&](WarpGroupsOp groups) {
      groups.walk([&](Operation *op) { ops.push_back(op); });
      return WalkResult::skip();
    });
    for (Operation *op : llvm::reverse(ops))
      sink(op);
  }
};
} // namespace
