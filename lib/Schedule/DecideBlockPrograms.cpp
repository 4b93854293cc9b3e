// How many programs one block runs side by side, of a kernel that decides nothing.
//
// A core holds so many blocks and no more. Of programs of one warp that bring little, these are too
// few to keep memory busy, and to run all warps that the core could hold. Then one block runs
// several of them (docs/rationale/programs.md).
#include "Decisions.h"
#include "OpCosts.h"
#include "kiln/Dialect/Tile/IR/GridDecisions.h"
#include "kiln/Dialect/Tile/IR/Turns.h"
#include "kiln/Layout/Transforms/Layouts.h"
#include "kiln/Schedule/Passes.h"
#include "kiln/Schedule/TryOut.h"
#include "kiln/Target/TargetInterface.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/TypeSwitch.h"

namespace kiln {
#define GEN_PASS_DEF_DECIDEBLOCKPROGRAMS
#include "kiln/Schedule/Passes.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

/// Of a block: on an H200 blocks of 8 programs of one warp were the best, or within 2 % of it.
static constexpr int64_t kWarpsOfBlock = 8;
/// How long a program is there, in times of a load from memory: until it is launched, has loaded,
/// computed and stored, and another is launched in its place. On an H200 programs of one warp that
/// normalise rows were there for 2.6 us, whatever they brought.
static constexpr int64_t kLoadsOfLife = 8;

/// Whether nobody has decided anything but how many warps run a program.
static bool isUndecided(KernelOp kernel) {
  for (StringRef name : {kRolesAttrName, kTurnsAttrName, kBlockProgramsAttrName,
                         kPersistentAttrName, kClusterAttrName, kOverlapAttrName})
    if (kernel->hasAttr(name) && !isa<BoolAttr>(kernel->getAttr(name)))
      return false;
  WalkResult decided = kernel.getBody().walk([](Operation *op) {
    return findDecision(op).empty() ? WalkResult::advance() : WalkResult::interrupt();
  });
  return !decided.wasInterrupted();
}

/// What a block moves between memory and registers. Nothing if that is not known, or it does what a
/// program should not do beside others.
static std::optional<int64_t> countMoved(Block &block) {
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
    moved += TypeSwitch<Operation *, int64_t>(&op)
                 .Case<LoadOp, GatherOp>(
                     [](Operation *op) { return countBytes(op->getResult(0).getType()); })
                 .Case<StoreOp, ScatterOp>(
                     [](auto store) { return countBytes(store.getValue().getType()); })
                 .Default(int64_t(0));
    for (Region &region : op.getRegions())
      for (Block &inner : region) {
        std::optional<int64_t> each = countMoved(inner);
        if (!each)
          return std::nullopt;
        moved += trips * *each;
      }
  }
  return moved;
}

/// How many programs of a kernel one block should run; 1 if the chip's record does not say that
/// more would pay.
static int64_t choosePrograms(KernelOp kernel, const Chip &chip) {
  const Figures &figures = chip.figures;
  if (!figures.blocksPerCore || !figures.warpsPerCore || !figures.memoryBandwidth ||
      !figures.cores || !figures.clock || !figures.memoryLatency)
    return 1;
  if (!kernel.hasGrid() || !llvm::hasSingleElement(kernel.getBody()) || !isUndecided(kernel) ||
      kernel.getGrid().front().getTerminator()->getNumOperands() != 1)
    return 1;
  auto pinned = kernel->getAttrOfType<IntegerAttr>(kWarpsAttrName);
  int64_t warps = pinned ? pinned.getInt() : countWarps(kernel, chip);
  int64_t blocks = figures.blocksPerCore->value, programs = kWarpsOfBlock / warps;
  if (programs < 2 || blocks * warps >= figures.warpsPerCore->value)
    return 1;
  std::optional<int64_t> moved = countMoved(kernel.getBody().front());
  if (!moved)
    return 1;
  // What memory moves for a core while a program is there.
  double life = double(kLoadsOfLife) * figures.memoryLatency->value / figures.clock->value; // us
  double most = 1e3 * figures.memoryBandwidth->value / figures.cores->value * life;
  return double(blocks * *moved) < most ? programs : 1;
}

namespace {
struct DecideBlockPrograms : kiln::impl::DecideBlockProgramsBase<DecideBlockPrograms> {
  DecideBlockPrograms() = default;
  explicit DecideBlockPrograms(Realise realise) : realise(std::move(realise)) {}

  void runOnOperation() override {
    FailureOr<TargetInterface> target = requireTarget(getOperation());
    if (failed(target))
      return signalPassFailure();
    for (KernelOp kernel : getOperation().getOps<KernelOp>()) {
      int64_t programs = choosePrograms(kernel, target->getChipRecord());
      if (programs == 1)
        continue;
      kernel->setAttr(kBlockProgramsAttrName, Builder(kernel).getI64IntegerAttr(programs));
      std::optional<Refusal> refusal;
      if (realise && !tryOut(kernel, realise, refusal))
        kernel->removeAttr(kBlockProgramsAttrName);
    }
  }

  Realise realise;
};
} // namespace

std::unique_ptr<Pass> kiln::createDecideBlockPrograms(Realise realise) {
  return std::make_unique<DecideBlockPrograms>(std::move(realise));
}
