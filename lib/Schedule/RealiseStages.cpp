// Lowers what each role runs to the order that its stages and orders say.
#include "Rings.h"
#include "Trip.h"
#include "kiln/Schedule/Passes.h"
#include "kiln/Target/TargetInterface.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

namespace kiln {
#define GEN_PASS_DEF_REALISESTAGES
#include "kiln/Schedule/Passes.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

namespace {
/// What a role's blocks are realised for.
struct Context {
  RoleAttr role;
  /// Whether slots of the role's own rings are constants.
  bool knownSlots;
  RingReaders readers;
};
} // namespace

static LogicalResult realise(Block &block, const Context &context);

/// What becomes of a loop or a condition runs in its place.
static LogicalResult realiseRegions(Operation *op, const Context &context) {
  Operation *before = op->getPrevNode(), *after = op->getNextNode();
  Block *block = op->getBlock();
  SmallVector<std::pair<StringRef, Attribute>> place;
  for (StringRef name : {"stage", "order"})
    if (Attribute decision = getDecision(op, name))
      place.push_back({name, decision});
  SmallVector<Block *> inner;
  for (Region &region : op->getRegions())
    llvm::append_range(inner, llvm::make_pointer_range(region));
  for (Block *each : inner)
    if (failed(realise(*each, context)))
      return failure();
  for (Operation *made = before ? before->getNextNode() : &block->front(); made != after;
       made = made->getNextNode())
    for (auto [name, decision] : place)
      made->setAttr(spellDecision(made, name), decision);
  return success();
}

/// Whether something outside of a loop may have come before it: it stands in front of it, or comes
/// round in a loop around both.
static bool mayPrecede(Operation *op, Operation *loop) {
  Operation *at = loop, *here = nullptr;
  while (!(here = at->getBlock()->findAncestorOpInBlock(*op)))
    at = at->getParentOp();
  return (here != at && here->isBeforeInBlock(at)) || here->getParentOfType<LoopLikeOpInterface>();
}

/// Whether something else than a place's own ops has used a ring before it.
static bool isUsedBefore(Value channel, Operation *place,
                         function_ref<bool(Operation *)> isItsOwn) {
  return llvm::any_of(channel.getUsers(), [&](Operation *user) {
    return isa<PutOp, GetOp, ReleaseOp>(user) && !isItsOwn(user) && mayPrecede(user, place);
  });
}

/// A loop orders its own uses of slots. What else has used a slot that it fills may read it still:
/// other uses of its rings, which lag in their own way; and where slots are constants, which begin
/// anew with each loop, the loop itself, if it is in another one.
static void enterLoop(const Trip &trip, const Context &context) {
  auto isItsOwn = [&](Operation *user) { return trip.loop->isAncestor(user); };
  bool comesRound = context.knownSlots && trip.loop->getParentOfType<LoopLikeOpInterface>();
  bool isMet = comesRound || llvm::any_of(trip.ops, [&](Operation *op) {
                 auto put = dyn_cast<PutOp>(op);
                 return put && put.getChannel().getType().getOwn() &&
                        isUsedBefore(put.getChannel(), trip.loop, isItsOwn);
               });
  OpBuilder builder(trip.loop);
  if (isMet)
    meetCopies(builder, trip.loop->getLoc(), context.role);
}

/// What stands in no loop of its own goes round its rings by another count than loops whose slots
/// are constants: all meet in front of its first put into a ring that something else has used. So
/// they do where what else has used a ring may have met last in front of the use of a slot that is
/// filled here; in a loop they have (WaitForPuts.cpp).
static void enterBlock(const Trip &trip, const Context &context) {
  auto isItsOwn = [&](Operation *user) { return user->getBlock() == &trip.block; };
  for (PutOp put : trip.block.getOps<PutOp>()) {
    auto isOfRing = [&](PutOp other) { return other.getChannel() == put.getChannel(); };
    bool isFew = put.getChannel().getType().getDepth() <
                 2 * llvm::count_if(trip.block.getOps<PutOp>(), isOfRing);
    bool mayBeRead = context.knownSlots || (isFew && !put->getParentOfType<LoopLikeOpInterface>());
    if (!mayBeRead || !put.getChannel().getType().getOwn() ||
        !isUsedBefore(put.getChannel(), put, isItsOwn))
      continue;
    OpBuilder builder(put);
    meetCopies(builder, put.getLoc(), context.role);
    return;
  }
}

/// Inner loops first: once realised, they are ops of the outer block.
static LogicalResult realise(Block &block, const Context &context) {
  for (Operation &op : llvm::make_early_inc_range(block))
    if (isa<scf::ForOp, scf::IfOp, scf::WhileOp>(op) && failed(realiseRegions(&op, context)))
      return failure();
  if (!hasDecisions(block))
    return success();
  countByIndex(block);
  Trip trip(block);
  if (failed(checkSchedule(trip)) || failed(startDots(trip)) ||
      failed(releaseSlots(trip, context.readers)) ||
      failed(waitForPuts(trip, context.role, context.knownSlots)) || failed(checkTrip(trip)))
    return failure();
  if (trip.fillsRings)
    enterLoop(trip, context);
  bool isLoop = trip.loop != nullptr;
  expandTrip(trip);
  if (!isLoop)
    enterBlock(trip, context);
  return success();
}

/// A loop that surely has enough iterations was put behind a condition that always holds, so that
/// it was one op of the block around it.
static void inlineCertain(Region &region) {
  region.walk([](scf::IfOp condition) {
    if (!matchPattern(condition.getCondition(), m_One()) || condition->hasAttr(kSplitLoopAttrName))
      return;
    Operation *yield = condition.thenBlock()->getTerminator();
    SmallVector<Value> values(yield->getOperands());
    yield->erase();
    condition->getBlock()->getOperations().splice(condition->getIterator(),
                                                  condition.thenBlock()->getOperations());
    condition->replaceAllUsesWith(values);
    condition.erase();
  });
}

static bool isOwnRing(Value capture) {
  auto channel = dyn_cast<ChannelType>(capture.getType());
  return channel && channel.getOwn();
}

namespace {
struct RealiseStages : kiln::impl::RealiseStagesBase<RealiseStages> {
  void runOnOperation() override {
    WalkResult result = getOperation().walk([&](WarpGroupsOp groups) -> WalkResult {
      bool knownSlots = false;
      if (llvm::any_of(groups.getCaptures(), isOwnRing)) {
        FailureOr<TargetInterface> target = requireTarget(groups);
        if (failed(target))
          return WalkResult::interrupt();
        knownSlots = target->getChipRecord().knownSlots;
      }
      for (auto [number, region] : llvm::enumerate(groups.getBodies())) {
        Context context = {groups.getRole(number), knownSlots, findRingReaders(region)};
        if (failed(realise(region.front(), context)))
          return WalkResult::interrupt();
        inlineCertain(region);
        if (groups.getRole(number).getSkew())
          skewDots(region, groups.getRole(number));
      }
      return WalkResult::skip();
    });
    if (result.wasInterrupted())
      return signalPassFailure();
    // No later pass asks how many trips a loop has.
    getOperation().walk([](scf::ForOp loop) { loop->removeAttr(kLeastTripsAttrName); });
  }
};
} // namespace
