// Slots and phases as values: each ring's go from use to use as the program runs, through every
// loop and condition that has some of them. So a ring does not drain between one loop and the next.
#include "Rings.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

namespace {
class SlotThreader {
public:
  SlotThreader(KernelOp kernel, RingPlan &plan)
      : plan(plan), rewriter(kernel.getContext()), loc(kernel.getLoc()) {
    for (auto [i, ring] : llvm::enumerate(plan.rings))
      for (auto [j, use] : llvm::enumerate(ring.uses))
        if (!ring.isOwn())
          sites[use.getSite()] = {i, j};
  }

  SmallVector<Operation *> run(Block &body) {
    ChannelOp last;
    for (Ring &ring : plan.rings)
      if (!ring.isOwn())
        last = ring.channel;
    if (!last)
      return {};
    rewriter.setInsertionPointAfter(last);
    loc = last.getLoc();
    zero = arith::ConstantIntOp::create(rewriter, loc, 0, 32);
    State state(plan.rings.size(), {zero, zero, false});
    thread(body, state);
    return atEnds;
  }

private:
  /// The next use of a ring has this slot and phase; or, if it was used since, those after them.
  struct Place {
    Value slot, phase;
    bool isUsed;
  };
  using State = SmallVector<Place>;

  void thread(Block &block, State &state);
  void threadLoop(scf::ForOp loop, ArrayRef<unsigned> rings, State &state);
  void threadIf(scf::IfOp condition, ArrayRef<unsigned> rings, State &state);
  void advance(unsigned ring, State &state, bool isEnd);

  /// The rings that have uses in an op's regions.
  SmallVector<unsigned> getRings(Operation *op) {
    llvm::SmallSetVector<unsigned, 4> rings;
    op->walk([&](Operation *inner) {
      if (auto site = sites.find(inner); site != sites.end())
        rings.insert(site->second.first);
    });
    SmallVector<unsigned> sorted(rings.begin(), rings.end());
    llvm::sort(sorted);
    return sorted;
  }
  SmallVector<Value> getValues(ArrayRef<unsigned> rings, const State &state) {
    SmallVector<Value> values;
    for (unsigned ring : rings)
      values.append({state[ring].slot, state[ring].phase});
    return values;
  }
  void setValues(ArrayRef<unsigned> rings, ValueRange values, State &state) {
    for (auto [i, ring] : llvm::enumerate(rings))
      state[ring] = {values[2 * i], values[2 * i + 1], false};
  }

  RingPlan &plan;
  IRRewriter rewriter;
  Location loc;
  Value zero;
  /// The ring and use of the op in whose place it is put.
  DenseMap<Operation *, std::pair<unsigned, unsigned>> sites;
  SmallVector<Operation *> atEnds;
};
} // namespace

void SlotThreader::advance(unsigned ring, State &state, bool isEnd) {
  if (!state[ring].isUsed)
    return;
  auto next = AdvanceOp::create(rewriter, loc, state[ring].slot, state[ring].phase, Value(),
                                plan.rings[ring].channel);
  state[ring] = {next.getNextSlot(), next.getNextPhase(), false};
  if (isEnd)
    atEnds.push_back(next);
}

void SlotThreader::thread(Block &block, State &state) {
  for (Operation &op : llvm::make_early_inc_range(block.without_terminator())) {
    if (auto site = sites.find(&op); site != sites.end()) {
      auto [ring, number] = site->second;
      rewriter.setInsertionPoint(&op);
      advance(ring, state, /*isEnd=*/false);
      RingUse &use = plan.rings[ring].uses[number];
      use.slot = state[ring].slot;
      use.phase = state[ring].phase;
      state[ring].isUsed = true;
      continue;
    }
    if (!isa<scf::ForOp, scf::IfOp>(op))
      continue;
    SmallVector<unsigned> rings = getRings(&op);
    rewriter.setInsertionPoint(&op);
    for (unsigned ring : rings)
      advance(ring, state, /*isEnd=*/false);
    if (auto loop = dyn_cast<scf::ForOp>(op))
      threadLoop(loop, rings, state);
    else if (!rings.empty())
      threadIf(cast<scf::IfOp>(op), rings, state);
  }
  if (isa<KernelOp>(block.getParentOp()))
    return;
  rewriter.setInsertionPoint(block.getTerminator());
  for (unsigned ring = 0; ring < state.size(); ++ring)
    advance(ring, state, /*isEnd=*/true);
}

/// A loop also carries the slots that its dot in flight still reads: of each use that it reads the
/// last `inFlight`, the newest first.
void SlotThreader::threadLoop(scf::ForOp loop, ArrayRef<unsigned> rings, State &state) {
  CarriedDot *carried = plan.findCarried(loop);
  if (rings.empty() && !carried)
    return;
  SmallVector<Value> inits = getValues(rings, state);
  unsigned first = loop.getNumResults(), firstHeld = first + inits.size();
  for (unsigned ring : rings)
    for (RingUse &use : plan.rings[ring].uses)
      for (Reader &reader : use.readers)
        if (carried && reader.isHeld && use.getBlock() == loop.getBody())
          inits.append(carried->inFlight, state[ring].slot);
  if (!inits.empty()) {
    auto keep = [](OpBuilder &, Location, ArrayRef<BlockArgument> arguments) {
      return SmallVector<Value>(arguments.begin(), arguments.end());
    };
    rewriter.setInsertionPoint(loop);
    loop = cast<scf::ForOp>(*loop.replaceWithAdditionalYields(
        rewriter, inits, /*replaceInitOperandUsesInLoop=*/false, keep));
  }
  if (carried) {
    carried->loop = loop;
    carried->firstHeld = firstHeld;
  }
  State inner = state;
  setValues(rings, ValueRange(loop.getRegionIterArgs()).drop_front(first), inner);
  thread(*loop.getBody(), inner);
  Operation *yield = loop.getBody()->getTerminator();
  for (auto [i, value] : llvm::enumerate(getValues(rings, inner)))
    yield->setOperand(first + i, value);
  setValues(rings, ValueRange(loop.getResults()).drop_front(first), state);
}

void SlotThreader::threadIf(scf::IfOp old, ArrayRef<unsigned> rings, State &state) {
  rewriter.setInsertionPoint(old);
  SmallVector<Type> types(old.getResultTypes());
  types.append(2 * rings.size(), rewriter.getI32Type());
  auto made = scf::IfOp::create(rewriter, old.getLoc(), types, old.getCondition(),
                                /*withElseRegion=*/true);
  made->setDiscardableAttrs(old->getDiscardableAttrDictionary());
  for (auto [from, to] : llvm::zip_equal(old->getRegions(), made->getRegions())) {
    if (from.empty()) {
      rewriter.setInsertionPointToEnd(&to.front());
      scf::YieldOp::create(rewriter, old.getLoc(), getValues(rings, state));
      continue;
    }
    to.takeBody(from);
    State inner = state;
    thread(to.front(), inner);
    Operation *yield = to.front().getTerminator();
    yield->insertOperands(yield->getNumOperands(), getValues(rings, inner));
  }
  setValues(rings, ValueRange(made.getResults()).drop_front(old.getNumResults()), state);
  rewriter.replaceOp(old, made.getResults().take_front(old.getNumResults()));
}

SmallVector<Operation *> kiln::threadSlots(KernelOp kernel, RingPlan &plan) {
  return SlotThreader(kernel, plan).run(kernel.getBody().front());
}
