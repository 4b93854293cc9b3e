// Keeps what runs beside dots in flight where the schedule has put it.
//
// A wait for dots in flight needs nothing of what was computed since they began, so an assembler
// may put it first, and then nothing runs beside them.
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

namespace {
struct OrderDots : kiln::impl::OrderDotsBase<OrderDots> {
  void runOnOperation() override {
    getOperation().walk([](WaitOp wait) {
      if (!runsBeside(wait))
        return;
      OpBuilder builder(wait);
      ScheduleBarrierOp::create(builder, wait.getLoc());
    });
  }
};
} // namespace
