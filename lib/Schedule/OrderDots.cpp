// What runs beside products, and what goes in front of it.
//
// A wait for dots in flight needs nothing of what was computed since they began, so an assembler
// may put it first, and then nothing runs beside them. And of groups of warps in turns, one
// multiplies while another reads and copies: the one that multiplies goes first.
#include "kiln/Dialect/Tile/IR/Tile.h"
#include "kiln/Schedule/Passes.h"
#include "kiln/Target/Chip.h"
#include "kiln/Target/TargetInterface.h"
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

/// Of what the warps compute themselves: dots that follow one another are raised as one.
static void raise(DotOp dot) {
  OpBuilder builder(dot);
  if (auto lowered = dyn_cast_or_null<PriorityOp>(dot->getPrevNode()))
    lowered.erase();
  else
    PriorityOp::create(builder, dot.getLoc(), 1);
  builder.setInsertionPointAfter(dot);
  PriorityOp::create(builder, dot.getLoc(), 0);
}

namespace {
struct OrderDots : kiln::impl::OrderDotsBase<OrderDots> {
  void runOnOperation() override {
    SmallVector<DotOp> dots;
    getOperation().walk([&](Operation *op) {
      if (auto wait = dyn_cast<WaitOp>(op); wait && runsBeside(wait)) {
        OpBuilder builder(wait);
        ScheduleBarrierOp::create(builder, wait.getLoc());
      }
      RoleAttr role = isa<DotOp>(op) ? WarpGroupsOp::getRoleOf(op) : RoleAttr();
      if (role && role.getSkew() > 0)
        dots.push_back(cast<DotOp>(op));
    });
    if (dots.empty())
      return;
    FailureOr<TargetInterface> target = requireTarget(getOperation());
    if (failed(target))
      return signalPassFailure();
    if (target->getChipRecord().priorities)
      llvm::for_each(dots, raise);
  }
};
} // namespace
