// Fetches sums from tensor memory as they are stored, some columns at a time.
//
// A thread has a row of each sum. What is made of it element by element is made box by box, of
// columns that are fetched for it.
#include "BoxedSums.h"
#include "kiln/Schedule/Passes.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

namespace kiln {
#define GEN_PASS_DEF_REALISEFETCHES
#include "kiln/Schedule/Passes.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

namespace {
/// Makes boxes of columns that are fetched for them.
class BoxFetcher {
public:
  explicit BoxFetcher(BoxedSums sums) : sums(std::move(sums)) {}
  void run();

private:
  RankedTensorType getBoxType(Value value);
  Value makePart(OpBuilder &builder, Value value, SliceOp box);
  FetchOp fetch(OpBuilder &builder, FetchOp sum, SliceOp box);

  BoxedSums sums;
  IRMapping made; ///< for one box
};
} // namespace

/// As the box is laid out.
RankedTensorType BoxFetcher::getBoxType(Value value) {
  RankedTensorType box = sums.boxes.front().getType();
  return cast<RankedTensorType>(box.clone(getTensorType(value).getElementType()));
}

/// What is not made of sums alone is taken out of all of it.
Value BoxFetcher::makePart(OpBuilder &builder, Value value, SliceOp box) {
  if (!getTensorType(value))
    return value;
  if (Value part = made.lookupOrNull(value))
    return part;
  DenseElementsAttr splat;
  Value part;
  if (matchPattern(value, m_Constant(&splat)) && splat.isSplat())
    part = arith::ConstantOp::create(builder, value.getLoc(), splat.resizeSplat(getBoxType(value)));
  else
    part = SliceOp::create(builder, value.getLoc(), getBoxType(value), value, box.getOffsets());
  made.map(value, part);
  return part;
}

FetchOp BoxFetcher::fetch(OpBuilder &builder, FetchOp sum, SliceOp box) {
  Location loc = sum.getLoc();
  SmallVector<Value> offsets;
  for (int64_t offset : box.getOffsets())
    offsets.push_back(arith::ConstantIndexOp::create(builder, loc, offset));
  auto type = PendingType::get(getBoxType(sum.getResult()), /*inTensorMemory=*/true);
  auto part = PartOp::create(builder, loc, type, sum.getPending(), offsets);
  return FetchOp::create(builder, loc, type.getTensor(), part.getResult(), sum.getAtom());
}

void BoxFetcher::run() {
  Operation *last = nullptr;
  for (SliceOp box : sums.boxes) {
    OpBuilder builder(box);
    made.clear();
    for (Operation *op : sums.ops) {
      Value result = op->getResult(0);
      if (auto sum = dyn_cast<FetchOp>(op)) {
        last = fetch(builder, sum, box);
        made.map(result, last->getResult(0));
        continue;
      }
      for (Value operand : op->getOperands())
        made.map(operand, makePart(builder, operand, box));
      Operation *part = builder.clone(*op, made);
      part->getResult(0).setType(getBoxType(result));
      made.map(result, part->getResult(0));
    }
    box.getResult().replaceAllUsesWith(made.lookup(sums.whole));
  }
  for (auto [fetch, release] : sums.releases)
    if (release->isBeforeInBlock(last))
      release->moveAfter(last);
  for (SliceOp box : sums.boxes)
    box.erase();
  for (Operation *op : llvm::reverse(sums.ops))
    op->erase();
}

static std::string spell(Attribute how) {
  return how ? ("\"" + cast<StringAttr>(how).getValue() + "\"").str() : "none";
}

/// The slices of one tensor.
static LogicalResult realise(Value whole, ArrayRef<SliceOp> boxes) {
  SliceOp first = boxes.front();
  Attribute how = first->getAttr(kFetchedAttrName);
  for (SliceOp box : boxes)
    if (Attribute other = box->removeAttr(kFetchedAttrName); other != how)
      return box.emitOpError("expected '")
             << kFetchedAttrName << "' of the other boxes of its tensor, " << spell(how) << ", got "
             << spell(other);
  if (!how || cast<StringAttr>(how) == "whole")
    return success();
  std::string expected;
  std::optional<BoxedSums> sums = findBoxedSums(whole, boxes, expected);
  if (!sums)
    return first.emitOpError("expected ")
           << expected << ", since '" << kFetchedAttrName << "' is " << how;
  BoxFetcher(std::move(*sums)).run();
  return success();
}

namespace {
struct RealiseFetches : kiln::impl::RealiseFetchesBase<RealiseFetches> {
  void runOnOperation() override {
    for (auto &[whole, boxes] : findSlices(getOperation()))
      if (failed(realise(whole, boxes)))
        return signalPassFailure();
  }
};
} // namespace
