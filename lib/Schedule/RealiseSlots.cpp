// Slots and phases as values: each ring's go from use to use as the program runs, through every
// loop and condition that has some of them. So a ring does not drain between one loop and the next.
// A role that fills a ring for itself goes round it twice: where it puts, and where it gets.
#include "Decisions.h"
#include "kiln/Schedule/Passes.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace kiln {
#define GEN_PASS_DEF_REALISESLOTS
#include "kiln/Schedule/Passes.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

namespace {
/// The slots and phases of what one role runs.
class SlotThreader {
public:
  explicit SlotThreader(Region &region) : rewriter(region.getContext()), loc(region.getLoc()) {
    Block &body = region.front();
    SmallVector<RingSide> channels = getChannels(region);
    if (channels.empty())
      return;
    rewriter.setInsertionPointToStart(&body);
    Value zero = arith::ConstantIntOp::create(rewriter, loc, 0, 32);
    State state;
    for (RingSide channel : channels)
      state[channel] = {zero, zero, false};
    thread(body, channels, state);
  }

private:
  /// The next use of a ring has this slot and phase; or, if it was used since, those after them.
  struct Place {
    Value slot, phase;
    bool isUsed;
  };
  using State = llvm::MapVector<RingSide, Place>;

  void thread(Block &block, ArrayRef<RingSide> used, State &state);
  void threadLoop(scf::ForOp loop, ArrayRef<RingSide> channels, State &state);
  void threadWhile(scf::WhileOp loop, ArrayRef<RingSide> channels, State &state);
  void threadIf(scf::IfOp condition, ArrayRef<RingSide> channels, State &state);

  /// The channels that have uses in a region.
  static SmallVector<RingSide> getChannels(Region &region) {
    llvm::SmallSetVector<RingSide, 4> channels;
    region.walk([&](NextOp next) { channels.insert(getRingSide(next)); });
    return channels.takeVector();
  }
  /// Goes on to the next use, if this one was taken.
  void advance(RingSide channel, State &state) {
    Place &place = state[channel];
    if (!std::exchange(place.isUsed, false) || !hasSlots(channel))
      return;
    auto next = AdvanceOp::create(rewriter, loc, place.slot, place.phase, Value(), channel.first);
    place.slot = next.getNextSlot();
    if (hasPhases(channel))
      place.phase = next.getNextPhase();
  }
  /// Goes on by so many uses, which are others'.
  void skip(RingSide channel, Value uses, State &state) {
    advance(channel, state);
    Place &place = state[channel];
    auto by = AdvanceOp::create(rewriter, loc, place.slot, place.phase, uses, channel.first);
    place = {by.getNextSlot(), by.getNextPhase(), false};
  }
  /// Whether one place of a ring is not like another. That a role fills for itself has no phases.
  static bool hasPhases(RingSide channel) { return !getType(channel).getOwn(); }
  static bool hasSlots(RingSide channel) {
    return hasPhases(channel) || getType(channel).getDepth() > 1;
  }
  static ChannelType getType(RingSide channel) {
    return cast<ChannelType>(channel.first.getType());
  }
  SmallVector<Value> getValues(ArrayRef<RingSide> channels, State &state) {
    SmallVector<Value> values;
    for (RingSide channel : channels) {
      if (hasSlots(channel))
        values.push_back(state[channel].slot);
      if (hasPhases(channel))
        values.push_back(state[channel].phase);
    }
    return values;
  }
  void setValues(ArrayRef<RingSide> channels, ValueRange values, State &state) {
    for (RingSide channel : channels) {
      Place &place = state[channel];
      place.isUsed = false;
      for (auto [has, value] :
           {std::pair(hasSlots(channel), &place.slot), std::pair(hasPhases(channel), &place.phase)})
        if (has) {
          *value = values.front();
          values = values.drop_front();
        }
    }
  }

  IRRewriter rewriter;
  Location loc;
};
} // namespace

/// Whether a loop does nothing but step over uses of a ring.
static bool stepsOver(Operation *op) {
  auto loop = dyn_cast<scf::ForOp>(op);
  return loop && loop.getNumResults() == 0 && isConstantIntValue(loop.getLowerBound(), 0) &&
         isConstantIntValue(loop.getStep(), 1) &&
         llvm::all_of(loop.getBody()->without_terminator(), [](Operation &inner) {
           auto next = dyn_cast<NextOp>(inner);
           return next && next->use_empty();
         });
}

/// At the end of a loop's or a condition's block the channels that it uses are at their next use.
void SlotThreader::thread(Block &block, ArrayRef<RingSide> used, State &state) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    rewriter.setInsertionPoint(&op);
    if (auto next = dyn_cast<NextOp>(op)) {
      RingSide side = getRingSide(next);
      advance(side, state);
      Place &place = state[side];
      next->replaceAllUsesWith(ValueRange{place.slot, place.phase});
      next.erase();
      place.isUsed = true;
      continue;
    }
    if (!isa<scf::ForOp, scf::WhileOp, scf::IfOp>(op))
      continue;
    if (stepsOver(&op)) {
      auto loop = cast<scf::ForOp>(op);
      for (auto next : loop.getBody()->getOps<NextOp>())
        skip(getRingSide(next), loop.getUpperBound(), state);
      loop.erase();
      continue;
    }
    llvm::SmallSetVector<RingSide, 4> channels;
    for (Region &region : op.getRegions())
      channels.insert_range(getChannels(region));
    for (RingSide channel : channels)
      advance(channel, state);
    if (channels.empty())
      continue;
    if (auto loop = dyn_cast<scf::ForOp>(op))
      threadLoop(loop, channels.getArrayRef(), state);
    else if (auto loop = dyn_cast<scf::WhileOp>(op))
      threadWhile(loop, channels.getArrayRef(), state);
    else
      threadIf(cast<scf::IfOp>(op), channels.getArrayRef(), state);
  }
  if (isa<WarpGroupsOp>(block.getParentOp()))
    return;
  rewriter.setInsertionPoint(block.getTerminator());
  for (RingSide channel : used)
    advance(channel, state);
}

void SlotThreader::threadLoop(scf::ForOp loop, ArrayRef<RingSide> channels, State &state) {
  auto keep = [](OpBuilder &, Location, ArrayRef<BlockArgument> arguments) {
    return SmallVector<Value>(arguments.begin(), arguments.end());
  };
  unsigned first = loop.getNumResults();
  loop = cast<scf::ForOp>(*loop.replaceWithAdditionalYields(
      rewriter, getValues(channels, state), /*replaceInitOperandUsesInLoop=*/false, keep));
  State inner = state;
  setValues(channels, ValueRange(loop.getRegionIterArgs()).drop_front(first), inner);
  thread(*loop.getBody(), channels, inner);
  Operation *yield = loop.getBody()->getTerminator();
  for (auto [i, value] : llvm::enumerate(getValues(channels, inner)))
    yield->setOperand(first + i, value);
  setValues(channels, ValueRange(loop.getResults()).drop_front(first), state);
}

void SlotThreader::threadWhile(scf::WhileOp old, ArrayRef<RingSide> channels, State &state) {
  rewriter.setInsertionPoint(old);
  SmallVector<Value> inits(old.getInits()), values = getValues(channels, state);
  SmallVector<Type> types(old.getResultTypes());
  inits.append(values);
  types.append(values.size(), rewriter.getI32Type());
  auto made = scf::WhileOp::create(rewriter, old.getLoc(), types, inits);
  made->setDiscardableAttrs(old->getDiscardableAttrDictionary());
  for (auto [from, to] : llvm::zip_equal(old->getRegions(), made->getRegions())) {
    to.takeBody(from);
    Block &block = to.front();
    unsigned first = block.getNumArguments();
    for (Value value : values)
      block.addArgument(value.getType(), value.getLoc());
    State inner = state;
    setValues(channels, block.getArguments().drop_front(first), inner);
    thread(block, channels, inner);
    Operation *end = block.getTerminator();
    end->insertOperands(end->getNumOperands(), getValues(channels, inner));
  }
  setValues(channels, ValueRange(made.getResults()).drop_front(old.getNumResults()), state);
  rewriter.replaceOp(old, made.getResults().take_front(old.getNumResults()));
}

void SlotThreader::threadIf(scf::IfOp old, ArrayRef<RingSide> channels, State &state) {
  SmallVector<Type> types(old.getResultTypes());
  types.append(getValues(channels, state).size(), rewriter.getI32Type());
  auto made = scf::IfOp::create(rewriter, old.getLoc(), types, old.getCondition(),
                                /*withElseRegion=*/true);
  made->setDiscardableAttrs(old->getDiscardableAttrDictionary());
  for (auto [from, to] : llvm::zip_equal(old->getRegions(), made->getRegions())) {
    if (from.empty()) {
      if (!to.front().empty())
        continue;
      rewriter.setInsertionPointToEnd(&to.front());
      scf::YieldOp::create(rewriter, old.getLoc(), getValues(channels, state));
      continue;
    }
    to.takeBody(from);
    State inner = state;
    thread(to.front(), channels, inner);
    Operation *yield = to.front().getTerminator();
    yield->insertOperands(yield->getNumOperands(), getValues(channels, inner));
  }
  setValues(channels, ValueRange(made.getResults()).drop_front(old.getNumResults()), state);
  rewriter.replaceOp(old, made.getResults().take_front(old.getNumResults()));
}

namespace {
struct RealiseSlots : kiln::impl::RealiseSlotsBase<RealiseSlots> {
  void runOnOperation() override {
    getOperation().walk([](WarpGroupsOp groups) {
      for (Region &region : groups.getBodies())
        SlotThreader{region};
      return WalkResult::skip();
    });
  }
};
} // namespace
