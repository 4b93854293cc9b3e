// Lets warps wait between accesses to shared memory.
//
// In a kernel without roles, between all of them but those to buffers of which each thread reads
// what it has itself written. In a role channels and barriers order what goes through buffers, and
// scratch of ops alone is left, which only the role uses. Where a role's rings, buffers and scratch
// lie at one place after one another, all its warps meet in front of the first use of each. Then
// all barriers of roles are there, and who meets at each is decided.
#include "Decisions.h"
#include "Meetings.h"
#include "kiln/Layout/Transforms/SharedLayout.h"
#include "kiln/Schedule/Passes.h"
#include "kiln/Target/Chip.h"
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
  /// Of the program; of these buffers each thread accesses its own elements.
  SharedOrderer(Block &block, const DenseSet<Value> &own) : own(own) { run(block); }
  /// Of the role; in front of `starts` begin uses of places that are used otherwise, too.
  SharedOrderer(Block &block, RoleAttr role, const DenseSet<Operation *> &starts)
      : role(role), starts(starts) {
    run(block);
  }

private:
  void run(Block &block) {
    block.walk([&](Operation *op) { hasOfCopies |= isOfAllCopies(op) && getScratchBytes(op); });
    order(block);
  }
  void order(Block &block);
  void order(Operation *op);
  void access(Operation *op, Span span, bool isWrite);
  void useScratch(Operation *op, int64_t bytes);
  void enter(Operation *op);
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
  DenseSet<Operation *> starts;
  DenseSet<Value> own;
  bool hasOfCopies = false;
  /// Nobody has accessed anything at first.
  bool isKnown = true;
  SmallVector<Span> reads, writes;
};
} // namespace

/// A part may be any of its buffer.
static Value getWhole(Value buffer) {
  while (auto part = buffer.getDefiningOp<PartOp>())
    buffer = part.getBuffer();
  return buffer;
}

static Span getSpan(Value buffer) {
  // A buffer that is not allocated here, or has no place yet, may be any.
  auto alloc = getWhole(buffer).getDefiningOp<AllocOp>();
  auto place = alloc ? alloc->getAttrOfType<IntegerAttr>(kSharedOffsetAttrName) : IntegerAttr();
  if (!place)
    return {0, std::numeric_limits<int64_t>::max()};
  return {place.getInt(), place.getInt() + getSharedBytes(alloc.getResult().getType())};
}

/// Whether a loop reads a buffer, none of those, that is written before it.
static bool readsFromOutside(Operation *op, const DenseSet<Value> &own) {
  auto loop = dyn_cast<LoopLikeOpInterface>(op);
  return loop && op->walk([&](ReadOp read) {
                     Value buffer = getWhole(read.getBuffer());
                     bool isOutside = loop.isDefinedOutsideOfLoop(buffer) && !own.contains(buffer);
                     return isOutside ? WalkResult::interrupt() : WalkResult::advance();
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

/// All have left the places that are used from here on. Where warps meet in any case, that tells;
/// where they only count one another, each has waited for its own accesses first.
void SharedOrderer::enter(Operation *op) {
  Operation *before = op->getPrevNode();
  while (before && !isa<BarrierOp>(before) && isMemoryEffectFree(before) &&
         !getScratchBytes(before))
    before = before->getPrevNode();
  auto barrier = dyn_cast_or_null<BarrierOp>(before);
  bool meets = barrier && (barrier.getAllCopies() || role.getCopies() == 1);
  OpBuilder builder(meets ? barrier : op);
  if (TargetInterface target = getTarget(op); target && target.getChipRecord().bareBarriers)
    WaitSharedOp::create(builder, op->getLoc());
  if (!meets)
    meet(op, /*ofCopies=*/role.getCopies() > 1);
}

void SharedOrderer::order(Operation *op) {
  if (starts.contains(op))
    enter(op);
  if (int64_t bytes = getScratchBytes(op))
    return useScratch(op, bytes);
  if (auto barrier = dyn_cast<BarrierOp>(op))
    return pass(barrier.getAllCopies() || !role);
  bool isControl = isa<LoopLikeOpInterface, scf::IfOp>(op);
  if (!role) {
    if (isa<ReadOp, WriteOp>(op) && own.contains(getWhole(op->getOperand(isa<WriteOp>(op)))))
      return;
    if (auto write = dyn_cast<WriteOp>(op))
      return access(op, getSpan(write.getBuffer()), /*isWrite=*/true);
    if (auto read = dyn_cast<ReadOp>(op))
      return access(op, getSpan(read.getBuffer()), /*isWrite=*/false);
    // Whoever else reads a buffer finds it written; what a loop reads of it is waited for once, not
    // in each turn.
    bool readsBuffer = llvm::any_of(op->getOperandTypes(), llvm::IsaPred<BufferType>);
    if (!writes.empty() && (readsBuffer || readsFromOutside(op, own)))
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

/// Where uses begin of what lies where something else does, in front of it or behind.
static DenseSet<Operation *> findStarts(KernelOp kernel) {
  PlacedPieces placed = findPlacedPieces(kernel);
  DenseSet<Operation *> starts;
  for (auto [one, other] : placed.overlaps) {
    Operation *first = placed.found.starts[one], *second = placed.found.starts[other];
    if (!first || !second)
      continue;
    starts.insert(first);
    starts.insert(second);
  }
  return starts;
}

/// Whether threads share no element of a tensor.
static bool isOfOneThreadEach(RankedTensorType type) {
  if (!type.getEncoding())
    return false;
  LinearLayout layout = cast<LayoutAttr>(type.getEncoding()).toLinear(type.getShape());
  return llvm::all_of(llvm::zip(layout.getIns(), layout.freeVariables()), [](const auto &part) {
    auto [in, mask] = part;
    return in.name == kRegister || !mask;
  });
}

/// The buffers of a program that are written and read in parts of one type, as tensors of one type:
/// what a thread finds in a part it has written there itself. Nothing else may lie where they do.
static DenseSet<Value> findOwn(KernelOp kernel) {
  PlacedPieces placed = findPlacedPieces(kernel);
  DenseSet<Operation *> shared;
  for (auto [one, other] : placed.overlaps) {
    shared.insert(placed.found.ops[one]);
    shared.insert(placed.found.ops[other]);
  }
  DenseSet<Value> own;
  kernel.getBody().walk([&](AllocOp alloc) {
    Type part, tensor;
    auto isLikeOthers = [](Type &known, Type type) {
      known = known ? known : type;
      return known == type;
    };
    bool isOwn = !shared.contains(alloc) && llvm::all_of(alloc->getUsers(), [&](Operation *user) {
      if (!isa<PartOp>(user) || !isLikeOthers(part, user->getResult(0).getType()))
        return false;
      return llvm::all_of(user->getUsers(), [&](Operation *access) {
        auto write = dyn_cast<WriteOp>(access);
        auto read = dyn_cast<ReadOp>(access);
        bool isWhole = (write && !write.getExtents() && !write.getAtomAttr()) ||
                       (read && !read.getExtents() && !read.getAtomAttr() && !read.getAt());
        return isWhole && isLikeOthers(tensor, write ? write.getValue().getType()
                                                     : Type(read.getResult().getType()));
      });
    });
    if (isOwn && tensor && isOfOneThreadEach(cast<RankedTensorType>(tensor)))
      own.insert(alloc.getResult());
  });
  return own;
}

namespace {
struct OrderShared : kiln::impl::OrderSharedBase<OrderShared> {
  void runOnOperation() override {
    for (KernelOp kernel : getOperation().getOps<KernelOp>()) {
      bool hasRoles = false;
      DenseSet<Operation *> starts = findStarts(kernel);
      for (auto groups : kernel.getBody().getOps<WarpGroupsOp>()) {
        hasRoles = true;
        for (auto [number, region] : llvm::enumerate(groups.getBodies()))
          SharedOrderer(region.front(), groups.getRole(number), starts);
        if (failed(decideMeetings(groups)))
          return signalPassFailure();
      }
      if (!hasRoles)
        SharedOrderer(kernel.getBody().front(), findOwn(kernel));
    }
  }
};
} // namespace
