// Masks of which a loop needs only the last trips.
//
// A tensor is masked by comparing numbers that grow with the loop's variable with numbers that do
// not change in the loop. The largest of the one and the least of the other say up to which trip
// all elements pass. From there on a condition masks; so the loop can be cut where it begins.
#include "Decisions.h"
#include "kiln/Schedule/Passes.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

namespace kiln {
#define GEN_PASS_DEF_GUARDMASKS
#include "kiln/Schedule/Passes.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;
using Predicate = arith::CmpIPredicate;

/// Masks of smaller tensors cost less than the code of a second loop.
static constexpr int64_t kFewestElements = 1024;

namespace {
/// What the elements of an integer tensor, or a number, lie between: `least` and `most`, which do
/// not change in the loop, and the loop's variable added to both if it `grows`. Of the index type,
/// so that no sum of numbers of 32 bits wraps.
struct Interval {
  bool grows;
  Value least, most;
};

/// One comparison that a mask is made of: each element of `x` is less than that of `y`, or, if not
/// `isStrict`, no greater.
struct Comparison {
  Interval x, y;
  bool isStrict;
};

class MaskGuard {
public:
  explicit MaskGuard(scf::ForOp loop) : loop(loop), builder(loop), math{builder, loop.getLoc()} {}
  /// Whether the loop had a mask to guard.
  bool run();

private:
  std::optional<Interval> findInterval(Value value);
  std::optional<Interval> findSum(Operation *op, bool isDifference);
  bool findComparisons(Value mask, SmallVectorImpl<Comparison> &found);
  Value findLastWhole(ArrayRef<Comparison> comparisons);
  void guard(arith::SelectOp select, Value last);

  Value isNoLess(Value x, Value y) {
    return arith::CmpIOp::create(builder, loop.getLoc(), Predicate::sge, x, y);
  }
  Value choose(Value condition, Value x, Value y) {
    return arith::SelectOp::create(builder, loop.getLoc(), condition, x, y);
  }

  scf::ForOp loop;
  OpBuilder builder;
  IndexMath math;
};
} // namespace

/// The sum or difference of the ranges of two operands.
std::optional<Interval> MaskGuard::findSum(Operation *op, bool isDifference) {
  std::optional<Interval> x = findInterval(op->getOperand(0)), y = findInterval(op->getOperand(1));
  if (!x || !y || (x->grows && y->grows) || (isDifference && y->grows))
    return std::nullopt;
  if (isDifference)
    return Interval{x->grows, math.sub(x->least, y->most), math.sub(x->most, y->least)};
  return Interval{x->grows || y->grows, math.add(x->least, y->least), math.add(x->most, y->most)};
}

std::optional<Interval> MaskGuard::findInterval(Value value) {
  if (value == loop.getInductionVar())
    return Interval{true, math.constant(0), math.constant(0)};
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)) && constant.getSignificantBits() <= 32) {
    Value number = math.constant(constant.getSExtValue());
    return Interval{false, number, number};
  }
  bool isScalar = !isa<RankedTensorType>(value.getType());
  Type element = getElementTypeOrSelf(value.getType());
  if (!element.isIndex() && !element.isInteger(32) && !element.isInteger(64))
    return std::nullopt;
  if (isScalar && loop.isDefinedOutsideOfLoop(value)) {
    if (!element.isIndex())
      value = arith::IndexCastOp::create(builder, loop.getLoc(), builder.getIndexType(), value);
    return Interval{false, value, value};
  }
  Operation *op = value.getDefiningOp();
  return TypeSwitch<Operation *, std::optional<Interval>>(op)
      .Case<arith::AddIOp>([&](auto) { return findSum(op, /*isDifference=*/false); })
      .Case<arith::SubIOp>([&](auto) { return findSum(op, /*isDifference=*/true); })
      .Case<SplatOp, BroadcastOp, ReshapeOp, arith::IndexCastOp, arith::ExtSIOp, arith::TruncIOp>(
          [&](auto) { return findInterval(op->getOperand(0)); })
      .Case<IotaOp>([&](IotaOp iota) {
        int64_t extent = iota.getType().getDimSize(iota.getDim());
        return Interval{false, math.constant(0), math.constant(extent - 1)};
      })
      .Default(std::optional<Interval>());
}

/// Whether a mask is nothing but comparisons that all of its elements pass at first.
bool MaskGuard::findComparisons(Value mask, SmallVectorImpl<Comparison> &found) {
  Operation *op = mask.getDefiningOp();
  if (isa_and_nonnull<BroadcastOp, ReshapeOp>(op))
    return findComparisons(op->getOperand(0), found);
  if (isa_and_nonnull<arith::AndIOp>(op))
    return findComparisons(op->getOperand(0), found) && findComparisons(op->getOperand(1), found);
  auto compare = dyn_cast_or_null<arith::CmpIOp>(op);
  if (!compare || !getElementTypeOrSelf(compare.getLhs().getType()).isInteger(32))
    return false;
  Predicate predicate = compare.getPredicate();
  bool isTurned = predicate == Predicate::sgt || predicate == Predicate::sge;
  if (!isTurned && predicate != Predicate::slt && predicate != Predicate::sle)
    return false;
  std::optional<Interval> x = findInterval(isTurned ? compare.getRhs() : compare.getLhs());
  std::optional<Interval> y = findInterval(isTurned ? compare.getLhs() : compare.getRhs());
  if (!x || !y || y->grows)
    return false;
  found.push_back({*x, *y, predicate == Predicate::slt || predicate == Predicate::sgt});
  return true;
}

/// The last number of the loop's at which all elements pass; one in front of the loop if a sum
/// might not fit the 32 bits that are compared.
Value MaskGuard::findLastWhole(ArrayRef<Comparison> comparisons) {
  Value least = math.constant(std::numeric_limits<int32_t>::min());
  Value most = math.constant(std::numeric_limits<int32_t>::max());
  Value lower = loop.getLowerBound(), never = math.sub(lower, math.constant(1));
  Value last;
  for (const Comparison &comparison : comparisons) {
    auto [x, y, isStrict] = comparison;
    Value up = math.sub(y.least, x.most);
    if (isStrict)
      up = math.sub(up, math.constant(1));
    // What does not grow passes always or never.
    if (!x.grows)
      up = choose(isNoLess(up, math.constant(0)), loop.getUpperBound(), never);
    Value first = x.grows ? math.add(lower, x.least) : x.least;
    for (Value fits : {isNoLess(y.least, least), isNoLess(most, y.most), isNoLess(first, least)})
      up = choose(fits, up, never);
    last = last ? arith::MinSIOp::create(builder, loop.getLoc(), last, up).getResult() : up;
  }
  return last;
}

/// Masks behind `last` alone; what makes the mask alone goes there too.
void MaskGuard::guard(arith::SelectOp select, Value last) {
  builder.setInsertionPoint(select);
  Location loc = select.getLoc();
  Value isBehind =
      arith::CmpIOp::create(builder, loc, Predicate::sgt, loop.getInductionVar(), last);
  auto condition = scf::IfOp::create(builder, loc, select.getType(), isBehind,
                                     /*withElseRegion=*/true);
  condition->setAttr(kSplitLoopAttrName, builder.getUnitAttr());
  select.getResult().replaceAllUsesWith(condition.getResult(0));
  OpBuilder behind = condition.getThenBodyBuilder(), before = condition.getElseBodyBuilder();
  scf::YieldOp::create(before, loc, select.getTrueValue());
  auto yield = scf::YieldOp::create(behind, loc, select.getResult());
  select->moveBefore(yield);
  Block *body = loop.getBody();
  Operation *next = condition->getPrevNode();
  while (Operation *op = next) {
    next = op->getPrevNode();
    bool isInside =
        !op->use_empty() && isPure(op) && llvm::all_of(op->getUsers(), [&](Operation *user) {
          return condition.getThenRegion().isAncestor(user->getParentRegion());
        });
    if (isInside && op->getBlock() == body && op->getNumRegions() == 0)
      op->moveBefore(&condition.getThenRegion().front().front());
  }
}

bool MaskGuard::run() {
  if (!loop.getInductionVar().getType().isIndex() || loop.getUnsignedCmp())
    return false;
  for (auto select : loop.getBody()->getOps<arith::SelectOp>()) {
    auto type = dyn_cast<RankedTensorType>(select.getType());
    SmallVector<Comparison> comparisons;
    if (!type || type.getNumElements() < kFewestElements ||
        !isa<RankedTensorType>(select.getCondition().getType()) ||
        !findComparisons(select.getCondition(), comparisons) ||
        llvm::none_of(comparisons, [](const Comparison &each) { return each.x.grows; }))
      continue;
    guard(select, findLastWhole(comparisons));
    return true;
  }
  return false;
}

namespace {
struct GuardMasks : kiln::impl::GuardMasksBase<GuardMasks> {
  void runOnOperation() override {
    for (KernelOp kernel : getOperation().getOps<KernelOp>()) {
      if (!kernel->hasAttr(kRolesAttrName))
        continue;
      SmallVector<scf::ForOp> loops;
      kernel.getBody().walk([&](scf::ForOp loop) {
        bool hasProducts = llvm::any_of(loop.getBody()->getOps<DotOp>(), [](DotOp dot) {
          return dot.getAtomAttr() && !dot.getInFlight();
        });
        if (hasProducts)
          loops.push_back(loop);
      });
      for (scf::ForOp loop : loops)
        (void)MaskGuard(loop).run();
    }
  }
};
} // namespace
