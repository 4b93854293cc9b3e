// Masks that only some trips of a loop need.
//
// A mask compares integers that are affine in the loop's variable with coefficient -1, 0 or 1.
// Their ranges over all elements give the trips in which every element passes: from `first` to
// `last`. Conditions mask in the trips in front and behind, so that the loop can be cut at both.
#include "Decisions.h"
#include "kiln/Schedule/Passes.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"
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

/// Larger expressions are left alone. It also bounds sums: 2^6 numbers within 2^56 fit 64 bits.
static constexpr int64_t kMostTerms = 64;
static constexpr int64_t kFarthest = int64_t(1) << 56;

namespace {
/// The range of an integer tensor's elements, or of a number: the loop's variable times `growth`
/// (-1, 0 or 1) plus `least` to `most`, which do not change in the loop and have the index type.
struct Interval {
  int growth;
  Value least, most;
  /// Whether arithmetic of 32 bits may have wrapped, so that only the lowest 32 bits are these.
  bool mayWrap = false;
};

/// One comparison that a mask is made of: each element of `x` is less than that of `y`, or, if not
/// `isStrict`, no greater.
struct Comparison {
  Interval x, y;
  bool isStrict, isNarrow;
};

/// The trips that need no mask; a null value stands for no limit.
struct Whole {
  Value first, last;
};

class MaskGuard {
public:
  explicit MaskGuard(scf::ForOp loop) : loop(loop), builder(loop), math{builder, loop.getLoc()} {}
  void run();

private:
  std::optional<Interval> findInterval(Value value);
  std::optional<Interval> findSum(Operation *op, bool isDifference);
  bool findComparisons(Value mask, bool isNegated, SmallVectorImpl<Comparison> &found);
  bool changes(Value value);
  bool findMask(arith::SelectOp select, SmallVectorImpl<Comparison> &found, bool &isNegated);
  Whole findWhole(ArrayRef<Comparison> comparisons);
  void collectFits(const Interval &interval, SmallVectorImpl<Value> &fits);
  scf::IfOp guard(OpBuilder &at, arith::SelectOp select, Predicate predicate, Value bound);
  void guard(arith::SelectOp select, Value unmasked, const Whole &whole);

  Value isNoLess(Value x, Value y) {
    return arith::CmpIOp::create(builder, loop.getLoc(), Predicate::sge, x, y);
  }
  Value choose(Value condition, Value x, Value y) {
    return arith::SelectOp::create(builder, loop.getLoc(), condition, x, y);
  }

  scf::ForOp loop;
  OpBuilder builder;
  IndexMath math;
  int64_t terms = 0;
  /// Numbers of 64 bits that intervals are made of.
  SetVector<Value> leaves;
};
} // namespace

/// The sum or difference of the ranges of two operands.
std::optional<Interval> MaskGuard::findSum(Operation *op, bool isDifference) {
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

std::optional<Interval> MaskGuard::findInterval(Value value) {
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
bool MaskGuard::findComparisons(Value mask, bool isNegated, SmallVectorImpl<Comparison> &found) {
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
void MaskGuard::collectFits(const Interval &interval, SmallVectorImpl<Value> &fits) {
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
Whole MaskGuard::findWhole(ArrayRef<Comparison> comparisons) {
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
  Whole whole;
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

/// Masks where the loop's variable compares so with `bound`; what makes the mask goes there too.
scf::IfOp MaskGuard::guard(OpBuilder &at, arith::SelectOp select, Predicate predicate,
                           Value bound) {
  Location loc = select.getLoc();
  Value isOutside = arith::CmpIOp::create(at, loc, predicate, loop.getInductionVar(), bound);
  auto condition = scf::IfOp::create(at, loc, select.getType(), isOutside, /*withElseRegion=*/true);
  condition->setAttr(kSplitLoopAttrName, at.getUnitAttr());
  OpBuilder inside = condition.getThenBodyBuilder();
  IRMapping mapping;
  std::function<void(Value)> copy = [&](Value value) {
    Operation *op = value.getDefiningOp();
    if (!op || op->getBlock() != loop.getBody() || !isa<RankedTensorType>(value.getType()) ||
        !getElementTypeOrSelf(value.getType()).isIntOrIndex() || !isPure(op) ||
        op->getNumRegions() > 0 || mapping.contains(value))
      return;
    for (Value operand : op->getOperands())
      copy(operand);
    inside.clone(*op, mapping);
  };
  copy(select.getCondition());
  scf::YieldOp::create(inside, loc, inside.clone(*select, mapping)->getResults());
  return condition;
}

void MaskGuard::guard(arith::SelectOp select, Value unmasked, const Whole &whole) {
  OpBuilder at(select);
  scf::IfOp outer, inner;
  if (whole.first) {
    outer = guard(at, select, Predicate::slt, whole.first);
    at = outer.getElseBodyBuilder();
  }
  inner = guard(at, select, Predicate::sgt, whole.last);
  OpBuilder inElse = inner.getElseBodyBuilder();
  scf::YieldOp::create(inElse, select.getLoc(), unmasked);
  if (outer)
    scf::YieldOp::create(at, select.getLoc(), inner.getResults());
  select.getResult().replaceAllUsesWith((outer ? outer : inner).getResult(0));
}

/// Whether a tensor is more than a value that stays through the loop: it is what a mask keeps.
bool MaskGuard::changes(Value value) {
  if (loop.isDefinedOutsideOfLoop(value))
    return false;
  Operation *op = value.getDefiningOp();
  if (isa_and_nonnull<SplatOp, BroadcastOp, ReshapeOp>(op))
    return changes(op->getOperand(0));
  return !op || !op->hasTrait<OpTrait::ConstantLike>();
}

/// Whether a select keeps one of its values where comparisons hold.
bool MaskGuard::findMask(arith::SelectOp select, SmallVectorImpl<Comparison> &found,
                         bool &isNegated) {
  auto type = dyn_cast<RankedTensorType>(select.getType());
  if (!type || type.getNumElements() < kFewestElements ||
      !isa<RankedTensorType>(select.getCondition().getType()))
    return false;
  for (bool negated : {false, true}) {
    if (!changes(negated ? select.getFalseValue() : select.getTrueValue()))
      continue;
    found.clear();
    leaves.clear();
    terms = 0;
    isNegated = negated;
    if (findComparisons(select.getCondition(), negated, found))
      return llvm::any_of(found,
                          [](const Comparison &each) { return each.x.growth != each.y.growth; });
  }
  return false;
}

/// Guards the first mask that allows it, with all others of the same condition.
void MaskGuard::run() {
  if (!loop.getInductionVar().getType().isIndex() || loop.getUnsignedCmp())
    return;
  SmallVector<arith::SelectOp> selects(loop.getBody()->getOps<arith::SelectOp>());
  SmallVector<Comparison> comparisons;
  bool isNegated = false;
  auto *first = llvm::find_if(
      selects, [&](arith::SelectOp each) { return findMask(each, comparisons, isNegated); });
  if (first == selects.end())
    return;
  Whole whole = findWhole(comparisons);
  Value mask = first->getCondition();
  for (arith::SelectOp select : ArrayRef(first, selects.end())) {
    if (select.getCondition() != mask)
      continue;
    guard(select, isNegated ? select.getFalseValue() : select.getTrueValue(), whole);
    select.erase();
  }
  // Whatever made the mask alone, the last first.
  llvm::SetVector<Operation *> makers;
  if (Operation *maker = mask.getDefiningOp())
    makers.insert(maker);
  for (size_t i = 0; i < makers.size(); ++i)
    for (Value operand : makers[i]->getOperands())
      if (Operation *maker = operand.getDefiningOp())
        if (maker->getBlock() == loop.getBody() && maker->getNumRegions() == 0)
          makers.insert(maker);
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(*loop.getBody())))
    if (makers.contains(&op) && isOpTriviallyDead(&op))
      op.erase();
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
        MaskGuard(loop).run();
    }
  }
};
} // namespace
