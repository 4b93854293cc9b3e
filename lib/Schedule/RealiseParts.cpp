// Cuts dots into parts along m, n and k, and with them what makes their operands, each in front of
// the first part that needs it or where the dot says that its parts' reads run.
#include "CutParts.h"
#include "Trip.h"
#include "kiln/Dialect/Tile/IR/BareTypes.h"
#include "kiln/Layout/Transforms/Layouts.h"
#include "kiln/Schedule/Passes.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

namespace kiln {
#define GEN_PASS_DEF_REALISEPARTS
#include "kiln/Schedule/Passes.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

namespace {
class DotRealiser {
public:
  explicit DotRealiser(DotOp dot) : dot(dot), builder(dot), cutter(dot) {
    if (auto given = dot.getParts())
      parts.assign(given->begin(), given->end());
    stages = dot.getPartStages().value_or(ArrayRef<int64_t>());
    orders = dot.getPartOrders().value_or(ArrayRef<int64_t>());
  }
  LogicalResult realise();

private:
  /// Of one part: its place among the parts along m, n and k, and its operands once they are cut.
  struct Part {
    int64_t m, n, k;
    Value a, b;
  };

  LogicalResult check();
  LogicalResult checkPlaces(ArrayRef<Part> all, size_t number, bool hasReads);
  PartPlace getPlace(size_t number, bool ofDot);
  void makeRoom();
  PartBox getBox(unsigned operand, const Part &part) {
    return getPartBox(dot, operand, {part.m, part.n, part.k});
  }
  DotOp multiply(const Part &part, Value sum, int64_t later, PartPlace at);
  Value &getSum(const Part &part) { return sums[part.m * parts[1] + part.n]; }
  void promote(DotOp part, Value &sum);
  void replaceResult();

  DotOp dot;
  OpBuilder builder;
  PartCutter cutter;
  /// Along m, n and k.
  SmallVector<int64_t> parts = {1, 1, 1};
  /// By part of m, then of n.
  SmallVector<Value> sums;
  /// By part, of its reads and of its dot; none where nobody has pinned them.
  ArrayRef<int64_t> stages, orders;
};
} // namespace

LogicalResult DotRealiser::check() {
  for (Value value : dot->getOperands())
    if (auto type = dyn_cast<RankedTensorType>(value.getType());
        type && !isa_and_nonnull<LayoutAttr>(type.getEncoding()))
      return dot.emitOpError("expected tensors with a layout, got ") << type;
  int64_t ahead = dot.getReadsAhead().value_or(0);
  if (ahead && dot->getParentOfType<WarpGroupsOp>() && !dot.getStage() &&
      hasDecisions(*dot->getBlock()))
    return dot.emitOpError("expected 'stage', since 'reads_ahead' is decided");
  if (!stages.empty() && !dot.getStage())
    return dot.emitOpError("expected 'stage', since 'part_stages' is decided");
  if (!orders.empty() && !(dot.getStage() && dot.getOrder()))
    return dot.emitOpError("expected 'stage' and 'order', since 'part_orders' is decided");
  return checkParts(dot, WarpGroupsOp::getRoleOf(dot));
}

PartPlace DotRealiser::getPlace(size_t number, bool ofDot) {
  size_t at = 2 * number + ofDot;
  PartPlace place;
  place.isOwn = !stages.empty();
  if (place.isOwn)
    place.stage = builder.getI64IntegerAttr(stages[at]);
  // Reads run no later than their dot, and not when the first user comes.
  else if (!ofDot && (!orders.empty() || dot.getReadsAhead().value_or(0)))
    place.stage = dot.getStageAttr();
  if (!orders.empty())
    place.order = builder.getI64IntegerAttr(*dot.getOrder() + orders[at]);
  return place;
}

/// A part's dot comes behind the reads that it needs and behind the dot that it adds to.
LogicalResult DotRealiser::checkPlaces(ArrayRef<Part> all, size_t number, bool hasReads) {
  if (stages.empty() && orders.empty())
    return success();
  auto refuse = [&] {
    return dot.emitOpError("expected ")
           << (stages.empty()   ? "'part_orders'"
               : orders.empty() ? "'part_stages'"
                                : "'part_stages' and 'part_orders'")
           << " by which the dot of part " << number << " comes behind ";
  };
  auto getTime = [&](size_t at) {
    return std::pair<int64_t, int64_t>(stages.empty() ? 0 : stages[at],
                                       orders.empty() ? at : orders[at]);
  };
  size_t own = 2 * number + 1;
  for (Value operand : {all[number].a, all[number].b})
    for (unsigned reader : cutter.findReaders(operand))
      if (getTime(own) < getTime(2 * reader))
        return refuse() << "the reads of part " << reader << ", which it needs";
  int64_t sums = parts[0] * parts[1];
  if (int64_t(number) >= sums && !dot.isPromoted() &&
      getTime(own) < getTime(2 * (number - sums) + 1))
    return refuse() << "that of part " << number - sums << ", to whose sum it adds";
  // Of what is not read nothing can be said.
  auto [stage, order] = getTime(own);
  if (!hasReads && getTime(own - 1) != std::pair(stage, order - 1))
    return refuse()
           << "no reads, at the place right in front of it: others have read what it needs";
  return success();
}

/// Orders of all that the parts do, where the dot has one.
void DotRealiser::makeRoom() {
  if (orders.empty())
    return;
  int64_t own = *dot.getOrder(), more = orders.size() - 1;
  for (Operation &op : *dot->getBlock())
    if (std::optional<int64_t> order = findNumber(&op, "order"); order && *order > own)
      op.setAttr(spellDecision(&op, "order"), builder.getI64IntegerAttr(*order + more));
}

/// One part; `later` dots come behind it.
DotOp DotRealiser::multiply(const Part &part, Value sum, int64_t later, PartPlace at) {
  auto made = cast<DotOp>(builder.clone(*dot));
  made->setOperands({part.a, part.b, sum});
  made.getResult().setType(cast<RankedTensorType>(sum.getType()));
  made.removePartsAttr();
  made.removeReadsAheadAttr();
  made.removePartStagesAttr();
  made.removePartOrdersAttr();
  made.removePromoteAttr();
  // Of the instructions of all of them.
  if (later > 0)
    made.removeInterleaveAttr();
  if (dot.isPromoted() && dot.getInFlight())
    made.setInFlight(std::min<int64_t>(*dot.getInFlight(), later));
  if (part.m || part.n || part.k)
    eraseOrder(made);
  if (at.stage)
    made.setStageAttr(at.stage);
  if (at.order)
    made.setOrderAttr(at.order);
  return made;
}

/// Adds the sum of a part.
void DotRealiser::promote(DotOp part, Value &sum) {
  auto added = arith::AddFOp::create(builder, dot.getLoc(), sum, part.getResult());
  copyPlace(part, added);
  eraseOrder(added);
  if (std::optional<StringRef> role = dot.getRole())
    setRoleName(added, *role);
  sum = added;
}

/// Who takes a part of the result gets that part's sum; others get all of them, joined.
void DotRealiser::replaceResult() {
  SmallVector<PartBox> boxes = getSumBoxes(dot);
  for (Operation *user : llvm::make_early_inc_range(dot->getUsers())) {
    auto slice = dyn_cast<SliceOp>(user);
    for (auto [box, sum] : llvm::zip_equal(boxes, sums)) {
      if (!slice || slice.getType() != sum.getType() || slice.getOffsets() != ArrayRef(box.offsets))
        continue;
      slice.replaceAllUsesWith(sum);
      slice.erase();
      break;
    }
  }
  if (dot->use_empty())
    return;
  Operation *behind = dot->getPrevNode();
  dot.replaceAllUsesWith(joinParts(builder, dot, sums));
  // Parts in flight are waited for where their results are used.
  if (dot.getInFlight())
    return;
  for (Operation *op = dot->getPrevNode(); op != behind; op = op->getPrevNode()) {
    copyPlace(dot, op);
    eraseOrder(op);
  }
}

LogicalResult DotRealiser::realise() {
  if (failed(check()))
    return failure();
  makeRoom();
  SmallVector<Part> all;
  for (int64_t k = 0; k < parts[2]; ++k)
    for (int64_t m = 0; m < parts[0]; ++m)
      for (int64_t n = 0; n < parts[1]; ++n)
        all.push_back({m, n, k, {}, {}});
  for (const Part &part : ArrayRef(all).take_front(parts[0] * parts[1]))
    sums.push_back(cutter.cut(dot.getAccumulator(), getBox(2, part)));
  Value zero;
  if (dot.isPromoted()) {
    auto type = cast<RankedTensorType>(sums.front().getType());
    zero = arith::ConstantOp::create(builder, dot.getLoc(),
                                     DenseElementsAttr::get(type, builder.getF32FloatAttr(0)));
  }
  size_t cut = 0, ahead = dot.getReadsAhead().value_or(0);
  size_t waiting = dot.getInFlight().value_or(0);
  SmallVector<DotOp> started;
  int64_t firstPieces = 0;
  for (auto [number, part] : llvm::enumerate(all)) {
    size_t reads = cutter.countReads();
    for (; cut < all.size() && cut <= number + ahead; ++cut) {
      cutter.begin(cut, getPlace(cut, /*ofDot=*/false));
      all[cut].a = cutter.cut(dot.getA(), getBox(0, all[cut]));
      all[cut].b = cutter.cut(dot.getB(), getBox(1, all[cut]));
      if (cut == 0)
        firstPieces = cutter.countPieces();
    }
    if (failed(checkPlaces(all, number, /*hasReads=*/cutter.countReads() > reads)))
      return failure();
    Value &sum = getSum(part);
    started.push_back(multiply(part, dot.isPromoted() ? zero : sum, all.size() - 1 - number,
                               getPlace(number, /*ofDot=*/true)));
    if (!dot.isPromoted())
      sum = started.back().getResult();
    else if (number >= waiting)
      promote(started[number - waiting], getSum(all[number - waiting]));
  }
  if (dot.isPromoted())
    for (size_t number = all.size() - waiting; number < all.size(); ++number)
      promote(started[number], getSum(all[number]));
  if (ahead > 0 && cutter.countPieces() == firstPieces)
    return dot.emitOpError("expected operands that are read out of shared memory part by part, "
                           "since 'reads_ahead' is decided");
  replaceResult();
  dot.erase();
  cutter.finish();
  return success();
}

namespace {
struct RealiseParts : kiln::impl::RealisePartsBase<RealiseParts> {
  void runOnOperation() override {
    SmallVector<DotOp> dots;
    getOperation().walk([&](DotOp dot) {
      if (dot.getParts() || dot.isPromoted())
        dots.push_back(dot);
      else
        dot.removePromoteAttr();
    });
    for (DotOp dot : dots)
      if (failed(DotRealiser(dot).realise()))
        return signalPassFailure();
  }
};
} // namespace
