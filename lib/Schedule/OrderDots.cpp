// Keeps what runs beside dots where the schedule has put it.
//
// A wait for dots in flight needs nothing of what was computed since they began, so an assembler
// may put it first, and then nothing runs beside them. A dot needs nothing of what is read for the
// parts behind it, so a code generator may read that when it is needed, and then they wait for it.
#include "kiln/Dialect/Tile/IR/Tile.h"
#include "kiln/Schedule/Passes.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace kiln {
#define GEN_PASS_DEF_ORDERDOTS
#include "kiln/Schedule/Passes.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

/// Whether tensors are computed between the dot or wait before and this wait.
static bool runsBeside(WaitOp op) {
  for (Operation *at = op->getPrevNode(); at && !isa<StartDotOp, WaitOp>(at);
       at = at->getPrevNode())
    if (isMemoryEffectFree(at) && !at->hasTrait<OpTrait::ConstantLike>() &&
        llvm::any_of(at->getResultTypes(), llvm::IsaPred<RankedTensorType>))
      return true;
  return false;
}

/// What is read of parts between the dot before and this one.
static SmallVector<ReadOp> findReadsBefore(DotOp dot) {
  SmallVector<ReadOp> reads;
  for (Operation *at = dot->getPrevNode(); at && !isa<DotOp, ScheduleBarrierOp>(at);
       at = at->getPrevNode())
    if (auto read = dyn_cast<ReadOp>(at); read && read.getAt())
      reads.push_back(read);
  return reads;
}

/// Whether parts of a later dot have been read since the one before.
static bool readsAhead(DotOp dot) {
  SmallVector<ReadOp> reads = findReadsBefore(dot);
  if (reads.empty())
    return false;
  llvm::SetVector<Operation *> needed;
  needed.insert(dot);
  for (size_t next = 0; next < needed.size(); ++next)
    for (Value operand : needed[next]->getOperands())
      if (Operation *maker = operand.getDefiningOp(); maker && maker->getBlock() == dot->getBlock())
        needed.insert(maker);
  return !llvm::all_of(reads, [&](ReadOp read) { return needed.contains(read); });
}

/// Whether the instructions of a dot's block alternate as one of its dots says.
static bool isInterleaved(DotOp dot) {
  return llvm::any_of(dot->getBlock()->getOps<DotOp>(),
                      [](DotOp other) { return bool(other.getInterleave()); });
}

namespace {
struct OrderDots : kiln::impl::OrderDotsBase<OrderDots> {
  void runOnOperation() override {
    auto keepInFrontOf = [](Operation *op) {
      OpBuilder builder(op);
      ScheduleBarrierOp::create(builder, op->getLoc());
    };
    getOperation().walk([&](Operation *op) {
      auto wait = dyn_cast<WaitOp>(op);
      auto dot = dyn_cast<DotOp>(op);
      if ((wait && runsBeside(wait)) || (dot && !isInterleaved(dot) && readsAhead(dot)))
        keepInFrontOf(op);
    });
  }
};
} // namespace
