// Finds the trips of a loop in which a mask holds for all elements.
#include "MaskGuards.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;
using Predicate = arith::CmpIPredicate;

/// Larger expressions are left alone. It also bounds sums: 2^6 numbers within 2^56 fit 64 bits.
static constexpr int64_t kMostTerms = 64;
static constexpr int64_t kFarthest = int64_t(1) << 56;

/// The sum or difference of the ranges of two operands.
std::optional<Interval> MaskFinder::findSum(Operation *op, bool isDifference) {
  std::optional<Interval> x = findInterval(op->getOperand(0)), y = findInterval(op->getOperand(1));
  if (!x || !y)
    return std::nullopt;
  Interval sum;
  sum.growth = isDifference ? x->growth - y->growth : x->growth + y->growth;
  if (std::abs(sum.growth) > 1)
    return std::nullopt;
  sum.least = isDifference ? math.sub(x->least, y->most) : math.add(x->least, y->least);
  sum.most = isDifference ? math.sub(x->most, y->least) : math.add(x->most, y->most);
  sum.mayWrap = getElementTypeOrSelf(op->getResult(0).getType()).isInteger(32);
  return sum;
}

std::optional<Interval> MaskFinder::findInterval(Value value) {
  if (++terms > kMostTerms)
    return std::nullopt;
  if (value == loop.getInductionVar())
    return Interval{1, math.constant(0), math.constant(0)};
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant))) {
    if (constant.getSignificantBits() > 32)
      return std::nullopt;
    Value number = math.constant(constant.getSExtValue());
    return Interval{0, number, number};
  }
  bool isScalar = !isa<RankedTensorType>(value.getType());
  Type element = getElementTypeOrSelf(value.getType());
  if (!element.isIndex() && !element.isInteger(32) && !element.isInteger(64))
    return std::nullopt;
  if (isScalar && loop.isDefinedOutsideOfLoop(value)) {
    if (!element.isIndex())
      value = arith::IndexCastOp::create(builder, loop.getLoc(), builder.getIndexType(), value);
    if (!element.isInteger(32))
      leaves.insert(value);
    return Interval{0, value, value};
  }
  Operation *op = value.getDefiningOp();
  if (!op) // the loop carries it
    return std::nullopt;
  return TypeSwitch<Operation *, std::optional<Interval>>(op)
      .Case<arith::AddIOp>([&](auto) { return findSum(op, /*isDifference=*/false); })
      .Case<arith::SubIOp>([&](auto) { return findSum(op, /*isDifference=*/true); })
      .Case<SplatOp, BroadcastOp, ReshapeOp>([&](auto) { return findInterval(op->getOperand(0)); })
      .Case<arith::IndexCastOp, arith::ExtSIOp, arith::TruncIOp>([&](auto) {
        std::optional<Interval> from = findInterval(op->getOperand(0));
        if (!from || element.isInteger(32)) {
          if (from)
            from->mayWrap = true;
          return from;
        }
        return from->mayWrap ? std::nullopt : from;
      })
      .Case<IotaOp>([&](IotaOp iota) {
        int64_t extent = iota.getType().getDimSize(iota.getDim());
        return Interval{0, math.constant(0), math.constant(extent - 1)};
      })
      .Default(std::optional<Interval>());
}

/// Whether a mask, or its negation, is nothing but comparisons that all hold.
bool MaskFinder::findComparisons(Value mask, bool isNegated, SmallVectorImpl<Comparison> &found) {
  Operation *op = mask.getDefiningOp();
  if (!op || ++terms > kMostTerms)
    return false;
  if (isa<BroadcastOp, ReshapeOp, SplatOp>(op))
    return findComparisons(op->getOperand(0), isNegated, found);
  if (isNegated ? isa<arith::OrIOp>(op) : isa<arith::AndIOp>(op))
    return findComparisons(op->getOperand(0), isNegated, found) &&
           findComparisons(op->getOperand(1), isNegated, found);
  if (isa<arith::XOrIOp>(op) && matchPattern(op->getOperand(1), m_One()))
    return findComparisons(op->getOperand(0), !isNegated, found);
  auto compare = dyn_cast<arith::CmpIOp>(op);
  if (!compare)
    return false;
  Predicate predicate = compare.getPredicate();
  if (isNegated)
    predicate = arith::invertPredicate(predicate);
  bool isTurned = predicate == Predicate::sgt || predicate == Predicate::sge;
  if (!isTurned && predicate != Predicate::slt && predicate != Predicate::sle)
    return false;
  std::optional<Interval> x = findInterval(isTurned ? compare.getRhs() : compare.getLhs());
  std::optional<Interval> y = findInterval(isTurned ? compare.getLhs() : compare.getRhs());
  if (!x || !y || std::abs(y->growth - x->growth) > 1)
    return false;
  found.push_back({*x, *y, predicate == Predicate::slt || predicate == Predicate::sgt,
                   getElementTypeOrSelf(compare.getLhs().getType()).isInteger(32)});
  return true;
}

/// Conditions under which no number of an interval wraps in 32 bits, in any trip.
void MaskFinder::collectFits(const Interval &interval, SmallVectorImpl<Value> &fits) {
  Value lower = loop.getLowerBound(), upper = loop.getUpperBound();
  Value least = interval.least, most = interval.most;
  if (interval.growth > 0) {
    least = math.add(least, lower);
    most = math.add(most, upper);
  } else if (interval.growth < 0) {
    least = math.sub(least, upper);
    most = math.sub(most, lower);
  }
  fits.push_back(isNoLess(least, math.constant(std::numeric_limits<int32_t>::min())));
  fits.push_back(isNoLess(math.constant(std::numeric_limits<int32_t>::max()), most));
}

/// No trip at all if numbers might wrap where they are compared.
WholeTrips MaskFinder::findWhole(ArrayRef<Comparison> comparisons) {
  Value lower = loop.getLowerBound(), never = math.sub(lower, math.constant(1));
  SmallVector<Value> fits;
  for (Value bound : {lower, loop.getUpperBound()})
    leaves.insert(bound);
  for (Value leaf : leaves) {
    std::optional<int64_t> constant = getConstantIntValue(leaf);
    if (constant && *constant >= -kFarthest && *constant <= kFarthest)
      continue;
    fits.push_back(isNoLess(leaf, math.constant(-kFarthest)));
    fits.push_back(isNoLess(math.constant(kFarthest), leaf));
  }
  WholeTrips whole;
  Value last = loop.getUpperBound();
  for (const Comparison &comparison : comparisons) {
    const Interval &x = comparison.x, &y = comparison.y;
    if (comparison.isNarrow) {
      collectFits(x, fits);
      collectFits(y, fits);
    }
    Value room = math.sub(y.least, x.most);
    if (comparison.isStrict)
      room = math.sub(room, math.constant(1));
    int growth = y.growth - x.growth;
    if (growth < 0) {
      last = arith::MinSIOp::create(builder, loop.getLoc(), last, room);
    } else if (growth > 0) {
      Value first = math.sub(math.constant(0), room);
      whole.first =
          whole.first ? arith::MaxSIOp::create(builder, loop.getLoc(), whole.first, first) : first;
    } else {
      fits.push_back(isNoLess(room, math.constant(0)));
    }
  }
  Value all;
  for (Value each : fits)
    all = all ? arith::AndIOp::create(builder, loop.getLoc(), all, each) : each;
  whole.last = all ? choose(all, last, never) : last;
  return whole;
}

/// Whether a tensor is more than a value that stays through the loop: it is what a mask keeps.
bool MaskFinder::changes(Value value) {
  if (loop.isDefinedOutsideOfLoop(value))
    return false;
  Operation *op = value.getDefiningOp();
  if (isa_and_nonnull<SplatOp, BroadcastOp, ReshapeOp>(op))
    return changes(op->getOperand(0));
  return !op || !op->hasTrait<OpTrait::ConstantLike>();
}

std::optional<WholeTrips> MaskFinder::find(arith::SelectOp select) {
  if (!isa<RankedTensorType>(select.getType()) ||
      !isa<RankedTensorType>(select.getCondition().getType()) ||
      !loop.getInductionVar().getType().isIndex() || loop.getUnsignedCmp())
    return std::nullopt;
  for (bool negated : {false, true}) {
    if (!changes(negated ? select.getFalseValue() : select.getTrueValue()))
      continue;
    SmallVector<Comparison> found;
    leaves.clear();
    terms = 0;
    if (!findComparisons(select.getCondition(), negated, found))
      continue;
    if (llvm::all_of(found, [](const Comparison &each) { return each.x.growth == each.y.growth; }))
      return std::nullopt;
    WholeTrips whole = findWhole(found);
    whole.isNegated = negated;
    return whole;
  }
  return std::nullopt;
}
