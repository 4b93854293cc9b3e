// What tells whether a loop that nobody counts has another trip. Trips of one overlap, and roles
// run it apart, only if numbers tell, which each role has for itself.
#include "OwnRingDecider.h"
#include "kiln/Dialect/Tile/IR/Roles.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

/// Whether each role may do it for itself: numbers are computed, or loaded from what nobody writes.
static bool isOfNumbers(Operation *op) {
  auto isNumber = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return !tensor || tensor.getNumElements() == 1;
  };
  bool isControl =
      op->hasTrait<OpTrait::HasRecursiveMemoryEffects>() || op->hasTrait<OpTrait::IsTerminator>();
  return (isControl || isMemoryEffectFree(op) || isSharedScalar(op)) &&
         llvm::all_of(op->getOperandTypes(), isNumber) &&
         llvm::all_of(op->getResultTypes(), isNumber);
}

std::optional<llvm::SetVector<Operation *>> kiln::findTelling(scf::WhileOp loop) {
  llvm::SetVector<Operation *> telling;
  SmallVector<Value> values = {loop.getConditionOp().getCondition()};
  DenseSet<Value> seen;
  while (!values.empty()) {
    Value value = values.pop_back_val();
    if (!loop->isAncestor(value.getParentBlock()->getParentOp()) || !seen.insert(value).second)
      continue;
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      bool isAsked = argument.getOwner() == loop.getBeforeBody();
      values.push_back(isAsked ? loop.getYieldOp().getOperand(argument.getArgNumber())
                               : loop.getConditionOp().getArgs()[argument.getArgNumber()]);
      continue;
    }
    Operation *op = value.getDefiningOp();
    if (!telling.insert(op))
      continue;
    WalkResult result = op->walk([&](Operation *inner) -> WalkResult {
      for (Value operand : inner->getOperands())
        if (!op->isAncestor(operand.getParentBlock()->getParentOp()))
          values.push_back(operand);
      return WalkResult(success(isOfNumbers(inner)));
    });
    if (result.wasInterrupted())
      return std::nullopt;
  }
  return telling;
}

Operation *kiln::findTrips(Operation *op) {
  Operation *parent = op->getParentOp();
  if (auto loop = dyn_cast<scf::WhileOp>(parent))
    return op->getBlock() == loop.getAfterBody() && findTelling(loop) ? parent : nullptr;
  return isa<scf::ForOp>(parent) && !parent->hasAttr(kProgramsAttrName) ? parent : nullptr;
}
