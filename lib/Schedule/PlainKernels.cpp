// Kernels that decide nothing.
#include "OwnRingDecider.h"
#include "Slice.h"
#include "kiln/Dialect/Tile/IR/Decisions.h"
#include "kiln/Dialect/Tile/IR/Roles.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

bool kiln::isPlain(Operation *op) {
  // Whether another trip follows may hang on what one role alone computes.
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return findTelling(loop).has_value();
  if (isa<DotScaledOp>(op))
    return false;
  // What atomics change they change once, whatever copies there are.
  return isa<LoadOp, GatherOp, StoreOp, ScatterOp, AtomicRMWOp, ReturnOp, scf::ForOp, scf::IfOp,
             scf::ConditionOp>(op) ||
         isMemoryEffectFree(op);
}

bool kiln::decidesNothing(KernelOp kernel) {
  if (kernel->hasAttr(kRolesAttrName) || kernel->hasAttr(kWarpsAttrName))
    return false;
  return llvm::hasSingleElement(kernel.getBody()) &&
         !kernel.getBody()
              .walk([](Operation *op) {
                return findDecision(op).empty() ? WalkResult::advance() : WalkResult::interrupt();
              })
              .wasInterrupted();
}

void kiln::undoRoles(KernelOp kernel) {
  kernel->removeAttr(kRolesAttrName);
  kernel.getBody().walk([](Operation *op) {
    for (StringRef name : {"role", "atom", "ring", "stage", "multicast"})
      op->removeAttr(spellDecision(op, name));
  });
}
