// Lets warps of a role wait for their own accesses to shared memory, on chips whose barriers wait
// for none; and where copies of a role lag behind one another by the barriers of all, so that each
// barrier counts and nobody makes one of two.
#include "Decisions.h"
#include "kiln/Dialect/Tile/IR/ThreadDecisions.h"
#include "kiln/Schedule/Passes.h"
#include "kiln/Target/Chip.h"
#include "kiln/Target/TargetInterface.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

namespace kiln {
#define GEN_PASS_DEF_ORDERBARE
#include "kiln/Schedule/Passes.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

static bool isOwn(Value channel) { return cast<ChannelType>(channel.getType()).getOwn(); }

/// Whether warps meet in an op, once they have written what lanes exchange there: a barrier that
/// waits for all accesses.
static bool meetsInside(Operation *op) {
  return op->hasAttr(kSharedOffsetAttrName) && !isa<AllocOp>(op);
}

/// Whether an op writes to shared memory, perhaps to scratch of its own, or in a condition or a
/// loop that it is. Puts end with barriers of theirs.
static bool writesShared(Operation *op) {
  return op
      ->walk<WalkOrder::PreOrder>([](Operation *inner) {
        if (isa<PutOp>(inner))
          return WalkResult::skip();
        return isa<WriteOp>(inner) || meetsInside(inner) ? WalkResult::interrupt()
                                                         : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Whether a barrier stands between reads of shared memory and writes of it, or the other way
/// round.
static bool guardsWrites(BarrierOp op) {
  Operation *before = op->getPrevNode(), *after = op->getNextNode();
  while (before && !isa<BarrierOp>(before) && !writesShared(before))
    before = before->getPrevNode();
  while (after && !isa<BarrierOp>(after) && !writesShared(after))
    after = after->getNextNode();
  return (before && writesShared(before)) || (after && writesShared(after));
}

/// Whether a barrier tells of what a loop wrote to a ring at the end of the turn before. LLVM (22)
/// forgets this: a wait of its own at the head of a loop goes if nothing is outstanding where the
/// loop is entered.
static bool comesRound(BarrierOp op) {
  auto writes = [](Operation &other) {
    auto put = dyn_cast<PutOp>(other);
    return isa<WriteOp>(other) || (put && !put.getBody().front().getOps<WriteOp>().empty());
  };
  Block &block = *op->getBlock();
  return isa<scf::ForOp>(block.getParentOp()) &&
         llvm::none_of(llvm::make_range(block.begin(), op->getIterator()), writes) &&
         llvm::any_of(llvm::make_range(op->getIterator(), block.end()), writes) &&
         isa<PutOp>(*llvm::find_if(llvm::reverse(block), writes));
}

/// Whether reads of an own ring lie in front of a barrier, behind the one before.
static bool frees(BarrierOp op) {
  Operation *before = op->getPrevNode();
  auto isRead = [](Operation *op) {
    auto release = dyn_cast<ReleaseOp>(op);
    return release && isOwn(release.getChannel());
  };
  while (before && !isRead(before) && !isa<BarrierOp>(before) &&
         (isa<PutOp>(before) || before->getNumRegions() == 0))
    before = before->getPrevNode();
  return before && isRead(before);
}

/// Whether what was read from a slot is used in a later trip alone, so that nothing waits for it in
/// its own.
static bool isUsedLater(ReleaseOp op) {
  for (Operation *user : op.getSlot().getUsers())
    if (auto get = dyn_cast<GetOp>(user); get && get.getChannel() == op.getChannel())
      for (Value buffer : get.getBuffers())
        for (Operation *read : buffer.getUsers())
          if (llvm::any_of(read->getUsers(),
                           [](Operation *use) { return use->hasTrait<OpTrait::IsTerminator>(); }))
            return true;
  return false;
}

/// Whether a barrier follows in the block, which then waits for the reads itself.
static bool isBeforeBarrier(ReleaseOp op) {
  Operation *next = op->getNextNode();
  auto isBarrier = [](Operation *op) { return isa<BarrierOp>(op) || meetsInside(op); };
  while (next && !isBarrier(next) && (isa<PutOp>(next) || next->getNumRegions() == 0))
    next = next->getNextNode();
  return next && isBarrier(next);
}

namespace {
/// One role's part of a program, on a chip whose barriers wait for no access.
class BareOrderer {
public:
  explicit BareOrderer(Region &region) : region(region) {
    // Warps that have copies under way into shared memory wait for these by counts alone.
    copiesDirectly = region
                         .walk([](CopyInOp copy) {
                           auto atom = cast<CopyAtomInterface>(copy.getAtom());
                           return atom.getCompletion() == Completion::CountedBytes
                                      ? WalkResult::advance()
                                      : WalkResult::interrupt();
                         })
                         .wasInterrupted();
  }
  void order();

private:
  void order(BarrierOp barrier);

  Region &region;
  bool copiesDirectly = false;
};
} // namespace

static void waitShared(OpBuilder &builder, Operation *op) {
  WaitSharedOp::create(builder, op->getLoc());
}

/// One that orders global memory too waits for all accesses, by the code generator's fences; one in
/// shared memory, for those to shared memory.
void BareOrderer::order(BarrierOp barrier) {
  bool ends = comesRound(barrier);
  bool isOfGroup = getMeeting(barrier).value_or(Meeting::All) != Meeting::All;
  if (barrier.getGlobal() || isOfGroup || !(copiesDirectly || ends))
    return;
  if (ends || guardsWrites(barrier) || frees(barrier)) {
    OpBuilder builder(barrier);
    waitShared(builder, barrier);
  }
  barrier.setBare(true);
}

/// Copies that lag count the barriers at which all meet.
static void keepCounts(Region &region, RoleAttr role) {
  if (!role.getSkew())
    return;
  region.walk([](BarrierOp barrier) {
    if (barrier.getBare() || barrier.getGlobal() || getMeeting(barrier) != Meeting::All)
      return;
    OpBuilder builder(barrier);
    waitShared(builder, barrier);
    barrier.setBare(true);
  });
}

void BareOrderer::order() {
  SmallVector<Operation *> ops;
  region.walk([&](Operation *op) {
    if (isa<BarrierOp, ReleaseOp, PutOp>(op))
      ops.push_back(op);
  });
  // Barriers tell the other warps that a slot of an own ring is free, once this one has read it;
  // and that it is full, once this one has written its part. Lanes that meet to tell other roles
  // wait.
  SmallVector<Operation *> waitBehind;
  for (Operation *op : ops) {
    if (auto release = dyn_cast<ReleaseOp>(op)) {
      if (isOwn(release.getChannel()) &&
          (isUsedLater(release) || (copiesDirectly && !isBeforeBarrier(release))))
        waitBehind.push_back(op);
    } else if (auto put = dyn_cast<PutOp>(op)) {
      if (copiesDirectly && isOwn(put.getChannel()) &&
          put.getBody().front().getOps<CopyInOp>().empty())
        waitBehind.push_back(op);
    }
  }
  for (Operation *op : ops)
    if (auto barrier = dyn_cast<BarrierOp>(op))
      order(barrier);
  if (copiesDirectly)
    region.walk([](Operation *op) {
      if (meetsInside(op))
        op->setAttr(kMeetsBareAttrName, UnitAttr::get(op->getContext()));
    });
  for (Operation *op : waitBehind) {
    OpBuilder builder(op);
    builder.setInsertionPointAfter(op);
    waitShared(builder, op);
  }
}

namespace {
struct OrderBare : kiln::impl::OrderBareBase<OrderBare> {
  void runOnOperation() override {
    WalkResult result = getOperation().walk([](WarpGroupsOp groups) {
      FailureOr<TargetInterface> target = requireTarget(groups);
      if (failed(target))
        return WalkResult::interrupt();
      for (auto [number, region] : llvm::enumerate(groups.getBodies())) {
        if (target->getChipRecord().bareBarriers)
          BareOrderer(region).order();
        keepCounts(region, groups.getRole(number));
      }
      return WalkResult::skip();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
