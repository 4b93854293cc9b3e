// SmallPrograms.h: what a walk of the body and a chip's record say.
#include "SmallPrograms.h"
#include "Decisions.h"
#include "OpCosts.h"
#include "kiln/Dialect/Tile/IR/GridDecisions.h"
#include "kiln/Dialect/Tile/IR/Turns.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

/// How long a program is there, in times of a load from memory: until it is launched, has loaded,
/// computed and stored, and another is launched in its place. On an H200 programs of one warp that
/// normalise rows were there for 2.6 us, whatever they brought.
static constexpr int64_t kLoadsOfLife = 8;

static bool isUndecided(KernelOp kernel) {
  for (StringRef name : {kRolesAttrName, kTurnsAttrName, kBlockProgramsAttrName, kBatchAttrName,
                         kPersistentAttrName, kClusterAttrName, kOverlapAttrName})
    if (kernel->hasAttr(name) && !isa<BoolAttr>(kernel->getAttr(name)))
      return false;
  WalkResult decided = kernel.getBody().walk([](Operation *op) {
    return findDecision(op).empty() ? WalkResult::advance() : WalkResult::interrupt();
  });
  return !decided.wasInterrupted();
}

bool kiln::mayShareBlocks(KernelOp kernel) {
  return kernel.hasGrid() && llvm::hasSingleElement(kernel.getBody()) && isUndecided(kernel) &&
         kernel.getGrid().front().getTerminator()->getNumOperands() == 1;
}

Value kiln::findGridExtent(KernelOp kernel) {
  for (unsigned index = 0; index < kernel.getNumArguments(); ++index)
    if (std::optional<HiddenArgument> hidden = getHidden(kernel, index);
        hidden && hidden->kind == HiddenArgument::GridExtent)
      return kernel.getBody().getArgument(index);
  return {};
}

std::optional<int64_t> kiln::countMoved(Block &block, function_ref<bool(Operation *)> isMeant) {
  int64_t moved = 0;
  for (Operation &op : block) {
    if (isa<DotOp, DotScaledOp, AssertOp, scf::WhileOp>(op))
      return std::nullopt;
    int64_t trips = 1;
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      std::optional<APInt> known = loop.getStaticTripCount();
      if (!known || known->getActiveBits() > 31)
        return std::nullopt;
      trips = known->getZExtValue();
    }
    if (isMeant(&op))
      moved += TypeSwitch<Operation *, int64_t>(&op)
                   .Case<LoadOp, GatherOp>(
                       [](Operation *op) { return countBytes(op->getResult(0).getType()); })
                   .Case<StoreOp, ScatterOp>(
                       [](auto store) { return countBytes(store.getValue().getType()); })
                   .Default(int64_t(0));
    for (Region &region : op.getRegions())
      for (Block &inner : region) {
        std::optional<int64_t> each = countMoved(inner, isMeant);
        if (!each)
          return std::nullopt;
        moved += trips * *each;
      }
  }
  return moved;
}

std::optional<double> kiln::countBusyBytes(const Figures &figures) {
  if (!figures.blocksPerCore || !figures.warpsPerCore || !figures.memoryBandwidth ||
      !figures.cores || !figures.clock || !figures.memoryLatency)
    return std::nullopt;
  double life = double(kLoadsOfLife) * figures.memoryLatency->value / figures.clock->value; // us
  return 1e3 * figures.memoryBandwidth->value / figures.cores->value * life;
}
