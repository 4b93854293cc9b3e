// Whether the programs of a kernel that decides nothing come in clusters, which load together what
// is the same tile for all of them.
//
// They do where products are limited by what the second-level cache answers, and an eighth is
// gained.
#include "Decisions.h"
#include "Model/Work.h"
#include "kiln/Dialect/Tile/IR/GridDecisions.h"
#include "kiln/Schedule/Passes.h"
#include "kiln/Schedule/TryOut.h"
#include "kiln/Target/Common/ABI.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

namespace kiln {
#define GEN_PASS_DEF_DECIDECLUSTERS
#include "kiln/Schedule/Passes.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

/// The axis along which two programs of a kernel that decides nothing had better load together.
static std::optional<unsigned> chooseAxis(KernelOp kernel, TargetInterface target) {
  if (!target.getChipRecord().figures.clusterBlocks || kernel->hasAttr(kClusterAttrName) ||
      kernel->hasAttr(kPersistentAttrName) || kernel->hasAttr(kBlockProgramsAttrName))
    return std::nullopt;
  StringRef lacks;
  std::optional<KernelWork> work = measureWork(kernel, target, lacks);
  return work ? chooseClusterAxis(kernel, *work) : std::nullopt;
}

/// Whether a realised kernel has programs that bring tiles to one another.
static bool sharesTiles(ModuleOp module) {
  return module
      .walk([](CopyInOp copy) {
        return copy.getMask() ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

namespace {
struct DecideClusters : kiln::impl::DecideClustersBase<DecideClusters> {
  DecideClusters() = default;
  explicit DecideClusters(Realise realise) : realise(std::move(realise)) {}

  void runOnOperation() override {
    FailureOr<TargetInterface> target = requireTarget(getOperation());
    if (failed(target))
      return signalPassFailure();
    for (KernelOp kernel : getOperation().getOps<KernelOp>()) {
      std::optional<unsigned> axis = chooseAxis(kernel, *target);
      if (!axis)
        continue;
      SmallVector<int64_t> extents(3, 1);
      extents[*axis] = 2;
      Builder builder(kernel);
      kernel->setAttr(kClusterAttrName, builder.getDenseI64ArrayAttr(extents));
      std::optional<Refusal> refusal;
      auto share = [&](ModuleOp copy) {
        return success(succeeded(realise(copy)) && sharesTiles(copy));
      };
      if (realise && !tryOut(kernel, share, refusal))
        kernel->removeAttr(kClusterAttrName);
      else // a launch's own grid need not be one of clusters
        setMetadata(getOperation(), "own_grid", builder.getBoolAttr(true));
    }
  }

  Realise realise;
};
} // namespace

std::unique_ptr<Pass> kiln::createDecideClusters(Realise realise) {
  return std::make_unique<DecideClusters>(std::move(realise));
}
