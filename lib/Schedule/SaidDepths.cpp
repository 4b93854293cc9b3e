// How deep rings are by what a source says of them, and which depths that leaves open.
#include "Rings.h"
#include "Trip.h"
#include "kiln/Layout/Transforms/Layouts.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

bool kiln::isLoadedByUsers(LoadOp load) {
  return llvm::all_of(load->getUses(), [&](OpOperand &use) {
    return llvm::all_of(findTileReaders(use), [&](Operation *reader) {
      return getRoleName(reader) == getRoleName(load);
    });
  });
}

SmallVector<DotOp> kiln::findOwnDots(ArrayRef<LoadOp> loads) {
  llvm::SmallSetVector<DotOp, 2> dots;
  for (LoadOp load : loads)
    for (OpOperand &use : load.getResult().getUses())
      if (isReadFromBuffer(use))
        dots.insert(cast<DotOp>(use.getOwner()));
  return dots.takeVector();
}

bool kiln::isDepthSaid(LoadOp load) {
  if (load.getDepth() || getLoopDepth(load->getBlock()))
    return true;
  WalkResult found = load->getParentOfType<KernelOp>().getBody().walk([&](LoadOp other) {
    bool isOfRing = load.getRing()
                        ? load.getRing() == other.getRing()
                        : !other.getRing() && other->getBlock() == load->getBlock() &&
                              getRoleName(other) == getRoleName(load) && other.getBuffer();
    bool isSaid = isOfRing && (other.getDepth() || getLoopDepth(other->getBlock()));
    return isSaid ? WalkResult::interrupt() : WalkResult::advance();
  });
  return found.wasInterrupted();
}

bool kiln::hasRoom(DotOp dot) {
  return llvm::all_of(dot->getOpOperands().take_front(2), [&](OpOperand &operand) {
    LoadOp load = isReadFromBuffer(operand) ? operand.get().getDefiningOp<LoadOp>() : LoadOp();
    std::optional<int64_t> depth;
    if (load)
      depth = load.getDepth() ? std::optional<int64_t>(*load.getDepth())
                              : getLoopDepth(load->getBlock());
    if (!depth)
      return true;
    int64_t ahead = 0;
    if (isLoadedByUsers(load))
      ahead = std::max<int64_t>(dot.getStage().value_or(0) - load.getStage().value_or(0),
                                isThroughRegisters(load));
    return *depth >= ahead + 2;
  });
}

void kiln::giveSaidSlots(ArrayRef<LoadOp> loads) {
  llvm::MapVector<std::pair<Block *, unsigned>, int64_t> slots;
  auto getKey = [](LoadOp load) {
    return std::pair(load->getBlock(), unsigned(isThroughRegisters(load)));
  };
  for (LoadOp load : loads) {
    int64_t ahead = *findFirstStage(load) - load.getStage().value_or(0), held = 0;
    for (DotOp dot : findOwnDots(load))
      held = std::max<int64_t>(held, dot.getInFlight().value_or(0));
    int64_t &most = slots[getKey(load)];
    most = std::max(most, std::max<int64_t>(ahead, isThroughRegisters(load)) + held + 1);
  }
  for (LoadOp load : loads)
    load.setDepth(slots.lookup(getKey(load)));
}
