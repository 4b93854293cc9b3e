// Gathers of a loop that may run a trip ahead: where their elements lie is known by then. So may
// loads of scales.
#include "Decisions.h"
#include "GlobalAccesses.h"
#include "OwnRingDecider.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

/// What makes a value in a block, in this trip or, of one that the loop carries, in the one before.
static Operation *findMaker(Value value, Block &block) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (argument && argument.getOwner() == &block) {
    auto counted = dyn_cast<scf::ForOp>(block.getParentOp());
    // Arguments are those of the yield, but for a counted loop's variable in front of the one and a
    // rotated loop's condition in front of the other.
    int64_t place = int64_t(argument.getArgNumber()) + (counted ? -1 : 1);
    if (place < 0)
      return nullptr;
    value = block.getTerminator()->getOperand(place);
  }
  Operation *maker = value.getDefiningOp();
  return maker && maker->getBlock() == &block ? maker : nullptr;
}

/// Collects an op and what it needs of its loop's trips; false if some of it must not run ahead.
static bool collect(Operation *op, llvm::SetVector<Operation *> &needs) {
  Block &block = *op->getBlock();
  if (!needs.insert(op))
    return true;
  auto load = dyn_cast<LoadOp>(op);
  bool isRead = isa<LoadOp, GatherOp>(op) && !(load && load.getBuffer()) &&
                !mayStoreLoaded(block.getParentOp(), op);
  if (!isRead && (!isMemoryEffectFree(op) || isa<DotOp, DotScaledOp>(op) || op->getNumRegions()))
    return false;
  return llvm::all_of(op->getOperands(), [&](Value operand) {
    Operation *maker = findMaker(operand, block);
    return !maker || collect(maker, needs);
  });
}

/// Whether products in flight alone read what is loaded, as scales: too narrow for an engine.
static bool areScales(LoadOp load) {
  return !load->use_empty() && llvm::all_of(load->getUses(), [](OpOperand &use) {
    auto dot = dyn_cast<DotOp>(use.getOwner());
    return dot && llvm::is_contained(dot.getScales(), use.get());
  });
}

llvm::SetVector<Operation *> kiln::findEarlyGathers(Block &block) {
  llvm::SetVector<Operation *> early;
  auto asks = dyn_cast<scf::WhileOp>(block.getParentOp());
  if (asks && !isRotated(asks))
    return early;
  for (Operation &op : block) {
    auto load = dyn_cast<LoadOp>(op);
    llvm::SetVector<Operation *> needs;
    if ((isa<GatherOp>(op) || (load && areScales(load))) && collect(&op, needs))
      early.insert_range(needs);
  }
  return early;
}
