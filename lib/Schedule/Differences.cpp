// Follows what differs from program to program of a cluster.
#include "Differences.h"
#include "GlobalAccesses.h"
#include "kiln/Layout/Transforms/AccessFacts.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

Differences::Differences(KernelOp kernel, ArrayRef<unsigned> axes) : kernel(kernel), axes(axes) {
  // From op to op, until nothing is added: what loops carry comes round.
  do {
    hasGrown = false;
    kernel.getBody().walk([&](Operation *op) { visit(op); });
  } while (hasGrown);
}

bool Differences::mayPart(Operation *op) const {
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return hasAny({loop.getLowerBound(), loop.getUpperBound(), loop.getStep()});
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return has(loop.getConditionOp().getCondition());
  if (auto condition = dyn_cast<scf::IfOp>(op))
    return has(condition.getCondition());
  return false;
}

/// Whether the kernel may write to what is read by a view.
bool Differences::isWritten(Value view) {
  return kernel.getBody()
      .walk([&](Operation *op) {
        std::optional<GlobalAccess> access = findGlobalAccess(op);
        bool writes = access && access->writes &&
                      !(view && access->view && areOfOtherMemory(access->view, view));
        return writes ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

void Differences::visit(Operation *op) {
  bool parts = mayPart(op);
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    add(loop.getInductionVar(), parts);
    addAll(loop.getRegionIterArgs(), loop.getInitArgs(), parts);
    addAll(loop.getRegionIterArgs(), loop.getYieldedValues(), parts);
    return addAll(loop.getResults(), loop.getRegionIterArgs(), parts);
  }
  if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    addAll(loop.getBeforeArguments(), loop.getInits(), parts);
    addAll(loop.getBeforeArguments(), loop.getYieldOp().getOperands(), parts);
    addAll(loop.getAfterArguments(), loop.getConditionOp().getArgs(), parts);
    return addAll(loop.getResults(), loop.getConditionOp().getArgs(), parts);
  }
  if (auto condition = dyn_cast<scf::IfOp>(op)) {
    for (Region &region : op->getRegions())
      if (!region.empty() && op->getNumResults() > 0)
        addAll(op->getResults(), region.front().getTerminator()->getOperands(), parts);
    return;
  }
  bool differs = hasAny(op->getOperands());
  if (auto id = dyn_cast<ProgramIdOp>(op))
    differs = llvm::is_contained(axes, unsigned(id.getAxis()));
  else if (std::optional<GlobalAccess> access = findGlobalAccess(op))
    differs |= access->writes || isWritten(access->view);
  else
    differs |= op->getNumResults() > 0 && !isMemoryEffectFree(op);
  for (Region &region : op->getRegions())
    region.walk([&](Operation *inner) { differs |= hasAny(inner->getOperands()); });
  for (Value value : op->getResults())
    add(value, differs);
}

bool kiln::isSameAlong(KernelOp kernel, LoadOp load, unsigned axis) {
  Differences differences(kernel, axis);
  return !differences.has(load.getView()) && !differences.hasAny(load.getOffsets());
}

LogicalResult kiln::checkSteps(Operation *of, const Differences &differences, StringRef expected) {
  for (Operation *op = of->getParentOp(); !isa<KernelOp>(op); op = op->getParentOp()) {
    if (!differences.mayPart(op))
      continue;
    InFlightDiagnostic error = of->emitOpError("expected ")
                               << expected << ", got "
                               << (isa<scf::IfOp>(op) ? "a condition" : "a loop with trips")
                               << " that may differ from program to program";
    error.attachNote(op->getLoc()) << (isa<scf::IfOp>(op) ? "the condition" : "the loop");
    return error;
  }
  return success();
}
