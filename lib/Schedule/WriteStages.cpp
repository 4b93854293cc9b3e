// When tiles that come through registers are written to the rings of another role.
#include "WriteStages.h"
#include "LoopProblem.h"
#include "Rings.h"
#include "kiln/Dialect/Tile/IR/AccessDecisions.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

/// The loads of a loop whose tiles go through registers to another role, and of which nobody has
/// said when they are written.
static SmallVector<LoadOp> findWritten(scf::ForOp loop, RingPlan &plan) {
  SmallVector<LoadOp> written;
  for (Ring &ring : plan)
    for (RingUse &use : ring.uses)
      if (ring.isWritten() && !ring.isReadByProducer() && use.getBlock() == loop.getBody() &&
          !getWriteStage(use.loads.front()) && !findNest(plan, ring, use))
        llvm::append_range(written, use.loads);
  return written;
}

LogicalResult kiln::decideWriteStages(KernelOp kernel, const Chip &chip) {
  Builder builder(kernel.getContext());
  FailureOr<RingPlan> plan = planRings(kernel);
  if (failed(plan))
    return failure();
  kernel.getBody().walk([&](scf::ForOp loop) {
    SmallVector<LoadOp> written = findWritten(loop, *plan);
    auto isUneven = [&](Ring &ring) {
      return ring.depth % ring.uses.size() && ring.uses.front().getBlock() == loop.getBody();
    };
    if (written.empty() || loop->hasAttr(kProgramsAttrName) || llvm::any_of(*plan, isUneven))
      return;
    for (LoadOp load : written) {
      int64_t stage = load.getStage().value_or(0);
      load->setAttr(kWriteStageAttrName, builder.getI64IntegerAttr(stage + 1));
    }
    PinsChecked checked = checkPins(loop, *plan, chip);
    for (LoadOp load : written)
      if (checked.isKnown && !checked.wrong)
        load.setStage(load.getStage().value_or(0));
      else
        load->removeAttr(kWriteStageAttrName);
  });
  return success();
}
