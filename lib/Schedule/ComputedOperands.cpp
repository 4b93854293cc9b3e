// Operands that products in roles read from shared memory though warps compute them.
#include "RoleDecider.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

/// Whether a value of a trip is computed of what an engine brings there.
bool RoleDecider::isMadeOfLoaded(Value value) {
  Operation *maker = value.getDefiningOp();
  if (!maker || maker->getBlock() != value.getParentBlock())
    return false;
  if (auto load = dyn_cast<LoadOp>(maker))
    return loads.contains(load) && getLoopAround(load);
  return llvm::any_of(maker->getOperands(), [&](Value operand) {
    return isa<RankedTensorType>(operand.getType()) && isMadeOfLoaded(operand);
  });
}

/// Whether warps that write a computed operand to shared memory in front of a product that runs on
/// beside them are done before those that multiply it themselves, out of registers: by an eighth,
/// since they do nothing else meanwhile.
bool RoleDecider::paysToWrite(DotOp dot, AsyncMmaAtomInterface atom, unsigned number) {
  const Chip &chip = target.getChipRecord();
  auto count = [&](Attribute each) {
    return cast<MmaAtomInterface>(each).getIssueCycles(chip, dot.getType().getElementType(),
                                                       dot.getM() * dot.getN() * dot.getK());
  };
  std::optional<int64_t> beside = count(atom), own;
  for (Attribute each : target.getAtoms(dot))
    if (auto mma = dyn_cast<MmaAtomInterface>(each);
        mma && mma.getCompletion() == Completion::InOrder && !own)
      own = count(each);
  const Figures &figures = chip.figures;
  if (!beside || !own || !figures.sharedBandwidth)
    return false;
  auto type = cast<RankedTensorType>(dot->getOperand(number).getType());
  int64_t bytes = type.getNumElements() * type.getElementTypeBitWidth() / 8;
  // Read from its ring, and written.
  int64_t written = llvm::divideCeil(2 * bytes, figures.sharedBandwidth->value);
  for (const std::optional<Figure> &cost :
       {figures.handOverLatency, figures.proxyFenceCost, figures.namedBarrierLatency})
    written += cost ? cost->value : 0;
  return 8 * (*beside + written) < 7 * *own;
}
