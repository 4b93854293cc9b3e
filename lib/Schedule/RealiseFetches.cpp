// Fetches sums from tensor memory as they are stored, some columns at a time.
//
// A thread has a row of each sum. Of a store that an engine makes, a box is written at a time, so
// no more of a sum need be in registers: what is made of it element by element is made box by box,
// of columns that are fetched for it. Sums of 128 columns that are multiplied with one another
// would take 256 registers otherwise.
#include "Decisions.h"
#include "kiln/Layout/Transforms/Layouts.h"
#include "kiln/Layout/Transforms/SharedLayout.h"
#include "kiln/Schedule/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/MapVector.h"

namespace kiln {
#define GEN_PASS_DEF_REALISEFETCHES
#include "kiln/Schedule/Passes.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

static RankedTensorType getTensorType(Value value) {
  return dyn_cast<RankedTensorType>(value.getType());
}

/// Whether each element of an op's one result is made of the elements at its place.
static bool isElementwise(Operation *op) {
  if (op->getNumResults() != 1 || op->getNumRegions() || !isMemoryEffectFree(op) ||
      !OpTrait::hasElementwiseMappableTraits(op))
    return false;
  RankedTensorType type = getTensorType(op->getResult(0));
  return type && llvm::all_of(op->getOperands(), [&](Value operand) {
           RankedTensorType other = getTensorType(operand);
           return !other || (other.getShape() == type.getShape() &&
                             other.getEncoding() == type.getEncoding());
         });
}

namespace {
/// What is made of sums, and the boxes that are taken of it.
class BoxedSums {
public:
  BoxedSums(Value whole, SmallVector<SliceOp> boxes) : whole(whole), boxes(std::move(boxes)) {}
  /// Whether boxes are all that is made of the sums.
  bool find();
  void realise();

private:
  bool areColumns();
  RankedTensorType getBoxType(Value value);
  Value makePart(OpBuilder &builder, Value value, SliceOp box);
  FetchOp fetch(OpBuilder &builder, FetchOp sum, SliceOp box);

  Value whole;
  SmallVector<SliceOp> boxes;
  /// From fetches to what boxes are taken of, in the order of the text.
  SmallVector<Operation *> ops;
  llvm::MapVector<FetchOp, ReleaseOp> releases;
  IRMapping made; ///< for one box
};
} // namespace

bool BoxedSums::areColumns() {
  RankedTensorType type = getTensorType(whole), box = boxes.front().getType();
  return type.getRank() == 2 && llvm::all_of(boxes, [&](SliceOp slice) {
           return slice.getType() == box && slice->getBlock() == whole.getParentBlock() &&
                  slice.getOffsets()[0] == 0 && box.getDimSize(0) == type.getDimSize(0);
         });
}

/// The release of the slot that a sum is fetched from, behind it.
static ReleaseOp findRelease(FetchOp fetch) {
  auto get = fetch.getPending().getDefiningOp<GetOp>();
  for (Operation *op = get ? fetch->getNextNode() : nullptr; op; op = op->getNextNode())
    if (auto release = dyn_cast<ReleaseOp>(op);
        release && release.getChannel() == get.getChannel() && release.getSlot() == get.getSlot())
      return release;
  return {};
}

/// Whether nothing between two ops waits for another role, but for sums that are fetched there: it
/// might wait for a slot that is released behind it.
static bool waitsForNone(Operation *first, Operation *last) {
  if (last->isBeforeInBlock(first))
    return true;
  for (Operation *op = first; op != last; op = op->getNextNode()) {
    auto get = dyn_cast<GetOp>(op);
    bool isSum = get && get.getChannel().getType().getAccumulator() && !get.getToStart();
    if (op->getNumRegions() || isa<AcquireOp>(op) || (get && !isSum))
      return false;
  }
  return true;
}

bool BoxedSums::find() {
  Operation *last = whole.getDefiningOp();
  if (!last || !areColumns() || !llvm::all_of(whole.getUsers(), llvm::IsaPred<SliceOp>))
    return false;
  DenseSet<Operation *> inside;
  for (Operation *op = last; op; op = op->getPrevNode()) {
    auto fetch = dyn_cast<FetchOp>(op);
    auto isInside = [&](Operation *user) { return inside.contains(user); };
    if (op != last && (op->use_empty() || !llvm::all_of(op->getUsers(), isInside)))
      continue;
    if (!fetch && !isElementwise(op))
      continue;
    if (fetch) {
      int64_t rows = cast<MmaAtomInterface>(fetch.getAtom()).getExtents()[0];
      ReleaseOp release = findRelease(fetch);
      if (!release || fetch.getType().getDimSize(0) != rows || !waitsForNone(release, boxes.back()))
        continue;
      releases.insert({fetch, release});
    }
    inside.insert(op);
    ops.push_back(op);
  }
  std::reverse(ops.begin(), ops.end());
  return !releases.empty() && inside.contains(last);
}

/// As the box is laid out.
RankedTensorType BoxedSums::getBoxType(Value value) {
  RankedTensorType box = boxes.front().getType();
  return cast<RankedTensorType>(box.clone(getTensorType(value).getElementType()));
}

/// What is not made of sums alone is taken out of all of it.
Value BoxedSums::makePart(OpBuilder &builder, Value value, SliceOp box) {
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

FetchOp BoxedSums::fetch(OpBuilder &builder, FetchOp sum, SliceOp box) {
  Location loc = sum.getLoc();
  SmallVector<Value> offsets;
  for (int64_t offset : box.getOffsets())
    offsets.push_back(arith::ConstantIndexOp::create(builder, loc, offset));
  auto type = PendingType::get(getBoxType(sum.getResult()), /*inTensorMemory=*/true);
  auto part = PartOp::create(builder, loc, type, sum.getPending(), offsets);
  return FetchOp::create(builder, loc, type.getTensor(), part.getResult(), sum.getAtom());
}

void BoxedSums::realise() {
  Operation *last = nullptr;
  for (SliceOp box : boxes) {
    OpBuilder builder(box);
    made.clear();
    for (Operation *op : ops) {
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
    box.getResult().replaceAllUsesWith(made.lookup(whole));
  }
  for (auto [fetch, release] : releases)
    if (release->isBeforeInBlock(last))
      release->moveAfter(last);
  for (SliceOp box : boxes)
    box.erase();
  for (Operation *op : llvm::reverse(ops))
    op->erase();
}

namespace {
struct RealiseFetches : kiln::impl::RealiseFetchesBase<RealiseFetches> {
  void runOnOperation() override {
    llvm::MapVector<Value, SmallVector<SliceOp>> boxes;
    getOperation().walk([&](SliceOp slice) {
      if (WarpGroupsOp::getRoleOf(slice))
        boxes[slice.getInput()].push_back(slice); // as they follow one another
    });
    for (auto &[whole, slices] : boxes)
      if (BoxedSums sums(whole, slices); sums.find())
        sums.realise();
  }
};
} // namespace
