// Whether the programs of a cluster that share a tile out load it alike: the same tile, as often,
// and in the same order. What differs from program to program is followed from the program's place
// through all that is computed of it.
#include "GlobalAccesses.h"
#include "Rings.h"
#include "kiln/Dialect/Tile/IR/GridDecisions.h"
#include "kiln/Dialect/Tile/IR/Turns.h"
#include "kiln/Layout/Transforms/AccessFacts.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

namespace {
/// What programs that differ along some axes alone may have different values of.
class Differences {
public:
  Differences(KernelOp kernel, ArrayRef<unsigned> axes) : kernel(kernel), axes(axes) {
    // From op to op, until nothing is added: what loops carry comes round.
    do {
      hasGrown = false;
      kernel.getBody().walk([&](Operation *op) { visit(op); });
    } while (hasGrown);
  }

  bool has(Value value) const { return values.contains(value); }
  bool hasAny(ValueRange range) const {
    return llvm::any_of(range, [&](Value value) { return has(value); });
  }
  /// Whether they may part at a loop or a condition.
  bool mayPart(Operation *op) const {
    if (auto loop = dyn_cast<scf::ForOp>(op))
      return hasAny({loop.getLowerBound(), loop.getUpperBound(), loop.getStep()});
    if (auto loop = dyn_cast<scf::WhileOp>(op))
      return has(loop.getConditionOp().getCondition());
    if (auto condition = dyn_cast<scf::IfOp>(op))
      return has(condition.getCondition());
    return false;
  }

private:
  void add(Value value, bool differs) {
    if (differs)
      hasGrown |= values.insert(value).second;
  }
  void addAll(ValueRange to, ValueRange from, bool differs) {
    for (auto [value, source] : llvm::zip_equal(to, from))
      add(value, differs || has(source));
  }
  void visit(Operation *op);
  bool isWritten(Value view);

  KernelOp kernel;
  ArrayRef<unsigned> axes;
  DenseSet<Value> values;
  bool hasGrown = false;
};
} // namespace

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

/// The loops and conditions around what fills a ring, which programs that share its tiles must run
/// through in step.
static LogicalResult checkSteps(LoadOp load, const Differences &differences) {
  for (Operation *op = load->getParentOp(); !isa<KernelOp>(op); op = op->getParentOp()) {
    if (!differences.mayPart(op))
      continue;
    InFlightDiagnostic error = load.emitOpError("expected programs that share the ring's tiles out "
                                                "to fill it alike, since 'multicast' is decided, "
                                                "got ")
                               << (isa<scf::IfOp>(op) ? "a condition" : "a loop with trips")
                               << " that may differ from program to program";
    error.attachNote(op->getLoc()) << (isa<scf::IfOp>(op) ? "the condition" : "the loop");
    return error;
  }
  return success();
}

LogicalResult kiln::checkClusters(KernelOp kernel, const RingPlan &plan) {
  for (const Ring &ring : plan) {
    SmallVector<LoadOp> loads;
    SmallVector<unsigned> axes;
    for (const RingUse &use : ring.uses)
      for (LoadOp load : use.loads)
        if (load.getMulticast()) {
          loads.push_back(load);
          for (unsigned axis : getAxes(*load.getMulticast()))
            if (!llvm::is_contained(axes, axis))
              axes.push_back(axis);
        }
    if (loads.empty())
      continue;
    // Copies that step over uses of others do not see what the other programs do with these.
    SmallVector<RoleAttr> roles = ring.getConsumers();
    roles.push_back(ring.producer);
    for (RoleAttr role : roles)
      if (takesTurns(kernel, role))
        return loads.front().emitOpError("expected no copies of role \"")
               << role.getName() << "\" that take programs in turn, since 'multicast' is decided";
    Differences steps(kernel, axes);
    for (const RingUse &use : ring.uses)
      for (LoadOp load : use.loads)
        if (failed(checkSteps(load, steps)))
          return failure();
    for (LoadOp load : loads) {
      SmallVector<unsigned> own = getAxes(*load.getMulticast());
      Differences differences(kernel, own);
      for (auto [i, offset] : llvm::enumerate(load.getOffsets()))
        if (differences.has(offset))
          return load.emitOpError("expected the same tile for all programs of a cluster along ")
                 << *load.getMulticast() << ", since 'multicast' is decided, got an offset along "
                 << "dimension " << i << " that may differ from program to program";
      if (differences.has(load.getView()))
        return load.emitOpError("expected the same view for all programs of a cluster along ")
               << *load.getMulticast() << ", since 'multicast' is decided";
    }
  }
  return success();
}
