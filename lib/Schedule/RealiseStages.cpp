// Lowers what each role runs to the order that its stages and orders say.
#include "Rings.h"
#include "Trip.h"
#include "kiln/Schedule/Passes.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/Matchers.h"

namespace kiln {
#define GEN_PASS_DEF_REALISESTAGES
#include "kiln/Schedule/Passes.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

/// Whether a block has anything that the rest of it must be put into order for.
static bool hasDecisions(Block &block) {
  return llvm::any_of(block, [](Operation &op) {
    auto get = dyn_cast<GetOp>(op);
    auto dot = dyn_cast<DotOp>(op);
    return getDecision(&op, "stage") || getDecision(&op, "order") || (dot && dot.getInFlight()) ||
           (get && isCounted(get));
  });
}

/// Inner loops first: once realised, which may replace them, they are ops of the outer block.
static LogicalResult realise(Block &block) {
  SmallVector<Block *> inner;
  for (Operation &op : block)
    if (isa<scf::ForOp, scf::IfOp, scf::WhileOp>(op))
      for (Region &region : op.getRegions())
        llvm::append_range(inner, llvm::make_pointer_range(region));
  for (Block *each : inner)
    if (failed(realise(*each)))
      return failure();
  if (!hasDecisions(block))
    return success();
  Trip trip(block);
  if (failed(scheduleTrip(trip)) || failed(startDots(trip)) || failed(releaseSlots(trip)) ||
      failed(checkTrip(trip)))
    return failure();
  expandTrip(trip);
  return success();
}

/// A loop that surely has enough iterations was put behind a condition that always holds, so that
/// it was one op of the block around it.
static void inlineCertain(Region &region) {
  region.walk([](scf::IfOp condition) {
    if (!matchPattern(condition.getCondition(), m_One()) || condition->hasAttr(kSplitLoopAttrName))
      return;
    Operation *yield = condition.thenBlock()->getTerminator();
    SmallVector<Value> values(yield->getOperands());
    yield->erase();
    condition->getBlock()->getOperations().splice(condition->getIterator(),
                                                  condition.thenBlock()->getOperations());
    condition->replaceAllUsesWith(values);
    condition.erase();
  });
}

namespace {
struct RealiseStages : kiln::impl::RealiseStagesBase<RealiseStages> {
  void runOnOperation() override {
    WalkResult result = getOperation().walk([](WarpGroupsOp groups) -> WalkResult {
      for (auto [number, region] : llvm::enumerate(groups.getBodies())) {
        if (failed(realise(region.front())))
          return WalkResult::interrupt();
        inlineCertain(region);
        if (groups.getRole(number).getSkew())
          skewDots(region, groups.getRole(number));
      }
      return WalkResult::skip();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
