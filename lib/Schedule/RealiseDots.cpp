// Dots in flight: starts, and waits where their results are used.
//
// A dot whose result its block uses is waited for in front of the first op that does; by then as
// many later dots may be under way as it says. One that only adds to a value of its loop, which is
// handed on to the next trip, stays in flight: the loop carries it as pending, and drains after the
// last trip.
#include "Rings.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

/// Whether a tensor is a constant of zeros, which need not be read.
static bool isZero(Value tensor) {
  return matchPattern(tensor, m_AnyZeroFloat()) || matchPattern(tensor, m_Zero());
}

Value kiln::isTripAfter(OpBuilder &builder, scf::ForOp loop, Value at, int64_t trips) {
  Location loc = loop.getLoc();
  IndexMath math{builder, loc};
  Value bound = loop.getLowerBound();
  if (trips == 1)
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, at, bound);
  Value last = math.add(bound, math.mul(math.constant(trips - 1), loop.getStep()));
  auto below = loop.getUnsignedCmp() ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt;
  return arith::CmpIOp::create(builder, loc, below, last, at);
}

namespace {
class DotRealiser {
public:
  using Buffers = llvm::function_ref<Value(Value, StringRef)>;
  DotRealiser(MLIRContext *context, Buffers getBuffer) : rewriter(context), getBuffer(getBuffer) {}

  void startAndWait(DotOp dot);
  void startCarried(CarriedDot &carried);

private:
  StartDotOp start(DotOp dot, Value accumulator, Value accumulates);
  template <typename Op>
  Op tag(Op op, DotOp dot) {
    setRoleName(op, getRoleName(dot));
    return op;
  }

  IRRewriter rewriter;
  Buffers getBuffer;
  /// What was started for a dot that only the next one adds to.
  DenseMap<Value, Value> pending;
};
} // namespace

StartDotOp DotRealiser::start(DotOp dot, Value accumulator, Value accumulates) {
  auto operand = [&](Value value) {
    Value buffer = getBuffer(value, getRoleName(dot));
    return buffer ? buffer : value;
  };
  return tag(StartDotOp::create(rewriter, dot.getLoc(), accumulator.getType(), operand(dot.getA()),
                                operand(dot.getB()), accumulator, accumulates,
                                dot.getTransposeAAttr(), dot.getTransposeBAttr(),
                                dot.getUnsignedAAttr(), dot.getUnsignedBAttr(),
                                dot.getPrecisionAttr(), dot.getAtomAttr()),
             dot);
}

void DotRealiser::startAndWait(DotOp dot) {
  DotWait plan = *planWait(dot);
  rewriter.setInsertionPoint(dot);
  Location loc = dot.getLoc();
  Value accumulator = pending.lookup(dot.getAccumulator()), accumulates;
  if (!accumulator && isZero(dot.getAccumulator())) {
    accumulator = ub::PoisonOp::create(rewriter, loc, PendingType::get(dot.getType()));
    accumulates = arith::ConstantIntOp::create(rewriter, loc, 0, 1);
  } else if (!accumulator) {
    accumulator =
        PendOp::create(rewriter, loc, PendingType::get(dot.getType()), dot.getAccumulator());
  }
  StartDotOp started = start(dot, accumulator, accumulates);
  if (!plan.before) {
    // The next dot's accumulator stands for it until that one is started.
    pending[dot.getResult()] = started.getResult();
    return;
  }
  rewriter.setInsertionPoint(plan.before);
  auto wait = tag(
      WaitOp::create(rewriter, loc, dot.getType(), started.getResult(), *dot.getInFlight()), dot);
  rewriter.replaceAllUsesWith(dot.getResult(), wait.getResult());
}

/// The loop carries the accumulator as pending. One that starts as zero is not even written before
/// the first dot.
void DotRealiser::startCarried(CarriedDot &carried) {
  DotOp dot = carried.dot;
  scf::ForOp loop = carried.loop;
  auto type = PendingType::get(dot.getType());
  Value initial = loop.getInitArgs()[carried.index];
  bool startsAsZero = isZero(initial);
  rewriter.setInsertionPoint(loop);
  Value before = startsAsZero ? ub::PoisonOp::create(rewriter, loop.getLoc(), type).getResult()
                              : PendOp::create(rewriter, loop.getLoc(), type, initial).getResult();
  loop.getInitArgsMutable()[carried.index].set(before);
  BlockArgument accumulator = loop.getRegionIterArg(carried.index);
  accumulator.setType(type);
  loop.getResult(carried.index).setType(type);

  rewriter.setInsertionPoint(dot);
  Value accumulates;
  if (startsAsZero)
    accumulates = isTripAfter(rewriter, loop, loop.getInductionVar(), 1);
  StartDotOp started = start(dot, accumulator, accumulates);
  Operation *yield = loop.getBody()->getTerminator();
  rewriter.setInsertionPoint(yield);
  auto held =
      tag(WaitOp::create(rewriter, dot.getLoc(), type, started.getResult(), carried.inFlight), dot);
  yield->setOperand(carried.index, held.getResult());
  carried.initial = initial;
  carried.held = held;
}

void kiln::realiseDots(RingPlan &plan, llvm::function_ref<Value(Value, StringRef)> getBuffer) {
  if (plan.waited.empty() && plan.carried.empty())
    return;
  DotOp any = plan.waited.empty() ? plan.carried.front().dot : plan.waited.front();
  DotRealiser realiser(any.getContext(), getBuffer);
  for (DotOp dot : plan.waited)
    realiser.startAndWait(dot);
  for (CarriedDot &carried : plan.carried)
    realiser.startCarried(carried);
  for (DotOp dot : llvm::reverse(plan.waited))
    dot.erase();
  for (CarriedDot &carried : plan.carried)
    carried.dot.erase();
}

WaitOp kiln::findWait(StartDotOp dot) {
  StringRef role = getRoleName(dot);
  uint64_t later = 0;
  for (Operation *op = dot->getNextNode(); op; op = op->getNextNode()) {
    if (getRoleName(op) != role)
      continue;
    later += isa<StartDotOp>(op);
    if (auto wait = dyn_cast<WaitOp>(op); wait && wait.getInFlight() <= later)
      return wait;
  }
  return {};
}

/// After the last trip: waits for what is in flight and releases its slots, all only if there was a
/// trip.
void kiln::drain(RingPlan &plan, CarriedDot &carried) {
  scf::ForOp loop = carried.loop;
  Location loc = loop.getLoc();
  IRRewriter rewriter(loop);
  SmallVector<Type> types;
  SmallVector<Value> unchanged;
  for (unsigned i = 0; i < carried.firstHeld; ++i) {
    bool isAccumulator = i == carried.index;
    unchanged.push_back(isAccumulator ? carried.initial : loop.getInitArgs()[i]);
    types.push_back(unchanged.back().getType());
  }
  auto below = loop.getUnsignedCmp() ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt;
  Value any =
      arith::CmpIOp::create(rewriter, loc, below, loop.getLowerBound(), loop.getUpperBound());
  auto condition = scf::IfOp::create(rewriter, loc, types, any, /*withElseRegion=*/true);
  rewriter.replaceAllUsesWith(loop.getResults().take_front(carried.firstHeld),
                              condition.getResults());
  rewriter.setInsertionPointToEnd(condition.elseBlock());
  scf::YieldOp::create(rewriter, loc, unchanged);

  loop->moveBefore(condition.thenBlock(), condition.thenBlock()->end());
  rewriter.setInsertionPointAfter(loop);
  SmallVector<Value> results(loop.getResults().take_front(carried.firstHeld));
  StringRef role = getRoleName(carried.held);
  auto wait = WaitOp::create(rewriter, carried.held.getLoc(), carried.initial.getType(),
                             loop.getResult(carried.index), 0);
  setRoleName(wait, role);
  results[carried.index] = wait.getResult();
  unsigned at = carried.firstHeld;
  for (Ring &ring : plan.rings)
    for (RingUse &use : ring.uses)
      for (Reader &reader : use.readers) {
        if (!reader.isHeld || use.getBlock() != loop.getBody())
          continue;
        auto release = [&](Value slot) {
          setRoleName(ReleaseOp::create(rewriter, loc, ring.channel, slot), role);
        };
        for (int64_t age = carried.inFlight; age-- > 0;) {
          Value slot = loop.getResult(at + age);
          if (age == 0) {
            release(slot);
            continue;
          }
          auto deep = scf::IfOp::create(rewriter, loc,
                                        isTripAfter(rewriter, loop, loop.getUpperBound(), age + 1));
          OpBuilder::InsertionGuard guard(rewriter);
          rewriter.setInsertionPointToStart(deep.thenBlock());
          release(slot);
        }
        at += carried.inFlight;
      }
  scf::YieldOp::create(rewriter, loc, results);
}
