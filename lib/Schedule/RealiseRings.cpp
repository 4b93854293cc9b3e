// Turns loads that another role makes ahead of time into a channel, and dots in flight into starts
// and waits.
#include "Rings.h"
#include "kiln/Schedule/Passes.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

namespace kiln {
#define GEN_PASS_DEF_REALISERINGS
#include "kiln/Schedule/Passes.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

/// Whether a tensor is a constant of zeros, which need not be read.
static bool isZero(Value tensor) {
  return matchPattern(tensor, m_AnyZeroFloat()) || matchPattern(tensor, m_Zero());
}

namespace {
/// One loop with `tile.depth`, on its way to rings.
class RingLoop {
public:
  RingLoop(KernelOp kernel, scf::ForOp loop)
      : kernel(kernel), loop(loop), rewriter(kernel.getContext()), loc(loop.getLoc()) {}

  LogicalResult realise() {
    FailureOr<RingPlan> found = planRings(loop);
    if (failed(found))
      return failure();
    plan = std::move(*found);
    makeChannels();
    if (plan.isOwn())
      return realiseOwnRings(loop, plan);
    carry();
    for (Ring &ring : plan.rings)
      putAndGet(ring);
    for (DotOp dot : plan.immediate)
      startAndWait(dot);
    if (plan.carried)
      startCarried();
    advanceAndRelease();
    for (Ring &ring : plan.rings)
      for (LoadOp load : ring.loads)
        rewriter.eraseOp(load);
    loop->removeAttr(kDepthAttrName);
    leave(plan.carried ? drain() : getSlots(loop.getResults(), firstExtra));
    return success();
  }

private:
  void makeChannels();
  void carry();
  void putAndGet(Ring &ring);
  void startAndWait(DotOp dot);
  void startCarried();
  void advanceAndRelease();
  SmallVector<Value> drain();
  void leave(SmallVector<Value> ends);

  /// The slot and phase of each ring among a loop's values.
  SmallVector<Value> getSlots(ValueRange values, unsigned first) {
    return SmallVector<Value>(values.slice(first, 2 * plan.rings.size()));
  }
  Value compare(OpBuilder &builder, arith::CmpIPredicate predicate, Value x, Value y) {
    return arith::CmpIOp::create(builder, loc, predicate, x, y);
  }
  arith::CmpIPredicate below() {
    return loop.getUnsignedCmp() ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt;
  }
  /// Whether at least `trips` trips lie before `at`.
  Value isTripAfter(OpBuilder &builder, Value at, int64_t trips) {
    IndexMath math{builder, loc};
    Value bound = loop.getLowerBound();
    if (trips == 1)
      return compare(builder, arith::CmpIPredicate::ne, at, bound);
    Value last = math.add(bound, math.mul(math.constant(trips - 1), loop.getStep()));
    return compare(builder, below(), last, at);
  }
  template <typename Op>
  Op tag(Op op, StringRef role) {
    setRoleName(op, role);
    return op;
  }
  StartDotOp start(DotOp dot, Value accumulator, Value accumulates);
  void release(Ring &ring, Value slot) {
    tag(ReleaseOp::create(rewriter, loc, ring.channel, slot), ring.consumer.getName());
  }

  KernelOp kernel;
  scf::ForOp loop;
  IRRewriter rewriter;
  Location loc;
  RingPlan plan;
  /// The ops around the loop, outermost first, and the slots and phases on entry to each.
  SmallVector<Operation *> parents;
  SmallVector<SmallVector<Value>> entries;
  /// Where slots and phases begin among the loop's carried values, and then what is still held.
  unsigned firstExtra = 0, firstHeld = 0;
  /// What was got for each load.
  DenseMap<Value, Value> buffers;
  /// The accumulator before the loop, and what the last trip made of it.
  Value initial;
  WaitOp held;
};
} // namespace

void RingLoop::makeChannels() {
  rewriter.setInsertionPointToStart(&kernel.getBody().front());
  for (Ring &ring : plan.rings) {
    SmallVector<Type> buffers;
    for (LoadOp load : ring.loads)
      buffers.push_back(*load.getBuffer());
    auto type = ChannelType::get(kernel.getContext(), plan.depth, buffers);
    ring.channel = ChannelOp::create(rewriter, ring.loads.front().getLoc(), type,
                                     ring.countsBytes ? 1 : ring.producer.getTotalWarps(),
                                     ring.consumer.getTotalWarps());
  }
}

/// Threads slots and phases through the loops and conditions around, and through the loop itself,
/// which also holds the slots of the trips whose dots are in flight.
void RingLoop::carry() {
  for (Operation *op = loop->getParentOp(); op != kernel; op = op->getParentOp())
    parents.insert(parents.begin(), op);
  rewriter.setInsertionPointAfter(plan.rings.back().channel);
  Value zero = arith::ConstantIntOp::create(rewriter, loc, 0, 32);
  SmallVector<Value> current(2 * plan.rings.size(), zero);
  auto keep = [](OpBuilder &, Location, ArrayRef<BlockArgument> arguments) {
    return SmallVector<Value>(arguments.begin(), arguments.end());
  };
  auto extend = [&](scf::ForOp old, ValueRange inits) {
    rewriter.setInsertionPoint(old);
    return cast<scf::ForOp>(*old.replaceWithAdditionalYields(
        rewriter, inits, /*replaceInitOperandUsesInLoop=*/false, keep));
  };
  for (Operation *&parent : parents) {
    entries.push_back(current);
    if (auto outer = dyn_cast<scf::ForOp>(parent)) {
      outer = extend(outer, current);
      parent = outer;
      current = SmallVector<Value>(outer.getRegionIterArgs().take_back(current.size()));
    }
  }
  firstExtra = loop.getNumResults();
  firstHeld = firstExtra + current.size();
  SmallVector<Value> inits = current;
  for (auto [i, ring] : llvm::enumerate(plan.rings))
    if (ring.isHeld)
      inits.append(plan.inFlight, current[2 * i]);
  loop = extend(loop, inits);
  for (auto [i, ring] : llvm::enumerate(plan.rings)) {
    ring.slot = loop.getRegionIterArg(firstExtra + 2 * i);
    ring.phase = loop.getRegionIterArg(firstExtra + 2 * i + 1);
  }
}

/// All loads of a ring become one put, and their values the buffers that are got.
void RingLoop::putAndGet(Ring &ring) {
  rewriter.setInsertionPoint(ring.loads.back());
  Location at = ring.loads.back().getLoc();
  int64_t bytes = 0;
  for (LoadOp load : ring.loads)
    if (ring.countsBytes)
      bytes += getBufferBytes(cast<BufferType>(*load.getBuffer()));
  auto put = tag(PutOp::create(rewriter, at, ring.channel, ring.slot, ring.phase, bytes),
                 ring.producer.getName());
  auto get = tag(GetOp::create(rewriter, at, ring.channel, ring.slot, ring.phase),
                 ring.consumer.getName());
  ring.lastRead = get;
  ArrayRef<Type> types = ring.channel.getType().getBuffers();
  Block *body =
      rewriter.createBlock(&put.getBody(), {}, types, SmallVector<Location>(types.size(), at));
  for (auto [i, load] : llvm::enumerate(ring.loads)) {
    rewriter.setInsertionPointToEnd(body);
    CopyInOp::create(rewriter, load.getLoc(), load.getView(), load.getOffsets(),
                     body->getArgument(i), load.getAtomAttr(), load.getCacheAttr(),
                     load.getEvictionAttr());
    buffers[load.getResult()] = get.getBuffers()[i];
  }
  // Users other than dots in flight read the buffer at once.
  for (LoadOp load : ring.loads) {
    Value tensor;
    for (OpOperand &use : llvm::make_early_inc_range(load.getResult().getUses())) {
      if (plan.isInFlight(use.getOwner()))
        continue;
      if (!tensor) {
        rewriter.setInsertionPointAfter(ring.lastRead);
        auto read =
            ReadOp::create(rewriter, load.getLoc(), load.getType(), buffers[load.getResult()]);
        ring.lastRead = tag(read, ring.consumer.getName());
        tensor = read.getResult();
      }
      use.set(tensor);
    }
  }
}

StartDotOp RingLoop::start(DotOp dot, Value accumulator, Value accumulates) {
  auto operand = [&](Value value) { return buffers.lookup_or(value, value); };
  return tag(StartDotOp::create(rewriter, dot.getLoc(), accumulator.getType(), operand(dot.getA()),
                                operand(dot.getB()), accumulator, accumulates,
                                dot.getTransposeAAttr(), dot.getTransposeBAttr(),
                                dot.getUnsignedAAttr(), dot.getUnsignedBAttr(),
                                dot.getPrecisionAttr(), dot.getAtomAttr()),
             getRoleName(dot));
}

/// A dot whose result the trip uses: nothing of it is in flight when it has been waited for.
void RingLoop::startAndWait(DotOp dot) {
  rewriter.setInsertionPoint(dot);
  Value accumulator, accumulates;
  if (isZero(dot.getAccumulator())) {
    accumulator = ub::PoisonOp::create(rewriter, dot.getLoc(), PendingType::get(dot.getType()));
    accumulates = arith::ConstantIntOp::create(rewriter, dot.getLoc(), 0, 1);
  } else {
    accumulator = PendOp::create(rewriter, dot.getLoc(), PendingType::get(dot.getType()),
                                 dot.getAccumulator());
  }
  StartDotOp started = start(dot, accumulator, accumulates);
  auto wait = tag(WaitOp::create(rewriter, dot.getLoc(), dot.getType(), started.getResult(), 0),
                  getRoleName(dot));
  for (Ring &ring : plan.rings)
    if (llvm::any_of(ring.loads,
                     [&](LoadOp load) {
                       return dot.getA() == load.getResult() || dot.getB() == load.getResult();
                     }) &&
        ring.lastRead->isBeforeInBlock(wait))
      ring.lastRead = wait;
  rewriter.replaceOp(dot, wait.getResult());
}

/// The dot that stays in flight from trip to trip: the loop carries its accumulator as pending. One
/// that starts as zero is not even written before the first dot.
void RingLoop::startCarried() {
  DotOp dot = plan.carried;
  auto type = PendingType::get(dot.getType());
  initial = loop.getInitArgs()[plan.carriedIndex];
  bool startsAsZero = isZero(initial);
  rewriter.setInsertionPoint(loop);
  Value before = startsAsZero ? ub::PoisonOp::create(rewriter, loc, type).getResult()
                              : PendOp::create(rewriter, loc, type, initial).getResult();
  loop.getInitArgsMutable()[plan.carriedIndex].set(before);
  BlockArgument accumulator = loop.getRegionIterArg(plan.carriedIndex);
  accumulator.setType(type);
  loop.getResult(plan.carriedIndex).setType(type);

  rewriter.setInsertionPoint(dot);
  Value accumulates;
  if (startsAsZero)
    accumulates = isTripAfter(rewriter, loop.getInductionVar(), 1);
  StartDotOp started = start(dot, accumulator, accumulates);
  Operation *yield = loop.getBody()->getTerminator();
  rewriter.setInsertionPoint(yield);
  held = tag(WaitOp::create(rewriter, dot.getLoc(), type, started.getResult(), plan.inFlight),
             getRoleName(dot));
  yield->setOperand(plan.carriedIndex, held.getResult());
  for (Ring &ring : plan.rings)
    if (llvm::any_of(ring.loads, [&](LoadOp load) {
          return dot.getA() == load.getResult() || dot.getB() == load.getResult();
        }))
      ring.lastRead = held;
  rewriter.eraseOp(dot);
}

/// Ends a trip: a slot goes back once what read it is done, which for a dot in flight is so many
/// trips later.
void RingLoop::advanceAndRelease() {
  Operation *yield = loop.getBody()->getTerminator();
  unsigned at = firstHeld;
  for (auto [i, ring] : llvm::enumerate(plan.rings)) {
    rewriter.setInsertionPointAfter(ring.lastRead);
    if (!ring.isHeld) {
      release(ring, ring.slot);
    } else {
      Value oldest = loop.getRegionIterArg(at + plan.inFlight - 1);
      Value isDone = isTripAfter(rewriter, loop.getInductionVar(), plan.inFlight);
      auto condition = scf::IfOp::create(rewriter, loc, isDone);
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPointToStart(condition.thenBlock());
      release(ring, oldest);
    }
    rewriter.setInsertionPoint(yield);
    auto next = AdvanceOp::create(rewriter, loc, ring.slot, ring.phase, Value(), ring.channel);
    yield->setOperand(firstExtra + 2 * i, next.getNextSlot());
    yield->setOperand(firstExtra + 2 * i + 1, next.getNextPhase());
    if (!ring.isHeld)
      continue;
    for (int64_t age = 0; age < plan.inFlight; ++age)
      yield->setOperand(at + age, age ? Value(loop.getRegionIterArg(at + age - 1)) : ring.slot);
    at += plan.inFlight;
  }
}

/// After the last trip: waits for what is in flight and releases its slots, all only if there was a
/// trip. Gives the slots and phases that follow.
SmallVector<Value> RingLoop::drain() {
  rewriter.setInsertionPoint(loop);
  SmallVector<Type> types;
  SmallVector<Value> unchanged;
  for (unsigned i = 0; i < firstHeld; ++i) {
    bool isAccumulator = i == plan.carriedIndex;
    unchanged.push_back(isAccumulator ? initial : loop.getInitArgs()[i]);
    types.push_back(unchanged.back().getType());
  }
  Value any = compare(rewriter, below(), loop.getLowerBound(), loop.getUpperBound());
  auto condition = scf::IfOp::create(rewriter, loc, types, any, /*withElseRegion=*/true);
  rewriter.replaceAllUsesWith(loop.getResults().take_front(firstHeld), condition.getResults());
  rewriter.setInsertionPointToEnd(condition.elseBlock());
  scf::YieldOp::create(rewriter, loc, unchanged);

  loop->moveBefore(condition.thenBlock(), condition.thenBlock()->end());
  rewriter.setInsertionPointAfter(loop);
  SmallVector<Value> results(loop.getResults().take_front(firstHeld));
  StringRef role = getRoleName(held);
  results[plan.carriedIndex] = tag(WaitOp::create(rewriter, held.getLoc(), initial.getType(),
                                                  loop.getResult(plan.carriedIndex), 0),
                                   role)
                                   .getResult();
  unsigned at = firstHeld;
  for (Ring &ring : plan.rings) {
    if (!ring.isHeld)
      continue;
    for (int64_t age = plan.inFlight; age-- > 0;) {
      Value slot = loop.getResult(at + age);
      if (age == 0) {
        release(ring, slot);
        continue;
      }
      auto deep =
          scf::IfOp::create(rewriter, loc, isTripAfter(rewriter, loop.getUpperBound(), age + 1));
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPointToStart(deep.thenBlock());
      release(ring, slot);
    }
    at += plan.inFlight;
  }
  scf::YieldOp::create(rewriter, loc, results);
  return getSlots(condition.getResults(), firstExtra);
}

/// Hands slots and phases on to what is around the loop.
void RingLoop::leave(SmallVector<Value> ends) {
  for (auto [parent, entry] : llvm::reverse(llvm::zip_equal(parents, entries))) {
    if (auto outer = dyn_cast<scf::ForOp>(parent)) {
      Operation *yield = outer.getBody()->getTerminator();
      unsigned first = yield->getNumOperands() - ends.size();
      for (auto [i, end] : llvm::enumerate(ends))
        yield->setOperand(first + i, end);
      ends = SmallVector<Value>(outer.getResults().take_back(ends.size()));
      continue;
    }
    auto old = cast<scf::IfOp>(parent);
    bool isThen = old.getThenRegion().isAncestor(ends.front().getParentRegion());
    rewriter.setInsertionPoint(old);
    SmallVector<Type> types(old.getResultTypes());
    llvm::append_range(types, ValueRange(ends).getTypes());
    auto made = scf::IfOp::create(rewriter, old.getLoc(), types, old.getCondition(),
                                  /*withElseRegion=*/true);
    made->setDiscardableAttrs(old->getDiscardableAttrDictionary());
    auto take = [&](Region &from, Region &to, ValueRange values) {
      if (!from.empty()) {
        to.takeBody(from);
        Operation *yield = to.front().getTerminator();
        yield->insertOperands(yield->getNumOperands(), values);
        return;
      }
      rewriter.setInsertionPointToEnd(&to.front());
      scf::YieldOp::create(rewriter, old.getLoc(), values);
    };
    take(old.getThenRegion(), made.getThenRegion(), isThen ? ValueRange(ends) : ValueRange(entry));
    take(old.getElseRegion(), made.getElseRegion(), isThen ? ValueRange(entry) : ValueRange(ends));
    ends = SmallVector<Value>(made.getResults().take_back(ends.size()));
    rewriter.replaceOp(old, made.getResults().take_front(old.getNumResults()));
  }
}

namespace {
struct RealiseRings : kiln::impl::RealiseRingsBase<RealiseRings> {
  void runOnOperation() override {
    // One at a time: a loop around another is made anew.
    auto findLoop = [](KernelOp kernel) {
      scf::ForOp found;
      kernel.getBody().walk([&](scf::ForOp loop) {
        found = loop->hasAttr(kDepthAttrName) ? loop : found;
        return found ? WalkResult::interrupt() : WalkResult::advance();
      });
      return found;
    };
    for (KernelOp kernel : getOperation().getOps<KernelOp>())
      while (scf::ForOp loop = findLoop(kernel))
        if (failed(RingLoop(kernel, loop).realise()))
          return signalPassFailure();
  }
};
} // namespace
