// Gives what one thread does for all a region of its own.
//
// Engines are started, and barriers in shared memory told, by one thread: of a copy of a role, or
// of each of its warps. Ops of that kind which follow one another share a region, and so a branch;
// a role that does nothing else is one region, which spares its other threads the walk through its
// loops. Where the others go on with what one thread's op gives, the place of a slot, the op stands
// among theirs and says itself that one thread does it. What one of two programs does for both says
// so, too.
#include "kiln/Dialect/Tile/IR/ThreadDecisions.h"
#include "kiln/Dialect/Tile/IR/Tile.h"
#include "kiln/Schedule/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

namespace kiln {
#define GEN_PASS_DEF_REALISETHREADS
#include "kiln/Schedule/Passes.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

namespace {
/// Who runs an op.
enum class Threads {
  All,     ///< every thread of the copy
  Any,     ///< whoever needs it: it has no effect
  One,     ///< one thread of the copy
  EachWarp ///< one thread of each warp
};
} // namespace

static Threads getThreads(Operation *op) {
  return TypeSwitch<Operation *, Threads>(op)
      .Case<PutOp>([](PutOp put) { return put.getBytes() > 0 ? Threads::One : Threads::All; })
      .Case<ReleaseOp>([](ReleaseOp release) {
        if (release.getChannel().getType().getOwn())
          return Threads::All;
        return release.getCommit() ? Threads::One : Threads::EachWarp;
      })
      .Case<CopyOutOp, WaitStoresOp, CommitOp>([](auto) { return Threads::One; })
      .Default([](Operation *op) {
        bool isFree = isMemoryEffectFree(op) && op->getNumRegions() == 0 &&
                      !op->hasTrait<OpTrait::IsTerminator>();
        return isFree ? Threads::Any : Threads::All;
      });
}

/// Whether one thread does it, though all know what it gives: waits for what it is to start, and
/// starts of dots into tensor memory.
static bool isForOne(Operation *op) {
  if (auto get = dyn_cast<GetOp>(op))
    return get.getToStart();
  if (auto dot = dyn_cast<StartDotOp>(op))
    return dot.getType().getInTensorMemory();
  return isa<AcquireOp>(op);
}

/// Whether one thread can run all of a role: what it does is started by one, and waited for by none
/// of the others.
static bool needsOneThread(Block &block, bool &starts) {
  for (Operation &op : block) {
    if (op.hasTrait<OpTrait::IsTerminator>())
      continue;
    if (isa<scf::ForOp, scf::WhileOp, scf::IfOp>(op)) {
      for (Region &region : op.getRegions())
        for (Block &inner : region)
          if (!needsOneThread(inner, starts))
            return false;
      continue;
    }
    Threads threads = getThreads(&op);
    if (!isForOne(&op) && threads != Threads::One && threads != Threads::Any)
      return false;
    starts |= isa<StartDotOp>(op) || threads == Threads::One;
  }
  return true;
}

/// Whether all may compute it in front of what one thread does: scalars, and parts of tensors and
/// buffers, which are no work.
static bool costsNothing(Operation *op) {
  return isa<SliceOp, PartOp>(op) ||
         llvm::all_of(op->getResultTypes(), [](Type type) { return type.isIntOrIndexOrFloat(); });
}

static void wrap(ArrayRef<Operation *> ops, Threads threads) {
  OpBuilder builder(ops.front());
  auto one = OneThreadOp::create(builder, ops.front()->getLoc(), threads == Threads::EachWarp);
  Block &body = one.getBody().emplaceBlock();
  for (Operation *op : ops)
    op->moveBefore(&body, body.end());
}

/// Runs of ops of one kind; what has no effect between two of them is computed in front.
static void wrapRuns(Block &block) {
  SmallVector<Operation *> run;
  Threads kind = Threads::All;
  auto close = [&] {
    if (!run.empty())
      wrap(run, kind);
    run.clear();
  };
  for (Operation &op : llvm::make_early_inc_range(block)) {
    Threads threads = getThreads(&op);
    if (threads == Threads::Any && (run.empty() || costsNothing(&op))) {
      if (!run.empty())
        op.moveBefore(run.front());
      continue;
    }
    if (threads != kind || run.empty())
      close();
    kind = threads;
    if (threads == Threads::One || threads == Threads::EachWarp) {
      run.push_back(&op);
      continue;
    }
    if (isForOne(&op))
      op.setAttr("one_thread", UnitAttr::get(op.getContext()));
    for (Region &region : op.getRegions())
      for (Block &inner : region)
        wrapRuns(inner);
  }
  close();
}

namespace {
struct RealiseThreads : kiln::impl::RealiseThreadsBase<RealiseThreads> {
  void runOnOperation() override {
    getOperation().walk([](WarpGroupsOp groups) {
      groups.walk([](Operation *op) {
        if (isForFirstOfPair(op))
          op->setAttr(kFirstOfPairAttrName, UnitAttr::get(op->getContext()));
      });
      for (Region &region : groups.getBodies()) {
        Block &block = region.front();
        bool starts = false;
        if (!needsOneThread(block, starts) || !starts) {
          wrapRuns(block);
          continue;
        }
        SmallVector<Operation *> all(llvm::make_pointer_range(block));
        wrap(all, Threads::One);
      }
      return WalkResult::skip();
    });
  }
};
} // namespace
