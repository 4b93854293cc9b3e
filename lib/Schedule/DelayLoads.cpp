// How late a role loads for others that itself waits for what it has loaded trips before.
//
// A role that fills a ring of its own reads it trips later, and what it makes of that it hands over
// as late. What it loads for others it would load at once, and wait for a free slot in front of
// what these need to give one back: so many trips later as there are slots it need not.
#include "LoopProblem.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

/// The loads by which a loop fills the ring that one of them fills, if all are open.
static SmallVector<LoadOp> findOpen(RingPlan &plan, LoadOp load, const DenseSet<LoadOp> &open) {
  SmallVector<LoadOp> loads;
  for (Ring &ring : plan)
    if (!ring.isReadByProducer() &&
        llvm::any_of(ring.uses, [&](RingUse &use) { return llvm::is_contained(use.loads, load); }))
      for (RingUse &use : ring.uses)
        if (use.getBlock() == load->getBlock())
          llvm::append_range(loads, use.loads);
  bool areOpen = llvm::all_of(loads, [&](LoadOp each) { return open.contains(each); });
  return areOpen ? loads : SmallVector<LoadOp>();
}

/// The open loads that are in a circle of waits.
static SmallVector<LoadOp> findWaiting(const PinsChecked &checked, RingPlan &plan,
                                       const DenseSet<LoadOp> &open) {
  for (unsigned number : checked.wrong->others)
    if (auto load = dyn_cast<LoadOp>(checked.made.ops[number]))
      if (SmallVector<LoadOp> loads = findOpen(plan, load, open); !loads.empty())
        return loads;
  return {};
}

void kiln::delayLoads(KernelOp kernel, const DenseSet<LoadOp> &open, const Chip &chip) {
  FailureOr<RingPlan> plan = planRings(kernel);
  if (failed(plan) || open.empty())
    return;
  kernel.getBody().walk([&](Operation *loop) {
    if (!isa<scf::ForOp, scf::WhileOp>(loop) ||
        getLoopOfTrips(&loop->getRegions().back().front().front()) != loop)
      return;
    llvm::MapVector<LoadOp, IntegerAttr> before;
    PinsChecked checked = checkPins(loop, *plan, chip);
    while (checked.wrong && checked.wrong->decision == "depth") {
      SmallVector<LoadOp> loads = findWaiting(checked, *plan, open);
      if (loads.empty() || loads.front().getStage().value_or(0) + 1 >= kStageLimit)
        break;
      for (LoadOp load : loads) {
        before.insert({load, load.getStageAttr()});
        load.setStage(load.getStage().value_or(0) + 1);
      }
      checked = checkPins(loop, *plan, chip);
    }
    if (checked.isKnown && !checked.wrong)
      return;
    for (auto &[load, stage] : before) {
      load.removeStageAttr();
      if (stage)
        load.setStageAttr(stage);
    }
  });
}
