// Makes an `scf.while` whose trips are counted an `scf.for`.
//
//   while i < n:            for i from i to n by 3:
//     …                       …
//     i = i + 3
//
// What else grows by a constant each trip, by as much or by a multiple of it, is computed from the
// counter, so that offsets are known to be multiples as in any loop.
#include "kiln/Dialect/Tile/IR/Decisions.h"
#include "kiln/Dialect/Tile/IR/Tile.h"
#include "kiln/Dialect/Tile/Transforms/Passes.h"
#include "kiln/Dialect/Tile/Transforms/Undecided.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace kiln::tile {
#define GEN_PASS_DEF_COUNTWHILES
#include "kiln/Dialect/Tile/Transforms/Passes.h.inc"

/// Counters of fewer bits may well come round in the trips that a loop has.
static constexpr unsigned kFewestBits = 32;

namespace {
/// A value that a loop carries and that grows by a constant in each trip.
struct Growing {
  unsigned index;
  int64_t step;
};

/// Of a loop whose trips are counted: what is compared with a bound, which no trip changes.
struct Counter : Growing {
  Value bound;
  /// Whether the loop goes on if they are equal.
  bool isIncluded;
};
} // namespace

static bool isNumber(Type type) {
  return type.isIndex() ||
         (type.isSignlessInteger() && type.getIntOrFloatBitWidth() >= kFewestBits);
}

/// What a number is before it is widened.
static Value lookThrough(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    bool isWider = isa<arith::ExtSIOp>(op) ||
                   (isa<arith::IndexCastOp>(op) && op->getResult(0).getType().isIndex());
    if (!isWider)
      break;
    value = op->getOperand(0);
  }
  return value;
}

/// By how much a trip adds to what the loop carries; nothing if not by a constant.
static std::optional<int64_t> findStep(scf::WhileOp loop, unsigned index) {
  Value carried = loop.getBeforeArguments()[index];
  if (!isNumber(carried.getType()))
    return std::nullopt;
  Operation *sum = loop.getYieldOp().getOperand(index).getDefiningOp();
  if (!isa_and_nonnull<arith::AddIOp, arith::SubIOp>(sum))
    return std::nullopt;
  auto isCarried = [&](Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    return argument && argument.getOwner() == loop.getAfterBody() &&
           loop.getConditionOp().getArgs()[argument.getArgNumber()] == carried;
  };
  bool isSum = isa<arith::AddIOp>(sum), isFirst = isCarried(sum->getOperand(0));
  std::optional<int64_t> step = getConstantIntValue(sum->getOperand(isFirst ? 1 : 0));
  if (!step || (!isFirst && !(isSum && isCarried(sum->getOperand(1)))))
    return std::nullopt;
  return isSum ? *step : -*step;
}

/// Whether no trip changes a value, and it can be computed in front of the loop.
static bool isInvariant(Value value, scf::WhileOp loop) {
  if (loop.isDefinedOutsideOfLoop(value))
    return true;
  Operation *op = value.getDefiningOp();
  return op && isPure(op) && op->getNumRegions() == 0 &&
         llvm::all_of(op->getOperands(), [&](Value operand) { return isInvariant(operand, loop); });
}

/// What says whether there is another trip; nothing if no counter and bound do.
static std::optional<Counter> findCounter(scf::WhileOp loop) {
  auto compares = loop.getConditionOp().getCondition().getDefiningOp<arith::CmpIOp>();
  // What is decided of an op of the condition would be of none of the loop's.
  auto isPlain = [](Operation &op) {
    return isPure(&op) && op.getNumRegions() == 0 && findDecision(&op).empty();
  };
  if (!compares || !llvm::all_of(loop.getBeforeBody()->without_terminator(), isPlain))
    return std::nullopt;
  for (bool isTurned : {false, true}) {
    auto counter = dyn_cast<BlockArgument>(lookThrough(compares->getOperand(isTurned)));
    Value bound = compares->getOperand(!isTurned);
    if (!counter || counter.getOwner() != loop.getBeforeBody() || !isNumber(bound.getType()) ||
        !isInvariant(bound, loop))
      continue;
    std::optional<int64_t> step = findStep(loop, counter.getArgNumber());
    arith::CmpIPredicate asks = compares.getPredicate();
    bool isLess = asks == arith::CmpIPredicate::slt || asks == arith::CmpIPredicate::sle;
    bool isGreater = asks == arith::CmpIPredicate::sgt || asks == arith::CmpIPredicate::sge;
    if (!step || *step == 0 || (!isLess && !isGreater) || (isLess != isTurned) != (*step > 0))
      continue;
    bool isIncluded = asks == arith::CmpIPredicate::sle || asks == arith::CmpIPredicate::sge;
    return Counter{{counter.getArgNumber(), *step}, bound, isIncluded};
  }
  return std::nullopt;
}

namespace {
class WhileCounter {
public:
  WhileCounter(scf::WhileOp loop, Counter counter)
      : loop(loop), counter(counter), builder(loop), loc(loop.getLoc()) {}
  void run();

private:
  Value toIndex(Value value) {
    Type index = builder.getIndexType();
    return value.getType() == index ? value
                                    : arith::IndexCastOp::create(builder, loc, index, value);
  }
  Value fromIndex(Value value, Type type) {
    return type.isIndex() ? value : arith::IndexCastOp::create(builder, loc, type, value);
  }
  Value constant(int64_t value) { return arith::ConstantIndexOp::create(builder, loc, value); }
  const Growing *findGrowing(unsigned index) const {
    auto *found = llvm::find_if(growing, [&](auto &its) { return its.index == index; });
    return found == growing.end() ? nullptr : found;
  }
  Value cloneBound(Value value);
  Value grow(const Growing &grown, Value moved);
  SmallVector<Value> cloneBefore(Value at, Value moved, ValueRange others);

  scf::WhileOp loop;
  Counter counter;
  OpBuilder builder;
  Location loc;
  /// What is not carried any more.
  SmallVector<Growing> growing;
};
} // namespace

/// The bound, in front of the loop.
Value WhileCounter::cloneBound(Value value) {
  if (loop.isDefinedOutsideOfLoop(value))
    return value;
  Operation *op = value.getDefiningOp();
  IRMapping mapping;
  for (Value operand : op->getOperands())
    mapping.map(operand, cloneBound(operand));
  return builder.clone(*op, mapping)->getResult(cast<OpResult>(value).getResultNumber());
}

/// A value that the loop carries, when the counter has moved so far. What wraps round in the loop
/// wraps round here.
Value WhileCounter::grow(const Growing &grown, Value moved) {
  Value init = loop.getInits()[grown.index];
  int64_t scale = grown.step / std::abs(counter.step);
  if (scale != 1)
    moved = arith::MulIOp::create(builder, loc, moved, constant(scale));
  if (init.getType() != moved.getType())
    moved = arith::IndexCastOp::create(builder, loc, init.getType(), moved);
  return arith::AddIOp::create(builder, loc, init, moved);
}

/// What the condition hands on, when the counter is there, has moved so far, and the loop carries
/// the others.
SmallVector<Value> WhileCounter::cloneBefore(Value at, Value moved, ValueRange others) {
  IRMapping mapping;
  for (auto [index, argument] : llvm::enumerate(loop.getBeforeArguments())) {
    const Growing *grown = findGrowing(index);
    if (index == counter.index) {
      mapping.map(argument, at);
    } else if (grown) {
      mapping.map(argument, grow(*grown, moved));
    } else {
      mapping.map(argument, others.front());
      others = others.drop_front();
    }
  }
  for (Operation &op : loop.getBeforeBody()->without_terminator())
    builder.clone(op, mapping);
  return llvm::map_to_vector(loop.getConditionOp().getArgs(),
                             [&](Value value) { return mapping.lookupOrDefault(value); });
}

void WhileCounter::run() {
  int64_t by = std::abs(counter.step);
  growing.push_back(counter);
  SmallVector<Value> inits;
  for (auto [index, init] : llvm::enumerate(loop.getInits())) {
    std::optional<int64_t> step = findStep(loop, index);
    if (index == counter.index)
      continue;
    if (step && *step % by == 0)
      growing.push_back({unsigned(index), *step});
    else
      inits.push_back(init);
  }
  // The loop's variable is the counter if that goes up, else how far it has gone down.
  bool goesUp = counter.step > 0;
  Value init = loop.getInits()[counter.index], zero = constant(0), step = constant(by);
  Value first = toIndex(init), bound = toIndex(cloneBound(counter.bound));
  Value begin = goesUp ? first : zero;
  Value end = goesUp ? bound : arith::SubIOp::create(builder, loc, first, bound).getResult();
  if (counter.isIncluded)
    end = arith::AddIOp::create(builder, loc, end, constant(1));
  auto made = scf::ForOp::create(builder, loc, begin, end, step, inits);
  made->setDiscardableAttrs(loop->getDiscardableAttrDictionary());

  Block *body = made.getBody();
  if (!body->empty())
    body->back().erase();
  builder.setInsertionPointToEnd(body);
  Value variable = made.getInductionVar();
  Value moved =
      goesUp ? arith::SubIOp::create(builder, loc, variable, first).getResult() : variable;
  Value at = goesUp ? variable : arith::SubIOp::create(builder, loc, first, variable).getResult();
  Value counted = fromIndex(at, init.getType());
  SmallVector<Value> handed = cloneBefore(counted, moved, made.getRegionIterArgs());
  scf::YieldOp yield = loop.getYieldOp();
  SmallVector<Value> others;
  for (auto [index, value] : llvm::enumerate(yield.getOperands()))
    if (!findGrowing(index))
      others.push_back(value);
  yield->setOperands(others);
  IRRewriter rewriter(builder);
  rewriter.mergeBlocks(loop.getAfterBody(), body, handed);
  for (Operation *user : llvm::to_vector(counted.getUsers()))
    if (isa<arith::IndexCastOp>(user) && user->getResult(0).getType().isIndex())
      user->getResult(0).replaceAllUsesWith(at);

  builder.setInsertionPointAfter(made);
  Value distance = arith::SubIOp::create(builder, loc, end, begin);
  distance = arith::MaxSIOp::create(builder, loc, distance, zero);
  moved = arith::MulIOp::create(builder, loc,
                                arith::CeilDivSIOp::create(builder, loc, distance, step), step);
  at = goesUp ? arith::AddIOp::create(builder, loc, first, moved).getResult()
              : arith::SubIOp::create(builder, loc, first, moved).getResult();
  loop->replaceAllUsesWith(cloneBefore(fromIndex(at, init.getType()), moved, made.getResults()));
  loop.erase();
}

namespace {
struct CountWhiles : public impl::CountWhilesBase<CountWhiles> {
  void runOnOperation() override {
    bool hasCounted = false;
    getOperation().walk([&](scf::WhileOp loop) {
      std::optional<Counter> counter = findCounter(loop);
      hasCounted |= counter.has_value();
      if (counter)
        WhileCounter(loop, *counter).run();
    });
    if (!hasCounted)
      return;
    canonicaliseUndecided(getOperation());
    mergeUndecided(getOperation());
  }
};
} // namespace
} // namespace kiln::tile
