// Lets warps wait between accesses to shared memory.
#include "Decisions.h"
#include "kiln/Layout/Transforms/SharedLayout.h"
#include "kiln/Schedule/Passes.h"
#include "kiln/Target/Chip.h"
#include "kiln/Target/TargetInterface.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace kiln {
#define GEN_PASS_DEF_ORDERSHARED
#include "kiln/Schedule/Passes.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

//===- Kernels without roles ----------------------------------------------------------------===//

namespace {
/// The bytes of shared memory that a buffer takes.
struct Span {
  int64_t first, end;
  bool overlaps(const Span &other) const { return other.first < end && first < other.end; }
};

/// Walks a program in the order in which it runs. A write comes behind a barrier if the bytes were
/// accessed since the last one, a read if they were written. Behind an op that has scratch of its
/// own, and where loops and branches begin and end, nothing is known, so the first access comes
/// behind a barrier.
class SharedOrderer {
public:
  void order(Block &block);

private:
  void order(Operation *op);
  void access(Operation *op, Value buffer, bool isWrite);
  void meet(Operation *op) {
    OpBuilder builder(op);
    BarrierOp::create(builder, op->getLoc());
    forget();
  }
  void forget() {
    isKnown = false;
    reads.clear();
    writes.clear();
  }

  bool isKnown = false;
  SmallVector<Span> reads, writes;
};
} // namespace

static Span getSpan(Value buffer) {
  // A buffer that is not allocated here, or has no place yet, may be any.
  auto alloc = buffer.getDefiningOp<AllocOp>();
  auto place = alloc ? alloc->getAttrOfType<IntegerAttr>(kSharedOffsetAttrName) : IntegerAttr();
  if (!place)
    return {0, std::numeric_limits<int64_t>::max()};
  return {place.getInt(), place.getInt() + getSharedBytes(alloc.getResult().getType())};
}

/// Whether a loop reads a buffer that is written before it.
static bool readsFromOutside(Operation *op) {
  auto loop = dyn_cast<LoopLikeOpInterface>(op);
  return loop && op->walk([&](ReadOp read) {
                     return loop.isDefinedOutsideOfLoop(read.getBuffer()) ? WalkResult::interrupt()
                                                                          : WalkResult::advance();
                   }).wasInterrupted();
}

/// Whether all that is known of accesses holds behind it: it neither touches shared memory nor
/// meets.
static bool leavesShared(Operation *op) {
  if (op->hasAttr(kSharedOffsetAttrName) && !isa<AllocOp>(op))
    return false;
  if (auto store = dyn_cast<StoreOp>(op))
    return store.getValue().getType().getElementTypeBitWidth() >= 8;
  return isa<AllocOp, LoadOp>(op) || isMemoryEffectFree(op);
}

void SharedOrderer::access(Operation *op, Value buffer, bool isWrite) {
  Span span = getSpan(buffer);
  auto overlaps = [&](const Span &other) { return span.overlaps(other); };
  if (!isKnown || llvm::any_of(writes, overlaps) || (isWrite && llvm::any_of(reads, overlaps))) {
    meet(op);
    isKnown = true;
  }
  (isWrite ? writes : reads).push_back(span);
}

void SharedOrderer::order(Operation *op) {
  if (auto write = dyn_cast<WriteOp>(op))
    return access(op, write.getBuffer(), /*isWrite=*/true);
  if (auto read = dyn_cast<ReadOp>(op))
    return access(op, read.getBuffer(), /*isWrite=*/false);
  // Whoever else reads a buffer finds it written; what a loop reads of it is waited for once, not
  // in each turn.
  bool readsBuffer = llvm::any_of(op->getOperandTypes(), llvm::IsaPred<BufferType>);
  if (!writes.empty() && (readsBuffer || readsFromOutside(op)))
    meet(op);
  bool isControl = isa<LoopLikeOpInterface, scf::IfOp>(op);
  if (!isControl && !leavesShared(op))
    return forget();
  if (!isControl)
    return;
  for (Region &region : op->getRegions())
    for (Block &block : region) {
      forget();
      order(block);
      forget();
    }
}

void SharedOrderer::order(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block))
    order(&op);
}

//===- Roles whose barriers wait for nothing ------------------------------------------------===//

static bool isOwn(Value channel) { return cast<ChannelType>(channel.getType()).getOwn(); }

/// Whether a barrier stands between reads of shared memory and writes of it, or the other way
/// round.
static bool guardsWrites(BarrierOp op) {
  auto isWrite = [](Operation *other) { return isa<WriteOp>(other); };
  Operation *before = op->getPrevNode(), *after = op->getNextNode();
  while (before && !isa<BarrierOp, WriteOp>(before))
    before = before->getPrevNode();
  while (after && !isa<BarrierOp, WriteOp>(after))
    after = after->getNextNode();
  return (before && isWrite(before)) || (after && isWrite(after));
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
  while (next && !isa<BarrierOp>(next) && (isa<PutOp>(next) || next->getNumRegions() == 0))
    next = next->getNextNode();
  return isa_and_nonnull<BarrierOp>(next);
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

/// One that orders global memory too waits for all accesses, by the code generator's fences.
void BareOrderer::order(BarrierOp barrier) {
  bool ends = comesRound(barrier);
  if (barrier.getGlobal() || !(copiesDirectly || ends))
    return;
  if (ends || guardsWrites(barrier) || frees(barrier)) {
    OpBuilder builder(barrier);
    waitShared(builder, barrier);
  }
  barrier.setBare(true);
}

void BareOrderer::order() {
  SmallVector<Operation *> ops;
  region.walk([&](Operation *op) {
    if (isa<BarrierOp, ReleaseOp, PutOp>(op))
      ops.push_back(op);
  });
  // Barriers tell the other warps that a slot is free, once this one has read it; and that it is
  // full, once this one has written its part.
  SmallVector<Operation *> waitBehind;
  for (Operation *op : ops) {
    if (auto release = dyn_cast<ReleaseOp>(op)) {
      if (isUsedLater(release) || (copiesDirectly && !isBeforeBarrier(release)))
        waitBehind.push_back(op);
    } else if (auto put = dyn_cast<PutOp>(op)) {
      if (copiesDirectly && put.getBody().front().getOps<CopyInOp>().empty())
        waitBehind.push_back(op);
    }
  }
  for (Operation *op : ops)
    if (auto barrier = dyn_cast<BarrierOp>(op))
      order(barrier);
  for (Operation *op : waitBehind) {
    OpBuilder builder(op);
    builder.setInsertionPointAfter(op);
    waitShared(builder, op);
  }
}

namespace {
struct OrderShared : kiln::impl::OrderSharedBase<OrderShared> {
  void runOnOperation() override {
    for (KernelOp kernel : getOperation().getOps<KernelOp>()) {
      bool hasRoles = false;
      for (auto groups : kernel.getBody().getOps<WarpGroupsOp>()) {
        hasRoles = true;
        FailureOr<TargetInterface> target = requireTarget(groups);
        if (failed(target))
          return signalPassFailure();
        if (target->getChipRecord().bareBarriers)
          for (Region &region : groups.getBodies())
            BareOrderer(region).order();
      }
      if (!hasRoles)
        SharedOrderer().order(kernel.getBody().front());
    }
  }
};
} // namespace
