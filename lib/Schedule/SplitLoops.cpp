// Cuts a loop in two where a condition in it changes, so that neither part has it.
//
// It does so once stages are realised: accumulators, what is in flight and, later, slots go from
// the first part to the second as they go from trip to trip.
#include "Decisions.h"
#include "kiln/Schedule/Passes.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/Support/MathExtras.h"
#include <map>

namespace kiln {
#define GEN_PASS_DEF_SPLITLOOPS
#include "kiln/Schedule/Passes.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;
using Predicate = arith::CmpIPredicate;

namespace {
/// Where a condition of a loop changes.
struct Change {
  Value bound;
  /// What is added to the induction variable that is compared; null if nothing is.
  Value shift;
  /// Whether the bound itself is still in front of the change.
  bool isBehindBound;
  bool holdsInFront;
  bool isUnsigned;
};
} // namespace

static Predicate swapSides(Predicate predicate) {
  switch (predicate) {
  case Predicate::slt:
    return Predicate::sgt;
  case Predicate::sle:
    return Predicate::sge;
  case Predicate::sgt:
    return Predicate::slt;
  case Predicate::sge:
    return Predicate::sle;
  case Predicate::ult:
    return Predicate::ugt;
  case Predicate::ule:
    return Predicate::uge;
  case Predicate::ugt:
    return Predicate::ult;
  case Predicate::uge:
    return Predicate::ule;
  default:
    return predicate;
  }
}

/// Whether a number is not below zero for what it is made of.
static bool isNatural(Value value) {
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return *constant >= 0;
  Operation *op = value.getDefiningOp();
  if (isa_and_nonnull<ProgramIdOp, NumProgramsOp, DimOp>(op))
    return true;
  return isa_and_nonnull<arith::AddIOp, arith::MulIOp, arith::MinUIOp>(op) &&
         llvm::all_of(op->getOperands(), isNatural);
}

/// A number, if sums and products of constants make it.
static std::optional<int64_t> findNumber(Value value) {
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return constant;
  Operation *op = value.getDefiningOp();
  if (!isa_and_nonnull<arith::AddIOp, arith::MulIOp>(op))
    return std::nullopt;
  std::optional<int64_t> x = findNumber(op->getOperand(0)), y = findNumber(op->getOperand(1));
  int64_t number;
  bool overflows = !x || !y ||
                   (isa<arith::AddIOp>(op) ? llvm::AddOverflow(*x, *y, number)
                                           : llvm::MulOverflow(*x, *y, number));
  return overflows ? std::nullopt : std::optional(number);
}

/// Whether no number that a condition compares is below zero.
static bool comparesNaturals(scf::ForOp loop, Value shift) {
  Value lower = loop.getLowerBound();
  if (!shift)
    return isNatural(lower);
  std::optional<int64_t> first = findNumber(lower), by = findNumber(shift);
  int64_t least;
  return first && by && !llvm::AddOverflow(*first, *by, least) && least >= 0;
}

/// Moves what makes a value in front of a loop; whether it is there then.
static bool hoist(Value value, scf::ForOp loop) {
  if (loop.isDefinedOutsideOfLoop(value))
    return true;
  Operation *op = value.getDefiningOp();
  if (!op || !isPure(op) || op->getNumRegions() > 0 ||
      !llvm::all_of(op->getOperands(), [&](Value operand) { return hoist(operand, loop); }))
    return false;
  op->moveBefore(loop);
  return true;
}

static FailureOr<Change> findChange(scf::IfOp condition, scf::ForOp loop) {
  auto fail = [&](const Twine &expected) {
    return condition.emitOpError("expected ")
           << expected << ", since '" << kSplitLoopAttrName << "' is decided";
  };
  Value iv = loop.getInductionVar();
  if (!iv.getType().isIndex())
    return fail("a loop over index numbers");
  Change change;
  // A later stage compares what the variable was some trips before.
  auto isVariable = [&](Value value) {
    auto sum = value.getDefiningOp<arith::AddIOp>();
    if (!sum || sum.getLhs() != iv || !hoist(sum.getRhs(), loop))
      return value == iv;
    change.shift = sum.getRhs();
    return true;
  };
  auto compare = condition.getCondition().getDefiningOp<arith::CmpIOp>();
  bool isLeft = compare && isVariable(compare.getLhs());
  if (!compare || (!isLeft && !isVariable(compare.getRhs())))
    return fail("a comparison of the loop's induction variable");
  Predicate predicate = isLeft ? compare.getPredicate() : swapSides(compare.getPredicate());
  change.bound = isLeft ? compare.getRhs() : compare.getLhs();
  if (!loop.isDefinedOutsideOfLoop(change.bound))
    return fail("a comparison with what does not change in the loop");
  if (predicate == Predicate::eq || predicate == Predicate::ne)
    return fail("a condition that changes once");
  change.isUnsigned = llvm::is_contained(
      {Predicate::ult, Predicate::ule, Predicate::ugt, Predicate::uge}, predicate);
  change.holdsInFront = llvm::is_contained(
      {Predicate::ult, Predicate::ule, Predicate::slt, Predicate::sle}, predicate);
  change.isBehindBound = llvm::is_contained(
      {Predicate::ule, Predicate::sle, Predicate::ugt, Predicate::sgt}, predicate);
  if (loop.getUnsignedCmp())
    return fail("a loop whose bounds are signed");
  if (change.isUnsigned && !comparesNaturals(loop, change.shift))
    return fail("a signed comparison, or a loop from no negative number");
  return change;
}

/// The first of the loop's numbers that lies behind the change; no more than its end.
static Value findMiddle(OpBuilder &builder, scf::ForOp loop, const Change &change) {
  Location loc = loop.getLoc();
  IndexMath math{builder, loc};
  Value lower = loop.getLowerBound(), upper = loop.getUpperBound(), bound = change.bound;
  // No bound is farther than the loop's end, as it is compared.
  Value end = change.shift ? math.add(upper, change.shift) : upper;
  if (change.isUnsigned) {
    Value isHuge = arith::CmpIOp::create(builder, loc, Predicate::slt, bound, math.constant(0));
    bound = arith::SelectOp::create(builder, loc, isHuge, end, bound);
  }
  bound = arith::MinSIOp::create(builder, loc, bound, end);
  if (change.isBehindBound)
    bound = math.add(bound, math.constant(1));
  if (change.shift)
    bound = math.sub(bound, change.shift);
  Value span = math.sub(arith::MaxSIOp::create(builder, loc, bound, lower), lower);
  Value trips = arith::CeilDivUIOp::create(builder, loc, span, loop.getStep());
  Value middle = math.add(lower, math.mul(trips, loop.getStep()));
  return middle;
}

static std::optional<int64_t> findShift(const Change &change) {
  return change.shift ? findNumber(change.shift) : std::optional<int64_t>(0);
}

/// By how much more another condition shifts the variable, if it compares it with the same bound in
/// the same way. A mask of a later stage does, of what the variable was some trips before, and the
/// mask of each trip of a loop that is written out for several.
static std::optional<int64_t> findDistance(const Change &change, const Change &other) {
  std::optional<int64_t> here = findShift(change), there = findShift(other);
  if (!here || !there || other.bound != change.bound ||
      other.isBehindBound != change.isBehindBound || other.isUnsigned != change.isUnsigned)
    return std::nullopt;
  return *there - *here;
}

/// Replaces a condition by the branch that is taken.
static void choose(scf::IfOp condition, bool holds) {
  Block *taken = holds ? condition.thenBlock() : condition.elseBlock();
  if (taken) {
    SmallVector<Value> values(taken->getTerminator()->getOperands());
    taken->getTerminator()->erase();
    condition->getBlock()->getOperations().splice(condition->getIterator(), taken->getOperations());
    condition->replaceAllUsesWith(values);
  }
  condition.erase();
}

namespace {
/// A condition at which a loop is to be cut.
struct Marked {
  scf::IfOp condition;
  Change change;
};
} // namespace

static FailureOr<SmallVector<Marked>> findMarked(scf::ForOp loop) {
  SmallVector<Marked> all;
  for (auto condition : loop.getBody()->getOps<scf::IfOp>()) {
    if (!condition->hasAttr(kSplitLoopAttrName))
      continue;
    FailureOr<Change> change = findChange(condition, loop);
    if (failed(change))
      return failure();
    all.push_back({condition, *change});
  }
  return all;
}

/// Cuts a loop where a condition changes, into the part in front and the part behind.
static std::pair<scf::ForOp, scf::ForOp> cut(scf::ForOp loop, ArrayRef<Marked> all, Marked at) {
  OpBuilder builder(loop);
  Value middle = findMiddle(builder, loop, at.change);
  // What lies in front ends with the loop, even if the change lies behind its end.
  Value end = arith::MinSIOp::create(builder, loop.getLoc(), middle, loop.getUpperBound());
  auto make = [&](Value lower, Value upper, ValueRange initial, bool inFront) {
    IRMapping mapping;
    auto part = cast<scf::ForOp>(builder.clone(*loop, mapping));
    part.setLowerBound(lower);
    part.setUpperBound(upper);
    part.getInitArgsMutable().assign(initial);
    for (Marked each : all) {
      std::optional<int64_t> distance = findDistance(at.change, each.change);
      if (each.condition.getCondition() == at.condition.getCondition() ||
          (distance && (inFront ? *distance <= 0 : *distance >= 0)))
        choose(cast<scf::IfOp>(mapping.lookup(each.condition.getOperation())),
               each.change.holdsInFront == inFront);
    }
    return part;
  };
  scf::ForOp front = make(loop.getLowerBound(), end, loop.getInitArgs(), /*inFront=*/true);
  scf::ForOp behind = make(middle, loop.getUpperBound(), front.getResults(), /*inFront=*/false);
  loop->replaceAllUsesWith(behind);
  loop.erase();
  return {front, behind};
}

/// The conditions that change as that of `all.front()` does, from the first to change to the last
/// that changes within a trip of it, by their distances from `all.front()`.
static std::map<int64_t, Marked> findTogether(ArrayRef<Marked> all, scf::ForOp loop) {
  std::map<int64_t, Marked> together;
  for (Marked each : all)
    if (std::optional<int64_t> distance = findDistance(each.change, all.front().change))
      together.insert({*distance, each});
  std::optional<int64_t> step = findNumber(loop.getStep());
  if (!step)
    return {};
  if (!together.empty())
    together.erase(together.lower_bound(together.begin()->first + *step), together.end());
  return together;
}

/// A condition that stays, and with it those that stand in it: no loop is cut at what it hides.
static void keep(scf::IfOp condition) {
  condition->walk<WalkOrder::PreOrder>([](Operation *inner) {
    if (isa<LoopLikeOpInterface>(inner))
      return WalkResult::skip();
    inner->removeAttr(kSplitLoopAttrName);
    return WalkResult::advance();
  });
}

/// Loops of one condition each; those with another are cut again.
static LogicalResult split(scf::ForOp loop) {
  FailureOr<SmallVector<Marked>> all = findMarked(loop);
  if (failed(all) || all->empty())
    return failure(failed(all));
  std::map<int64_t, Marked> together = findTogether(*all, loop);
  if (together.size() < 3) {
    auto [front, behind] = cut(loop, *all, all->front());
    return failure(failed(split(front)) || failed(split(behind)));
  }
  // Between the first and the last of them lies one trip at most, which keeps its conditions: cut
  // at each, a loop that is written out for many trips would be as many loops.
  Change first = together.begin()->second.change;
  int64_t span = together.rbegin()->first - together.begin()->first;
  auto [front, rest] = cut(loop, *all, together.begin()->second);
  if (failed(all = findMarked(rest)))
    return failure();
  auto *last =
      llvm::find_if(*all, [&](Marked each) { return findDistance(each.change, first) == span; });
  auto [middle, behind] = cut(rest, *all, *last);
  if (failed(all = findMarked(middle)))
    return failure();
  for (Marked each : *all)
    if (std::optional<int64_t> late = findDistance(each.change, first); late && *late <= span)
      keep(each.condition);
  return failure(failed(split(front)) || failed(split(middle)) || failed(split(behind)));
}

namespace {
struct SplitLoops : kiln::impl::SplitLoopsBase<SplitLoops> {
  void runOnOperation() override {
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp loop : loops)
      if (failed(split(loop)))
        return signalPassFailure();
  }
};
} // namespace
