// Accumulators in tensor memory become slots of channels.
//
// Dots into one are started by one thread, and a commit tells all who wait for it that they have
// ended. So the role that multiplies fills a slot, and gets it again to fetch it: the slot's
// barriers tell the warps that the sums are there, and the thread that they have been fetched.
//
// What such dots read as operand a, and warps have computed, is written to tensor memory in front
// of them. It is a slot, too, which a commit behind the dots gives back. Who fills it is who starts
// the dots, so nobody waits until it is full. Where a sum of the trip has been fetched by then, it
// needs no slot of its own: it is written over that sum, whose slot the commit gives back.
//
// A sum that a loop carries, and changes element by element in front of the trip's dots, is left
// there until then where `tile.carried` says so; and one that a condition chooses until behind it.
//
// Of dots of two programs one thread starts them for both. So what warps write in front of them,
// sums or operands, the warps of both say that they have written, by a slot of nothing.
//
// Copies of a role have shared its tensors out by now, and each fills and fetches slots of its own:
// of a channel with a slot for each copy every copy steps over the uses of the others.
#include "SumChannels.h"
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
/// The lives of one role's accumulators.
class AccumulatorRealiser {
public:
  AccumulatorRealiser(WarpGroupsOp groups, Region &region, RoleAttr role)
      : region(region), role(role), channels(groups, region, role), rewriter(channels.rewriter) {}
  LogicalResult run();

private:
  LogicalResult takeDecisions();
  LogicalResult find(WaitOp wait, CommitOp commit);
  LogicalResult handOver(CommitOp commit);
  LogicalResult sink(scf::IfOp condition, unsigned index, CommitOp commit);
  bool isHandedOver(WaitOp wait) const;
  void realise(SumLife &life, TensorOperands &operands);
  LogicalResult commitBehind(WaitOp wait);
  void realiseHandedOver(SumLife &life);
  LogicalResult realiseFill(CommitOp commit);

  Region &region;
  RoleAttr role;
  SumChannels channels;
  IRRewriter &rewriter;
  SmallVector<SumLife> lives, handedOver;
  /// What `tile.carried` says, by the wait: sums that loops carry, those that conditions choose,
  /// and those that are fetched where they are waited for.
  DenseMap<Operation *, CarriedSum> carried;
  SmallVector<WaitOp> chosen;
  DenseSet<Operation *> inRegisters;
  /// Of tensors that no dot makes: what is handed over where a loop has no trips.
  SmallVector<CommitOp> fills;
};
} // namespace

/// Which sums stay in tensor memory from trip to trip, and through conditions.
LogicalResult AccumulatorRealiser::takeDecisions() {
  SmallVector<WaitOp> decided;
  region.walk([&](WaitOp wait) {
    if (wait->hasAttr(kCarriedAttrName))
      decided.push_back(wait);
  });
  for (WaitOp wait : decided) {
    auto place = cast<StringAttr>(wait->removeAttr(kCarriedAttrName));
    if (place == "registers") {
      inRegisters.insert(wait);
      continue;
    }
    std::string expected;
    if (isa<scf::IfOp>(wait->getParentOp())) {
      if (findChoice(wait, expected))
        chosen.push_back(wait);
    } else if (std::optional<CarriedSum> sum = findCarriedSum(wait, expected)) {
      carried.insert({wait, std::move(*sum)});
    }
    if (!expected.empty())
      return wait.emitOpError("expected ")
             << expected << ", since '" << kCarriedAttrName << "' is " << place;
  }
  return success();
}

LogicalResult AccumulatorRealiser::find(WaitOp wait, CommitOp commit) {
  if (commit && inRegisters.contains(wait))
    return wait.emitOpError("expected a sum that its own role fetches, since '")
           << kCarriedAttrName << "' is \"registers\": another role has it from tensor memory";
  SumLife life;
  life.wait = wait;
  life.commit = commit;
  life.first = findFirstUse(wait.getPending(), life.atom);
  Operation *root = life.first ? life.first->get().getDefiningOp() : nullptr;
  bool isWhole = isa_and_nonnull<ub::PoisonOp, PendOp>(root) &&
                 life.getBegin()->getBlock() == wait->getBlock() &&
                 life.getEnd()->getBlock() == wait->getBlock();
  if (!isWhole)
    return wait.emitOpError("expected an accumulator in tensor memory to be waited for in the "
                            "block, and the trip, in which its first dot or loop begins");
  (commit ? handedOver : lives).push_back(life);
  return success();
}

bool AccumulatorRealiser::isHandedOver(WaitOp wait) const {
  return llvm::any_of(handedOver, [&](const SumLife &life) { return life.wait == wait; });
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
  channels.replace(condition, made);
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
void AccumulatorRealiser::realiseHandedOver(SumLife &life) {
  auto next = life.commit.getSlot().getDefiningOp<NextOp>();
  if (next->getBlock() == life.getBegin()->getBlock())
    rewriter.moveOpBefore(next, life.getBegin());
  FillOp fill = channels.acquire(*life.first, life.commit.getChannel(), next.getSlot(),
                                 next.getPhase(), life.atom);
  auto pend = life.commit.getAccumulator().getDefiningOp<PendOp>();
  life.commit.getAccumulatorMutable().set(life.wait.getPending());
  rewriter.moveOpAfter(life.commit, findLastRelease(life.getEnd()));
  if (fill)
    channels.awaitMate(fill, {life.getBegin(), life.getEnd()});
  rewriter.eraseOp(pend);
  rewriter.eraseOp(life.wait);
}

LogicalResult AccumulatorRealiser::realiseFill(CommitOp commit) {
  auto *known = llvm::find_if(
      handedOver, [&](SumLife &life) { return life.commit.getChannel() == commit.getChannel(); });
  auto next = commit.getSlot().getDefiningOp<NextOp>();
  if (known == handedOver.end())
    return commit.emitOpError("expected a sum that dots of role \"")
           << role.getName()
           << "\" make, and to which no 'promote' adds, since another role fetches it";
  channels.acquire(commit.getAccumulatorMutable(), commit.getChannel(), next.getSlot(),
                   next.getPhase(), known->atom);
  return success();
}

//===- What the role uses itself ------------------------------------------------------------===//

void AccumulatorRealiser::realise(SumLife &life, TensorOperands &operands) {
  Location loc = life.wait.getLoc();
  ArrayRef<StartDotOp> readers = operands.getReaders(life.wait);
  Operation *last = readers.empty() ? life.wait : readers.back();
  Value channel = channels.get(loc, {life.wait.getPending().getType()}, {life.getBegin(), last},
                               /*full=*/1, readers.empty() ? role.getWarps() : 1);
  rewriter.setInsertionPoint(life.getBegin());
  NextOp next = channels.makeNext(loc, channel);
  Value slot = next.getSlot(), phase = next.getPhase();
  if (FillOp fill = channels.acquire(*life.first, channel, slot, phase, life.atom))
    channels.awaitMate(fill, {life.getBegin(), life.getEnd()});
  rewriter.setInsertionPointAfter(findLastRelease(life.getEnd()));
  CommitOp::create(rewriter, loc, life.wait.getPending(), channel, slot);
  rewriter.setInsertionPoint(life.wait);
  Type type = life.wait.getType();
  if (readers.empty()) {
    rewriter.replaceOp(life.wait, channels.fetch(loc, type, channel, next, life.atom));
    return;
  }
  FetchOp sum = channels.fetchAndKeep(loc, type, channel, next, life.atom);
  SmallVector<StartDotOp> dots(readers);
  rewriter.replaceOp(life.wait, sum);
  operands.fillOver(dots, sum, channel, slot);
}

/// A sum that a condition chooses is fetched behind it, where it is used: each branch commits its
/// own.
LogicalResult AccumulatorRealiser::commitBehind(WaitOp wait) {
  auto condition = cast<scf::IfOp>(wait->getParentOp());
  Value sum = condition.getResult(wait->use_begin()->getOperandNumber());
  Location loc = wait.getLoc();
  PendingType type = wait.getPending().getType();
  Attribute atom;
  (void)findFirstUse(wait.getPending(), atom);
  Value channel = channels.get(loc, {type}, {condition, condition}, /*full=*/1, role.getWarps());
  rewriter.setInsertionPointAfter(condition);
  NextOp next = channels.makeNext(loc, channel);
  auto pend = PendOp::create(rewriter, loc, type, sum);
  auto commit = CommitOp::create(rewriter, loc, pend, channel, next.getSlot());
  sum.replaceAllUsesExcept(channels.fetch(loc, wait.getType(), channel, next, atom), pend);
  return handOver(commit);
}

LogicalResult AccumulatorRealiser::run() {
  if (failed(takeDecisions()))
    return failure();
  SmallVector<CommitOp> commits;
  region.walk([&](CommitOp commit) {
    if (commit.getAccumulator().getDefiningOp<PendOp>())
      commits.push_back(commit);
  });
  for (CommitOp commit : commits)
    if (failed(handOver(commit)))
      return failure();
  for (WaitOp wait : chosen)
    if (!isHandedOver(wait) && failed(commitBehind(wait)))
      return failure();
  WalkResult result = region.walk<WalkOrder::PreOrder>([&](Operation *op) {
    auto wait = dyn_cast<WaitOp>(op);
    bool isOwn = wait && wait.getPending().getType().getInTensorMemory() && !isHandedOver(wait);
    return WalkResult(success(!isOwn || succeeded(find(wait, {}))));
  });
  if (result.wasInterrupted())
    return failure();
  SmallVector<SumLife *> fetched;
  for (SumLife &life : lives)
    if (!carried.contains(life.wait))
      fetched.push_back(&life);
  TensorOperands operands(region, fetched, channels);
  operands.fillSlots();
  // What goes back by commit does so in front of the commits that tell of other sums.
  for (bool isOver : {true, false})
    for (SumLife &life : lives) {
      if (operands.getReaders(life.wait).empty() == isOver)
        continue;
      if (auto found = carried.find(life.wait); found != carried.end())
        realiseCarriedSum(life, found->second, channels);
      else
        realise(life, operands);
    }
  for (SumLife &life : handedOver)
    realiseHandedOver(life);
  for (CommitOp commit : fills)
    if (failed(realiseFill(commit)))
      return failure();
  channels.stepOverOthers();
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
