// Accumulators in tensor memory become slots of channels.
//
// Dots into one are started by one thread, and a commit tells all who wait for it that they have
// ended. So the role that multiplies fills a slot, and gets it again to fetch it: the slot's
// barriers tell the warps that the sums are there, and the thread that they have been fetched.
#include "Decisions.h"
#include "kiln/Schedule/Passes.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/PatternMatch.h"

namespace kiln {
#define GEN_PASS_DEF_REALISEACCUMULATORS
#include "kiln/Schedule/Passes.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

namespace {
/// The life of an accumulator: from what first uses it, as this operand, to the wait for it; and
/// where it is handed to another role, which needs no wait.
struct Life {
  OpOperand *first = nullptr;
  WaitOp wait;
  Attribute atom;
  CommitOp commit = {};

  Operation *getBegin() const { return first->getOwner(); }
  Operation *getEnd() { return wait.getPending().getDefiningOp(); }
};

/// The lives of one role's accumulators. Those that do not overlap share a channel.
class AccumulatorRealiser {
public:
  AccumulatorRealiser(WarpGroupsOp groups, Region &region, RoleAttr role)
      : groups(groups), region(region), role(role), rewriter(groups.getContext()) {}
  LogicalResult run();

private:
  LogicalResult find(WaitOp wait, CommitOp commit);
  LogicalResult handOver(CommitOp commit);
  LogicalResult sink(scf::IfOp condition, unsigned index, CommitOp commit);
  Value getChannel(Life &life);
  Value acquire(OpOperand &user, Value channel, Value slot, Value phase, Attribute atom);
  void realise(Life &life);
  void realiseHandedOver(Life &life);
  LogicalResult realiseFill(CommitOp commit);

  WarpGroupsOp groups;
  Region &region;
  RoleAttr role;
  IRRewriter rewriter;
  SmallVector<Life> lives, handedOver;
  /// Of tensors that no dot makes: what is handed over where a loop has no trips.
  SmallVector<CommitOp> fills;
  DenseMap<Operation *, int64_t> numbers; ///< in the order of the text
  SmallVector<std::pair<BlockArgument, SmallVector<Life>>> channels;
};
} // namespace

/// Where a value that is pending comes from within its block: through the dots into it, and the
/// loops that carry it and only add to it. Null if another way.
static OpOperand *findBegin(Value value, Attribute &atom) {
  OpOperand *first = nullptr;
  while (Operation *op = value.getDefiningOp()) {
    if (isa<ub::PoisonOp, PendOp>(op))
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
    } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
      unsigned index = cast<OpResult>(value).getResultNumber();
      auto carried = dyn_cast<BlockArgument>(loop.getConditionOp().getArgs()[index]);
      if (!carried || carried.getOwner() != loop.getBeforeBody())
        return nullptr;
      unsigned place = carried.getArgNumber();
      OpOperand *inner = findBegin(loop.getYieldOp().getOperand(place), atom);
      if (!inner || inner->get() != loop.getAfterArguments()[index])
        return nullptr;
      first = &loop->getOpOperand(place);
    } else {
      return nullptr;
    }
    value = first->get();
  }
  return first;
}

LogicalResult AccumulatorRealiser::find(WaitOp wait, CommitOp commit) {
  Life life;
  life.wait = wait;
  life.commit = commit;
  life.first = findBegin(wait.getPending(), life.atom);
  Operation *root = life.first ? life.first->get().getDefiningOp() : nullptr;
  bool isWhole = isa_and_nonnull<ub::PoisonOp, PendOp>(root) &&
                 life.getBegin()->getBlock() == wait->getBlock() &&
                 life.getEnd()->getBlock() == wait->getBlock();
  if (!isWhole)
    return wait.emitOpError("expected an accumulator in tensor memory to be waited for in the "
                            "block, and the trip, in which its first dot or loop begins");
  if (role.getCopies() != 1)
    return wait.emitOpError("expected a role of one copy to accumulate in tensor memory, got ")
           << role.getCopies() << " copies of role \"" << role.getName() << "\"";
  (commit ? handedOver : lives).push_back(life);
  return success();
}

//===- What other roles use -----------------------------------------------------------------===//

/// The tensor that is committed is what a dot makes, or another one.
LogicalResult AccumulatorRealiser::handOver(CommitOp commit) {
  Value tensor = commit.getAccumulator().getDefiningOp<PendOp>().getTensor();
  if (auto wait = tensor.getDefiningOp<WaitOp>(); wait && tensor.hasOneUse())
    return find(wait, commit);
  if (auto condition = tensor.getDefiningOp<scf::IfOp>(); condition && tensor.hasOneUse())
    return sink(condition, cast<OpResult>(tensor).getResultNumber(), commit);
  fills.push_back(commit);
  return success();
}

/// Each branch of a condition commits what it makes.
LogicalResult AccumulatorRealiser::sink(scf::IfOp condition, unsigned index, CommitOp commit) {
  auto pend = commit.getAccumulator().getDefiningOp<PendOp>();
  Operation *next = commit.getSlot().getDefiningOp();
  if (next->getBlock() == condition->getBlock())
    rewriter.moveOpBefore(next, condition);
  SmallVector<Type> types(condition.getResultTypes());
  types.erase(types.begin() + index);
  rewriter.setInsertionPoint(condition);
  auto made = scf::IfOp::create(rewriter, condition.getLoc(), types, condition.getCondition(),
                                /*withElseRegion=*/true);
  made->setDiscardableAttrs(condition->getDiscardableAttrDictionary());
  SmallVector<CommitOp> commits;
  for (auto [from, to] : llvm::zip_equal(condition->getRegions(), made->getRegions())) {
    to.takeBody(from);
    Operation *yield = to.front().getTerminator();
    rewriter.setInsertionPoint(yield);
    auto part = PendOp::create(rewriter, pend.getLoc(), pend.getType(), yield->getOperand(index));
    commits.push_back(
        CommitOp::create(rewriter, commit.getLoc(), part, commit.getChannel(), commit.getSlot()));
    yield->eraseOperand(index);
  }
  rewriter.eraseOp(commit);
  rewriter.eraseOp(pend);
  for (auto [i, result] : llvm::enumerate(made.getResults()))
    condition.getResult(i + (i >= index)).replaceAllUsesWith(result);
  rewriter.eraseOp(condition);
  for (CommitOp each : commits)
    if (failed(handOver(each)))
      return failure();
  return success();
}

/// The slot that is committed is acquired where the dots begin.
void AccumulatorRealiser::realiseHandedOver(Life &life) {
  auto next = life.commit.getSlot().getDefiningOp<NextOp>();
  if (next->getBlock() == life.getBegin()->getBlock())
    rewriter.moveOpBefore(next, life.getBegin());
  acquire(*life.first, life.commit.getChannel(), next.getSlot(), next.getPhase(), life.atom);
  auto pend = life.commit.getAccumulator().getDefiningOp<PendOp>();
  life.commit.getAccumulatorMutable().set(life.wait.getPending());
  rewriter.moveOpAfter(life.commit, life.getEnd());
  rewriter.eraseOp(pend);
  rewriter.eraseOp(life.wait);
}

LogicalResult AccumulatorRealiser::realiseFill(CommitOp commit) {
  auto *known = llvm::find_if(
      handedOver, [&](Life &life) { return life.commit.getChannel() == commit.getChannel(); });
  auto next = commit.getSlot().getDefiningOp<NextOp>();
  if (known == handedOver.end())
    return commit.emitOpError("expected a sum that dots of role \"")
           << role.getName() << "\" make, since another role fetches it";
  acquire(commit.getAccumulatorMutable(), commit.getChannel(), next.getSlot(), next.getPhase(),
          known->atom);
  return success();
}

//===- What the role uses itself ------------------------------------------------------------===//

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
  rewriter.setInsertionPoint(groups);
  auto made =
      ChannelOp::create(rewriter, life.wait.getLoc(), type, /*full=*/1, role.getTotalWarps());
  groups.getCapturesMutable().append(made.getResult());
  for (Region &body : groups.getBodies())
    body.addArgument(type, made.getLoc());
  channels.push_back({region.getArguments().back(), {life}});
  return channels.back().first;
}

/// Gives what uses an accumulator first a slot, filled with what it begins as.
Value AccumulatorRealiser::acquire(OpOperand &user, Value channel, Value slot, Value phase,
                                   Attribute atom) {
  Operation *root = user.get().getDefiningOp();
  Location loc = root->getLoc();
  rewriter.setInsertionPoint(user.getOwner());
  Value accumulator = AcquireOp::create(rewriter, loc, user.get().getType(), channel, slot, phase);
  if (auto pend = dyn_cast<PendOp>(root))
    accumulator =
        FillOp::create(rewriter, loc, accumulator.getType(), pend.getTensor(), accumulator, atom);
  user.set(accumulator);
  if (root->use_empty())
    rewriter.eraseOp(root);
  return accumulator;
}

/// The last of the releases, by commits, that follow a dot. Nobody waits for those of a program's
/// last dots, so they come in front of the commit that somebody does wait for: a program must not
/// end before they have arrived.
static Operation *findLastRelease(Operation *end) {
  for (auto next = dyn_cast_or_null<ReleaseOp>(end->getNextNode()); next && next.getCommit();
       next = dyn_cast_or_null<ReleaseOp>(end->getNextNode()))
    end = next;
  return end;
}

void AccumulatorRealiser::realise(Life &life) {
  Location loc = life.wait.getLoc();
  Value channel = getChannel(life);
  rewriter.setInsertionPoint(life.getBegin());
  auto next = NextOp::create(rewriter, loc, channel);
  Value slot = next.getSlot(), phase = next.getPhase();
  acquire(*life.first, channel, slot, phase, life.atom);
  rewriter.setInsertionPointAfter(findLastRelease(life.getEnd()));
  CommitOp::create(rewriter, loc, life.wait.getPending(), channel, slot);
  rewriter.setInsertionPoint(life.wait);
  auto get = GetOp::create(rewriter, loc, channel, slot, phase, /*to_start=*/false);
  auto fetch =
      FetchOp::create(rewriter, loc, life.wait.getType(), get.getBuffers().front(), life.atom);
  ReleaseOp::create(rewriter, loc, channel, slot, /*lanes=*/true, /*commit=*/false,
                    /*peers=*/ValueRange());
  rewriter.replaceOp(life.wait, fetch.getResult());
}

LogicalResult AccumulatorRealiser::run() {
  SmallVector<CommitOp> commits;
  region.walk([&](CommitOp commit) {
    if (commit.getAccumulator().getDefiningOp<PendOp>())
      commits.push_back(commit);
  });
  for (CommitOp commit : commits)
    if (failed(handOver(commit)))
      return failure();
  WalkResult result = region.walk<WalkOrder::PreOrder>([&](Operation *op) {
    numbers[op] = numbers.size();
    auto wait = dyn_cast<WaitOp>(op);
    bool isOwn = wait && wait.getPending().getType().getInTensorMemory() &&
                 llvm::none_of(handedOver, [&](Life &life) { return life.wait == wait; });
    return WalkResult(success(!isOwn || succeeded(find(wait, {}))));
  });
  if (result.wasInterrupted())
    return failure();
  for (Life &life : lives)
    realise(life);
  for (Life &life : handedOver)
    realiseHandedOver(life);
  for (CommitOp commit : fills)
    if (failed(realiseFill(commit)))
      return failure();
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
