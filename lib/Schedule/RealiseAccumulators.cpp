// Accumulators in tensor memory become slots of channels.
//
// Dots into one are started by one thread, and a commit tells all who wait for it that they have
// ended. So the role that multiplies fills a slot, and gets it again to fetch it: the slot's
// barriers tell the warps that the sums are there, and the thread that they have been fetched.
//
// What such dots read as operand a, and warps have computed, is written to tensor memory in front
// of them. It is a slot, too, which a commit behind the dots gives back. Who fills it is who starts
// the dots, so nobody waits until it is full. In the columns of a sum it needs no slot of its own:
// it is written over that sum, which has been fetched by then, and whose slot the commit gives
// back.
//
// A sum that a later trip uses is in flight where its own trip ends: one trip fills a slot, and a
// later one gets it, each side in its own turn. There are as many slots as sums in flight at once.
//
// Which columns each has `tile.columns` and `tile.operand_columns` say, by number: a number is a
// channel, for what is in use at different times.
//
// A sum that a loop carries, and changes element by element in front of the trip's dots, is left
// there until then where `tile.carried` says so; and one that a condition chooses until behind it.
//
// Of dots of two programs one thread starts them for both. So what warps write in front of them,
// sums or operands, the warps of both say that they have written, by a slot of nothing.
//
// Copies of a role have shared its tensors out by now, and each fills and fetches slots of its own:
// of a channel with a slot for each copy every copy steps over the uses of the others.
#include "SourceErrors.h"
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
      : region(region), role(role), uses(region), channels(groups, region, role),
        rewriter(channels.rewriter) {}
  LogicalResult run();

private:
  LogicalResult takeCarried();
  LogicalResult takeColumns();
  LogicalResult addHandedOver(WaitOp wait, CommitOp commit);
  LogicalResult handOver(CommitOp commit);
  LogicalResult sink(scf::IfOp condition, unsigned index, CommitOp commit);
  void beginFlight(const TensorUse &use);
  void realise(const TensorUse &use);
  LogicalResult commitBehind(const TensorUse &use);
  void realiseHandedOver(SumLife &life);
  LogicalResult realiseFill(CommitOp commit);
  Value getChannel(const TensorUse &use) const { return columns[use.columns]; }
  LogicalResult checkWhole();
  NextOp begin(const TensorUse &use, OpOperand &first, Operation *end, Value sum);
  NextOp makeFilled(Location loc, const TensorUse &use);
  NextOp makeGot(Location loc, const TensorUse &use, NextOp filled);

  Region &region;
  RoleAttr role;
  TensorUses uses;
  SumChannels channels;
  IRRewriter &rewriter;
  SmallVector<SlotKind> kinds; ///< of what they have in tensor memory, by number
  SmallVector<Value> columns;  ///< their channels, by number
  SmallVector<SumLife> handedOver;
  /// Sums that are decided to be fetched where they are waited for.
  DenseSet<Operation *> inRegisters;
  /// Of tensors that no dot makes: what is handed over where a loop has no trips.
  SmallVector<CommitOp> fills;
};
} // namespace

/// Which sums stay in tensor memory from trip to trip, and through conditions.
LogicalResult AccumulatorRealiser::takeCarried() {
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
    if (isa<scf::IfOp>(wait->getParentOp()))
      (void)findChoice(wait, expected);
    else
      (void)findCarriedSum(wait, expected);
    if (!expected.empty())
      return emitSourceError(wait, "expected ")
             << expected << ", since '" << kCarriedAttrName << "' is " << place;
  }
  return success();
}

/// Makes a channel of each number.
LogicalResult AccumulatorRealiser::takeColumns() {
  FailureOr<SmallVector<SlotKind>> taken = kiln::takeColumns(uses, role);
  if (failed(taken))
    return failure();
  kinds = std::move(*taken);
  for (int64_t number = 0, end = kinds.size(); number < end; ++number) {
    auto isSlot = [&](const TensorUse &use) {
      return use.columns == number && (use.isSum() || !use.over);
    };
    Operation *first = llvm::find_if(uses.all, isSlot)->getOp();
    columns.push_back(channels.make(first->getLoc(), kinds[number]));
  }
  return success();
}

LogicalResult AccumulatorRealiser::addHandedOver(WaitOp wait, CommitOp commit) {
  auto refuse = [&](StringRef decision, const Twine &value) {
    return emitSourceError(wait, "expected a sum that its own role fetches, since '")
           << decision << "' is " << value << ": another role has it from tensor memory";
  };
  if (auto number = wait->getAttrOfType<IntegerAttr>(kColumnsAttrName))
    return refuse(kColumnsAttrName, Twine(number.getInt()));
  if (inRegisters.contains(wait))
    return refuse(kCarriedAttrName, "\"registers\"");
  std::optional<SumLife> life = findLife(wait);
  life->commit = commit;
  handedOver.push_back(*life);
  return success();
}

//===- What other roles use -----------------------------------------------------------------===//

/// The tensor that is committed is what a dot makes, or another one.
LogicalResult AccumulatorRealiser::handOver(CommitOp commit) {
  Value tensor = commit.getAccumulator().getDefiningOp<PendOp>().getTensor();
  if (auto wait = tensor.getDefiningOp<WaitOp>(); wait && tensor.hasOneUse())
    return addHandedOver(wait, commit);
  if (auto condition = tensor.getDefiningOp<scf::IfOp>(); condition && tensor.hasOneUse())
    return sink(condition, cast<OpResult>(tensor).getResultNumber(), commit);
  fills.push_back(commit);
  return success();
}

/// Each branch of a condition commits what it makes. Where slots are filled in their own turn, each
/// takes its place where it fills.
LogicalResult AccumulatorRealiser::sink(scf::IfOp condition, unsigned index, CommitOp commit) {
  auto pend = commit.getAccumulator().getDefiningOp<PendOp>();
  auto next = commit.getSlot().getDefiningOp<NextOp>();
  if (!next.getFills() && next->getBlock() == condition->getBlock())
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
    auto place = next.getFills() ? cast<NextOp>(rewriter.clone(*next)) : next;
    commits.push_back(
        CommitOp::create(rewriter, commit.getLoc(), part, commit.getChannel(), place.getSlot()));
    yield->eraseOperand(index);
  }
  rewriter.eraseOp(commit);
  if (next.getFills())
    rewriter.eraseOp(next);
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
    channels.awaitMate(fill, life.commit.getChannel(), life.getEnd());
  rewriter.eraseOp(pend);
  rewriter.eraseOp(life.wait);
}

LogicalResult AccumulatorRealiser::realiseFill(CommitOp commit) {
  auto *known = llvm::find_if(
      handedOver, [&](SumLife &life) { return life.commit.getChannel() == commit.getChannel(); });
  auto next = commit.getSlot().getDefiningOp<NextOp>();
  if (known == handedOver.end())
    return emitSourceError(commit, "expected a sum that dots of role \"")
           << role.getName()
           << "\" make, and to which no 'promote' adds, since another role fetches it";
  channels.acquire(commit.getAccumulatorMutable(), commit.getChannel(), next.getSlot(),
                   next.getPhase(), known->atom);
  return success();
}

//===- What the role uses itself ------------------------------------------------------------===//

/// Where a channel has what is filled in one trip and got in another, its sides have places of
/// their own.
NextOp AccumulatorRealiser::makeFilled(Location loc, const TensorUse &use) {
  return channels.makeNext(loc, getChannel(use), /*fills=*/kinds[use.columns].isCarried);
}

NextOp AccumulatorRealiser::makeGot(Location loc, const TensorUse &use, NextOp filled) {
  return kinds[use.columns].isCarried ? channels.makeNext(loc, getChannel(use)) : filled;
}

/// From what uses the accumulator first to the op behind which it is committed.
NextOp AccumulatorRealiser::begin(const TensorUse &use, OpOperand &first, Operation *end,
                                  Value sum) {
  Value channel = getChannel(use);
  Location loc = WaitOp(use.life.wait).getLoc();
  rewriter.setInsertionPoint(first.getOwner());
  NextOp next = makeFilled(loc, use);
  Value slot = next.getSlot();
  if (FillOp fill = channels.acquire(first, channel, slot, next.getPhase(), use.life.atom))
    channels.awaitMate(fill, channel, end);
  rewriter.setInsertionPointAfter(findLastRelease(end));
  CommitOp::create(rewriter, loc, sum, channel, slot);
  return next;
}

/// What loops and conditions hand on is nobody's any more.
void AccumulatorRealiser::beginFlight(const TensorUse &use) {
  for (SumBegin each : use.flight->begins)
    begin(use, *each.first, each.last, each.last.getResult());
  for (OpOperand *carrier : use.flight->carriers) {
    Operation *owner = carrier->getOwner();
    rewriter.setInsertionPoint(owner);
    carrier->set(ub::PoisonOp::create(rewriter, owner->getLoc(), carrier->get().getType()));
  }
}

void AccumulatorRealiser::realise(const TensorUse &use) {
  WaitOp wait = use.life.wait;
  Location loc = wait.getLoc();
  NextOp filled;
  if (!use.flight)
    filled = begin(use, *use.life.first, use.life.getEnd(), wait.getPending());
  rewriter.setInsertionPoint(wait);
  NextOp next = makeGot(loc, use, filled);
  Value channel = getChannel(use);
  Type type = wait.getType();
  if (!use.over) {
    rewriter.replaceOp(wait, channels.fetch(loc, type, channel, next, use.life.atom));
    return;
  }
  FetchOp sum = channels.fetchAndKeep(loc, type, channel, next, use.life.atom);
  rewriter.replaceOp(wait, sum);
  fillOver(*use.over, sum, channel, next.getSlot(), channels);
}

/// A sum that a condition chooses is fetched behind it, where it is used: each branch commits its
/// own.
LogicalResult AccumulatorRealiser::commitBehind(const TensorUse &use) {
  WaitOp wait = use.life.wait;
  auto condition = cast<scf::IfOp>(wait->getParentOp());
  Value sum = condition.getResult(wait->use_begin()->getOperandNumber());
  Location loc = wait.getLoc();
  Value channel = getChannel(use);
  rewriter.setInsertionPointAfter(condition);
  NextOp filled = makeFilled(loc, use);
  auto pend = PendOp::create(rewriter, loc, wait.getPending().getType(), sum);
  auto commit = CommitOp::create(rewriter, loc, pend, channel, filled.getSlot());
  NextOp next = makeGot(loc, use, filled);
  sum.replaceAllUsesExcept(channels.fetch(loc, wait.getType(), channel, next, use.life.atom), pend);
  return handOver(commit);
}

/// Every sum has been begun by dots of its own, and another role has the sum of a trip in that
/// trip.
LogicalResult AccumulatorRealiser::checkWhole() {
  WalkResult result = region.walk<WalkOrder::PreOrder>([&](WaitOp wait) -> WalkResult {
    const SumFlight *flight = uses.findFlight(wait);
    bool isWhole = !wait.getPending().getType().getInTensorMemory() || flight || findLife(wait);
    if (isWhole && !(flight && uses.isHandedOver(wait)))
      return WalkResult::advance();
    if (isWhole)
      return emitSourceError(wait, "expected one stage for a product in tensor memory and for what "
                                   "hands its sum to another role");
    return emitSourceError(wait, "expected a product in tensor memory that adds to no sum of "
                                 "another trip that is in flight");
  });
  return failure(result.wasInterrupted());
}

LogicalResult AccumulatorRealiser::run() {
  if (failed(takeCarried()))
    return failure();
  if (failed(checkWhole()) || failed(takeColumns()))
    return failure();
  DenseSet<const SumFlight *> begun;
  for (const TensorUse &use : uses.all)
    if (use.flight && begun.insert(use.flight).second)
      beginFlight(use);
  SmallVector<CommitOp> commits;
  region.walk([&](CommitOp commit) {
    if (commit.getAccumulator().getDefiningOp<PendOp>())
      commits.push_back(commit);
  });
  for (CommitOp commit : commits)
    if (failed(handOver(commit)))
      return failure();
  auto isOver = [](const TensorUse &use) { return use.over != nullptr; };
  for (const TensorUse &use : uses.all) {
    if (use.kind == TensorUse::Chosen && failed(commitBehind(use)))
      return failure();
    if (use.kind == TensorUse::Operand && !isOver(use))
      fillSlot(use, getChannel(use), channels);
  }
  // What goes back by commit does so in front of the commits that tell of other sums.
  for (bool areOver : {true, false})
    for (const TensorUse &use : uses.all) {
      if (isOver(use) != areOver)
        continue;
      if (use.kind == TensorUse::Carried)
        realiseCarriedSum(use, getChannel(use), channels);
      else if (use.kind == TensorUse::Fetched)
        realise(use);
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
