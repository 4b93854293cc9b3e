// Lets warps wait between accesses to shared memory.
//
// In a kernel without roles, between all of them. In a role channels and barriers order what goes
// through buffers, and scratch of ops alone is left, which only the role uses.
#include "Decisions.h"
#include "kiln/Layout/Transforms/SharedLayout.h"
#include "kiln/Schedule/Passes.h"
#include "kiln/Target/Common/SharedPieces.h"
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

namespace {
/// Bytes of shared memory that were accessed.
struct Span {
  int64_t first, end;
  /// Whether all copies of a role do, which else each have bytes of their own.
  bool isOfCopies = false;
  bool overlaps(const Span &other) const { return other.first < end && first < other.end; }
};

/// Walks a program, or what a role runs, in the order in which it runs. A write comes behind a
/// barrier if the bytes were accessed since the last one, a read if they were written. Where loops
/// and branches begin and end nothing is known, so the first access comes behind a barrier.
class SharedOrderer {
public:
  /// Of the program, or of the role.
  explicit SharedOrderer(Block &block, RoleAttr role = {}) : role(role) {
    block.walk([&](Operation *op) { hasOfCopies |= isOfAllCopies(op) && getScratchBytes(op); });
    order(block);
  }

private:
  void order(Block &block);
  void order(Operation *op);
  void access(Operation *op, Span span, bool isWrite);
  void useScratch(Operation *op, int64_t bytes);
  void meet(Operation *op, bool ofCopies = false) {
    OpBuilder builder(op);
    auto barrier = BarrierOp::create(builder, op->getLoc());
    barrier.setAllCopies(ofCopies);
    pass(ofCopies);
  }
  /// All have come here, or those of a copy alone.
  void pass(bool ofCopies) {
    auto isPast = [&](const Span &span) { return ofCopies || !span.isOfCopies; };
    llvm::erase_if(reads, isPast);
    llvm::erase_if(writes, isPast);
    isKnown = true;
  }
  void forget() {
    isKnown = false;
    reads.clear();
    writes.clear();
  }

  RoleAttr role;
  bool hasOfCopies = false;
  /// Nobody has accessed anything at first.
  bool isKnown = true;
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

/// Whether all that is known of accesses holds behind it: it does not touch shared memory.
static bool leavesShared(Operation *op) {
  return isa<AllocOp, LoadOp, StoreOp>(op) || isMemoryEffectFree(op);
}

void SharedOrderer::access(Operation *op, Span span, bool isWrite) {
  auto meets = [&](const Span &other) { return span.overlaps(other); };
  bool mustMeet = llvm::any_of(writes, meets) || (isWrite && llvm::any_of(reads, meets));
  if (!isKnown || mustMeet) {
    auto isOfCopies = [&](const Span &other) { return meets(other) && other.isOfCopies; };
    bool ofCopies = span.isOfCopies || (!isKnown && hasOfCopies) || llvm::any_of(reads, isOfCopies);
    meet(op, ofCopies);
  }
  (isWrite ? writes : reads).push_back(span);
}

/// Its threads write, meet once or more, and read in the end.
void SharedOrderer::useScratch(Operation *op, int64_t bytes) {
  auto place = op->getAttrOfType<IntegerAttr>(kSharedOffsetAttrName);
  Span span{0, std::numeric_limits<int64_t>::max(), isOfAllCopies(op)};
  if (place) {
    span.first = place.getInt();
    span.end = span.first + (role ? getBytesOfCopies(bytes, role) : bytes);
  }
  access(op, span, /*isWrite=*/true);
  pass(span.isOfCopies);
  writes.clear();
  reads.push_back(span);
}

void SharedOrderer::order(Operation *op) {
  if (int64_t bytes = getScratchBytes(op))
    return useScratch(op, bytes);
  if (auto barrier = dyn_cast<BarrierOp>(op))
    return pass(barrier.getAllCopies() || !role);
  bool isControl = isa<LoopLikeOpInterface, scf::IfOp>(op);
  if (!role) {
    if (auto write = dyn_cast<WriteOp>(op))
      return access(op, getSpan(write.getBuffer()), /*isWrite=*/true);
    if (auto read = dyn_cast<ReadOp>(op))
      return access(op, getSpan(read.getBuffer()), /*isWrite=*/false);
    // Whoever else reads a buffer finds it written; what a loop reads of it is waited for once, not
    // in each turn.
    bool readsBuffer = llvm::any_of(op->getOperandTypes(), llvm::IsaPred<BufferType>);
    if (!writes.empty() && (readsBuffer || readsFromOutside(op)))
      meet(op);
    if (!isControl && !leavesShared(op))
      return forget();
  }
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

namespace {
struct OrderShared : kiln::impl::OrderSharedBase<OrderShared> {
  void runOnOperation() override {
    for (KernelOp kernel : getOperation().getOps<KernelOp>()) {
      bool hasRoles = false;
      for (auto groups : kernel.getBody().getOps<WarpGroupsOp>()) {
        hasRoles = true;
        for (auto [number, region] : llvm::enumerate(groups.getBodies()))
          SharedOrderer(region.front(), groups.getRole(number));
      }
      if (!hasRoles)
        SharedOrderer(kernel.getBody().front());
    }
  }
};
} // namespace
