// Fences where warps and engines meet in memory: engines see it by proxies of their own, which
// barriers between warps do not order.
#include "Trip.h"
#include "kiln/Dialect/Tile/IR/ThreadDecisions.h"
#include "kiln/Schedule/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

namespace kiln {
#define GEN_PASS_DEF_REALISEFENCES
#include "kiln/Schedule/Passes.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

/// Whether an engine reads the buffer: copies out of it, and dots in flight.
static bool isReadByEngine(Value buffer) {
  return llvm::any_of(findReaders(buffer), llvm::IsaPred<CopyOutOp, StartDotOp>);
}

bool kiln::isReadByEngine(WarpGroupsOp groups, unsigned capture) {
  for (Region &region : groups.getBodies())
    for (Operation *user : region.getArgument(capture).getUsers())
      if (auto get = dyn_cast<GetOp>(user))
        for (Value buffer : get.getBuffers())
          if (::isReadByEngine(buffer))
            return true;
  return false;
}

bool kiln::isFilledByEngine(WarpGroupsOp groups, unsigned capture) {
  return llvm::any_of(groups.getBodies(), [&](Region &region) {
    return llvm::any_of(region.getArgument(capture).getUsers(), [](Operation *user) {
      auto put = dyn_cast<PutOp>(user);
      return put && put.getBytes() > 0;
    });
  });
}

/// Whether lanes have read the slot that is given back, or may have: they meet behind a slot that
/// they have only seen, too.
static bool wasReadByLanes(ReleaseOp release) {
  bool isKnown = false, isRead = false;
  for (Operation *user : release.getChannel().getUsers())
    if (auto get = dyn_cast<GetOp>(user)) {
      bool isThis = get.getSlot() == release.getSlot();
      if (isThis && isReadByLanes(get))
        return true;
      isKnown |= isThis;
      isRead |= isReadByLanes(get);
    }
  return isRead && !isKnown;
}

/// Whether an engine may fill a slot again once lanes have read it. It writes by a proxy of its
/// own, and a read that a lane has started may wait behind other accesses for longer than a copy
/// takes.
static bool mustHaveRead(ReleaseOp release) {
  auto channel = cast<BlockArgument>(release.getChannel());
  auto groups = cast<WarpGroupsOp>(channel.getOwner()->getParentOp());
  return release.getLanes() && isFilledByEngine(groups, channel.getArgNumber()) &&
         wasReadByLanes(release);
}

/// Whether warps fill a slot by copies that run on.
static bool isCopied(PutOp put) {
  return !put.getBytes() && !put.getBody().front().getOps<CopyInOp>().empty();
}

/// Whether dots read what is got, in its trip or a later one, to which a loop hands it.
static bool isReadByDotsLater(GetOp get) {
  auto isHandedOn = [](Operation *user) {
    return isa<LoopLikeOpInterface>(user) || user->hasTrait<OpTrait::IsTerminator>();
  };
  auto isReadSo = [](Operation *user) {
    auto other = dyn_cast<GetOp>(user);
    return other && isReadByDots(other);
  };
  return isReadByDots(get) || (llvm::any_of(get->getUsers(), isHandedOn) &&
                               llvm::any_of(get.getChannel().getUsers(), isReadSo));
}

/// Whether warps copy what dots in flight read of a slot with barriers. These copies tell of
/// themselves when they have come, so that nobody there lets the dots' engine see them.
static bool mustLetSee(GetOp get) {
  if (get.getChannel().getType().getOwn() || !isReadByDotsLater(get))
    return false;
  auto channel = cast<BlockArgument>(get.getChannel());
  auto groups = cast<WarpGroupsOp>(channel.getOwner()->getParentOp());
  return llvm::any_of(groups.getBodies(), [&](Region &region) {
    return llvm::any_of(region.getArgument(channel.getArgNumber()).getUsers(), [](Operation *user) {
      auto put = dyn_cast<PutOp>(user);
      return put && isCopied(put);
    });
  });
}

/// What the warps of a copy write, one lane of each tells of: when all lanes have. Copies tell of
/// their end themselves, and of nothing there is none to see: only the warp's own lanes meet.
static void endPut(PutOp put) {
  if (isCopied(put) || put.getBody().getNumArguments() == 0) {
    put->setAttr(kLanesAttrName, UnitAttr::get(put.getContext()));
    return;
  }
  auto channel = cast<BlockArgument>(put.getChannel());
  auto groups = cast<WarpGroupsOp>(channel.getOwner()->getParentOp());
  OpBuilder builder = OpBuilder::atBlockEnd(&put.getBody().front());
  BarrierOp::create(builder, put.getLoc(), isReadByEngine(groups, channel.getArgNumber()));
}

/// Whether a fence in front of an op orders all that its block has done in tensor memory until
/// then: sums that are fetched box by box are released one behind another.
static bool isPublished(Operation *op) {
  while ((op = op->getPrevNode()) && !isa<FetchOp, FillOp>(op) && !op->getNumRegions())
    if (auto fence = dyn_cast<FenceOp>(op); fence && fence.getKind() == FenceKind::TensorBefore)
      return true;
  return false;
}

static void fence(Operation *op) {
  OpBuilder before(op), after(op);
  after.setInsertionPointAfter(op);
  Location loc = op->getLoc();
  auto observe = [&](OpBuilder &builder) { FenceOp::create(builder, loc, FenceKind::TensorAfter); };
  auto publish = [&](OpBuilder &builder) {
    FenceOp::create(builder, loc, FenceKind::TensorBefore);
  };
  if (auto get = dyn_cast<GetOp>(op)) {
    if (isReadUntilCommit(get) || get.getChannel().getType().getAccumulator())
      observe(after);
    if (mustLetSee(get))
      FenceOp::create(after, loc, FenceKind::Shared);
  } else if (auto acquire = dyn_cast<AcquireOp>(op)) {
    if (!llvm::all_of(acquire.getAccumulator().getUsers(), llvm::IsaPred<FillOp>))
      observe(after);
  } else if (auto release = dyn_cast<ReleaseOp>(op)) {
    // A commit orders what it tells of itself.
    if (release.getChannel().getType().getAccumulator() && !release.getCommit() &&
        !isPublished(release))
      publish(before);
    if (mustHaveRead(release))
      FenceOp::create(before, loc, FenceKind::Shared);
  } else if (auto fill = dyn_cast<FillOp>(op)) {
    // The thread that has acquired the accumulator tells the others, and starts dots into it again
    // once all have written. Over a sum that all have got each warp writes the rows that it
    // fetched.
    auto isOver = [](FillOp fill) { return bool(fill.getAccumulator().getDefiningOp<PartOp>()); };
    if (!isOver(fill) && !isa_and_nonnull<FillOp>(fill->getPrevNode())) {
      BarrierOp::create(before, loc);
      observe(before);
    }
    // Several that follow one another are written behind one meeting, and told of by one.
    if (auto next = dyn_cast_or_null<FillOp>(fill->getNextNode()); next && !isOver(next))
      return;
    publish(after);
    BarrierOp::create(after, loc);
    observe(after);
  }
}

namespace {
struct RealiseFences : kiln::impl::RealiseFencesBase<RealiseFences> {
  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) {
      if (isa<PutOp, GetOp, AcquireOp, ReleaseOp, FillOp>(op) && WarpGroupsOp::getRoleOf(op))
        ops.push_back(op);
    });
    for (Operation *op : ops) {
      auto put = dyn_cast<PutOp>(op);
      if (!put)
        fence(op);
      else if (put.getBytes() == 0 && !put.getChannel().getType().getOwn())
        endPut(put);
    }
  }
};
} // namespace
