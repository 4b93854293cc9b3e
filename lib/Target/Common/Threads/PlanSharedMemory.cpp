// Places buffers and scratch in shared memory by the span of the program in which they live.
#include "ThreadLowering.h"

namespace kiln {
#define GEN_PASS_DEF_PLANSHAREDMEMORY
#include "kiln/Target/Common/ThreadPasses.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

namespace {
/// Something in shared memory, and the first and last op that need it, by their number.
struct Piece {
  Operation *op;
  int64_t bytes;
  int64_t first, last;
  int64_t alignment = 128;
  int64_t offset = 0;
  /// The part of a role that alone needs it, or null. Roles run at once.
  Region *role = nullptr;

  bool livesWith(const Piece &other) const {
    bool isOfOthers = role && other.role && role != other.role;
    return isOfOthers || !(other.last < first || last < other.first);
  }
};

struct PlanSharedMemory : kiln::impl::PlanSharedMemoryBase<PlanSharedMemory> {
  void runOnOperation() override {
    FailureOr<TargetInterface> target = requireTarget(getOperation());
    if (failed(target))
      return signalPassFailure();
    for (KernelOp kernel : getOperation().getOps<KernelOp>())
      if (failed(plan(kernel, *target)))
        return signalPassFailure();
  }

  /// Ops are numbered in program order. A buffer lives from its allocation to its last use; if
  /// that is inside a loop which the allocation is outside of, to the loop's end.
  SmallVector<Piece> getPieces(KernelOp kernel) {
    DenseMap<Operation *, std::pair<int64_t, int64_t>> spans;
    int64_t number = 0;
    kernel->walk([&](Operation *op, const WalkStage &stage) {
      if (stage.isBeforeAllRegions())
        spans[op].first = number++;
      if (stage.isAfterAllRegions())
        spans[op].second = number++;
    });
    SmallVector<Piece> pieces;
    kernel.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (int64_t bytes = getScratchBytes(op)) {
        pieces.push_back({op, bytes, spans[op].first, spans[op].second});
        if (RoleAttr role = WarpGroupsOp::getRoleOf(op)) {
          pieces.back().bytes = getRoleScratchStep(op) * role.getCopies();
          pieces.back().role = op->getParentRegion();
          while (!isa<WarpGroupsOp>(pieces.back().role->getParentOp()))
            pieces.back().role = pieces.back().role->getParentRegion();
        }
      }
      if (auto channel = dyn_cast<ChannelOp>(op)) {
        Piece piece{op, planChannel(channel.getType()).total, spans[op].first, spans[op].second,
                    kEngineAlignment};
        for (Operation *user : channel->getUsers())
          piece.last = std::max(piece.last, spans[user].second);
        pieces.push_back(piece);
      }
      auto alloc = dyn_cast<AllocOp>(op);
      if (!alloc)
        return;
      Piece piece{op, getSharedBytes(alloc.getResult().getType()), spans[op].first,
                  spans[op].second};
      // Roles run at once, and each copy of one has buffers of its own.
      if (RoleAttr role = WarpGroupsOp::getRoleOf(op)) {
        auto groups = op->getParentOfType<WarpGroupsOp>();
        piece.alignment = kEngineAlignment;
        piece.bytes = llvm::alignTo(piece.bytes, kEngineAlignment) * role.getCopies();
        piece.first = spans[groups].first;
        piece.last = spans[groups].second;
        pieces.push_back(piece);
        return;
      }
      for (Operation *user : alloc->getUsers()) {
        while (user->getBlock() != op->getBlock())
          user = user->getParentOp();
        piece.last = std::max(piece.last, spans[user].second);
      }
      pieces.push_back(piece);
    });
    return pieces;
  }

  LogicalResult plan(KernelOp kernel, TargetInterface target) {
    SmallVector<Piece> pieces = getPieces(kernel);
    int64_t total = 0;
    for (auto [i, piece] : llvm::enumerate(pieces)) {
      // The lowest place that no piece of an overlapping life takes.
      bool moved = true;
      while (moved) {
        moved = false;
        for (const Piece &other : ArrayRef(pieces).take_front(i)) {
          bool apart = !piece.livesWith(other) || piece.offset >= other.offset + other.bytes ||
                       other.offset >= piece.offset + piece.bytes;
          if (apart)
            continue;
          piece.offset = llvm::alignTo(other.offset + other.bytes, piece.alignment);
          moved = true;
        }
      }
      total = std::max(total, piece.offset + piece.bytes);
    }
    int64_t limit = target.getChipRecord().sharedBytes;
    if (total > limit) {
      InFlightDiagnostic error = kernel.emitError()
                                 << "expected at most " << limit << " bytes of shared memory on "
                                 << target.getSpelling() << ", got " << total;
      for (const Piece &piece : pieces)
        error.attachNote(piece.op->getLoc())
            << piece.bytes << " bytes for '" << piece.op->getName() << "'";
      return error;
    }
    Builder builder(&getContext());
    for (const Piece &piece : pieces)
      piece.op->setAttr(kSharedOffsetAttrName, builder.getI64IntegerAttr(piece.offset));
    kernel->setAttr(kSharedBytesAttrName, builder.getI64IntegerAttr(total));
    return success();
  }
};
} // namespace
