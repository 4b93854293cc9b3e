// How many programs one block runs side by side, of a kernel that decides nothing.
//
// A core holds so many blocks and no more. Of programs of one warp that bring little, these are too
// few to keep memory busy, and to run all warps that the core could hold. Then one block runs
// several of them (docs/rationale/programs.md).
#include "SmallPrograms.h"
#include "kiln/Dialect/Tile/IR/GridDecisions.h"
#include "kiln/Layout/Transforms/Layouts.h"
#include "kiln/Schedule/Passes.h"
#include "kiln/Schedule/TryOut.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

namespace kiln {
#define GEN_PASS_DEF_DECIDEBLOCKPROGRAMS
#include "kiln/Schedule/Passes.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

/// Of a block: on an H200 blocks of 8 programs of one warp were the best, or within 2 % of it.
static constexpr int64_t kWarpsOfBlock = 8;

/// How many programs of a kernel one block should run; 1 if the chip's record does not say that
/// more would pay.
static int64_t choosePrograms(KernelOp kernel, const Chip &chip) {
  std::optional<double> busy = countBusyBytes(chip.figures);
  if (!busy || !mayShareBlocks(kernel))
    return 1;
  auto pinned = kernel->getAttrOfType<IntegerAttr>(kWarpsAttrName);
  int64_t warps = pinned ? pinned.getInt() : countWarps(kernel, chip);
  int64_t blocks = chip.figures.blocksPerCore->value, programs = kWarpsOfBlock / warps;
  if (programs < 2 || blocks * warps >= chip.figures.warpsPerCore->value)
    return 1;
  std::optional<int64_t> moved = countMoved(kernel.getBody().front());
  return moved && double(blocks * *moved) < *busy ? programs : 1;
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
