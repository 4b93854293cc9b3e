// Accumulators in tensor memory become slots of channels.
//
// Dots into one are started by one thread, and a commit tells all who wait for it that they have
// ended. So the role that multiplies fills a slot, and gets it again to fetch it: the slot's
// barriers tell the warps that the sums are there, and the thread that they have been fetched.
#include "Decisions.h"
#include "kiln/Schedule/Passes.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

namespace kiln {
#define GEN_PASS_DEF_REALISEACCUMULATORS
#include "kiln/Schedule/Passes.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

namespace {
/// The life of an accumulator: from what first uses it, as this operand, to the wait for it.
struct Life {
  OpOperand *first = nullptr;
  WaitOp wait;
  Attribute atom;

  Operation *getBegin() const { return first->getOwner(); }
  Operation *getEnd() { return wait.getPending().getDefiningOp(); }
};

/// The lives of one role's accumulators. Those that do not overlap share a channel.
class AccumulatorRealiser {
public:
  AccumulatorRealiser(WarpGroupsOp groups, Region &region, RoleAttr role)
      : groups(groups), region(region), role(role), builder(groups) {}
  LogicalResult run();

private:
  LogicalResult find(WaitOp wait);
  Value getChannel(Life &life);
  void realise(Life &life);

  WarpGroupsOp groups;
  Region &region;
  RoleAttr role;
  OpBuilder builder;
  SmallVector<Life> lives;
  DenseMap<Operation *, int64_t> numbers; ///< in the order of the text
  SmallVector<std::pair<BlockArgument, SmallVector<Life>>> channels;
};
} // namespace

/// Where a value that is pending comes from within its block: through the dots into it, and the
/// loops that carry it and only add to it. Null if another way.
static OpOperand *findBegin(Value value, Attribute &atom) {
  OpOperand *first = nullptr;
  while (Operation *op = value.getDefiningOp()) {
    if (isa<ub::PoisonOp>(op))
      return first;
    if (auto dot = dyn_cast<StartDotOp>(op)) {
      first = &dot.getAccumulatorMutable();
      atom = dot.getAtom();
    } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
      unsigned index = cast<OpResult>(value).getResultNumber();
      OpOperand *inner = findBegin(loop.getBody()->getTerminator()->getOperand(index), atom);
      if (!inner || inner->get() != loop.getRegionIterArg(index))
        return nullptr;
      first = loop.getTiedLoopInit(loop.getRegionIterArg(index));
    } else {
      return nullptr;
    }
    value = first->get();
  }
  return first;
}

LogicalResult AccumulatorRealiser::find(WaitOp wait) {
  Life life;
  life.wait = wait;
  life.first = findBegin(wait.getPending(), life.atom);
  bool isWhole = life.first && life.first->get().getDefiningOp<ub::PoisonOp>() &&
                 life.getBegin()->getBlock() == wait->getBlock() &&
                 life.getEnd()->getBlock() == wait->getBlock();
  if (!isWhole)
    return wait.emitOpError("expected an accumulator in tensor memory to be waited for in the "
                            "block, and the trip, in which its first dot or loop begins");
  if (role.getCopies() != 1)
    return wait.emitOpError("expected a role of one copy to accumulate in tensor memory, got ")
           << role.getCopies() << " copies of role \"" << role.getName() << "\"";
  lives.push_back(life);
  return success();
}

/// One of the type that is free from the life's begin to its end, or a new one.
Value AccumulatorRealiser::getChannel(Life &life) {
  auto type = ChannelType::get(groups.getContext(), /*depth=*/1, /*own=*/false,
                               {life.wait.getPending().getType()});
  auto isApart = [&](Life &other) {
    return numbers[other.wait] < numbers[life.getBegin()] ||
           numbers[life.wait] < numbers[other.getBegin()];
  };
  for (auto &[channel, others] : channels)
    if (channel.getType() == type && llvm::all_of(others, isApart)) {
      others.push_back(life);
      return channel;
    }
  builder.setInsertionPoint(groups);
  auto made =
      ChannelOp::create(builder, life.wait.getLoc(), type, /*full=*/1, role.getTotalWarps());
  groups.getCapturesMutable().append(made.getResult());
  for (Region &body : groups.getBodies())
    body.addArgument(type, made.getLoc());
  channels.push_back({region.getArguments().back(), {life}});
  return channels.back().first;
}

void AccumulatorRealiser::realise(Life &life) {
  Location loc = life.wait.getLoc();
  Value channel = getChannel(life);
  builder.setInsertionPoint(life.getBegin());
  auto next = NextOp::create(builder, loc, channel);
  Value slot = next.getSlot(), phase = next.getPhase();
  Operation *undefined = life.first->get().getDefiningOp();
  life.first->set(
      AcquireOp::create(builder, loc, life.first->get().getType(), channel, slot, phase));
  if (undefined->use_empty())
    undefined->erase();
  builder.setInsertionPointAfter(life.getEnd());
  CommitOp::create(builder, loc, life.wait.getPending(), channel, slot);
  builder.setInsertionPoint(life.wait);
  auto get = GetOp::create(builder, loc, channel, slot, phase, /*to_start=*/false);
  auto fetch =
      FetchOp::create(builder, loc, life.wait.getType(), get.getBuffers().front(), life.atom);
  ReleaseOp::create(builder, loc, channel, slot, /*lanes=*/true, /*commit=*/false);
  life.wait.getResult().replaceAllUsesWith(fetch.getResult());
  life.wait.erase();
}

LogicalResult AccumulatorRealiser::run() {
  WalkResult result = region.walk<WalkOrder::PreOrder>([&](Operation *op) {
    numbers[op] = numbers.size();
    auto wait = dyn_cast<WaitOp>(op);
    return WalkResult(success(!wait || !wait.getPending().getType().getInTensorMemory() ||
                              succeeded(find(wait))));
  });
  if (result.wasInterrupted())
    return failure();
  for (Life &life : lives)
    realise(life);
  return success();
}

namespace {
struct RealiseAccumulators : kiln::impl::RealiseAccumulatorsBase<RealiseAccumulators> {
  void runOnOperation() override {
    WalkResult result = getOperation().walk([](WarpGroupsOp groups) -> WalkResult {
      for (auto [number, region] : llvm::enumerate(groups.getBodies()))
        if (failed(AccumulatorRealiser(groups, region, groups.getRole(number)).run()))
          return WalkResult::interrupt();
      return WalkResult::skip();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
