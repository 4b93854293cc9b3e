// Has one program of a kernel run several of the source's in step, as `tile.batch` says.
#include "Batcher.h"
#include "kiln/Dialect/Tile/IR/Decisions.h"
#include "kiln/Dialect/Tile/IR/GridDecisions.h"
#include "kiln/Dialect/Tile/IR/PinnedPlaces.h"
#include "kiln/Dialect/Tile/IR/Turns.h"
#include "kiln/Dialect/Tile/Transforms/Undecided.h"
#include "kiln/Schedule/Batch/Passes.h"
#include "kiln/Target/Common/ABI.h"
#include "kiln/Target/TargetInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace kiln {
#define GEN_PASS_DEF_REALISEBATCH
#include "kiln/Schedule/Batch/Passes.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

/// What else decides which programs there are, or who runs them.
static LogicalResult check(KernelOp kernel, int64_t count, const Variation &variation) {
  for (auto [name, why] :
       {std::pair(kRolesAttrName, "roles are decided of one program's ops"),
        std::pair(kPersistentAttrName, "a persistent grid is one of the source's programs"),
        std::pair(kTurnsAttrName, "copies take one program's turns"),
        std::pair(kClusterAttrName, "a cluster is one of the source's programs"),
        std::pair(kOverlapAttrName, "a launch waits for the source's programs")})
    if (kernel->hasAttr(name) && !isa<BoolAttr>(kernel->getAttr(name)))
      return emitPinError(kernel, kBatchAttrName, "expected no '")
             << name << "' beside '" << kBatchAttrName << "', since " << why;
  std::optional<BatchObstacle> obstacle = findBatchObstacle(kernel, variation, count);
  if (!obstacle)
    return success();
  if (!obstacle->decision.empty())
    return obstacle->op->emitOpError("expected no '")
           << obstacle->decision << "' in a kernel with '" << kBatchAttrName << "', since "
           << obstacle->reason;
  InFlightDiagnostic error = emitPinError(kernel, kBatchAttrName,
                                          "expected programs that can run "
                                          "in step, since '")
                             << kBatchAttrName << "' is " << count;
  error.attachNote(obstacle->op->getLoc())
      << "'" << obstacle->op->getName() << "': " << obstacle->reason;
  return error;
}

static LogicalResult realise(KernelOp kernel, int64_t count) {
  Variation variation(kernel);
  if (failed(check(kernel, count, variation)))
    return failure();
  Value extent = addHidden(kernel, {HiddenArgument::GridExtent});
  Batcher(kernel, variation, count, extent).run();
  setMetadata(kernel, "programs_per_block", Builder(kernel).getI64IntegerAttr(count));
  // Shapes that only name elements otherwise, and what repeats one number.
  canonicaliseUndecided(kernel);
  mergeUndecided(kernel);
  return success();
}

namespace {
struct RealiseBatch : kiln::impl::RealiseBatchBase<RealiseBatch> {
  void runOnOperation() override {
    TargetInterface target = getTarget(getOperation());
    for (KernelOp kernel : getOperation().getOps<KernelOp>()) {
      auto batch = dyn_cast_or_null<IntegerAttr>(kernel->removeAttr(kBatchAttrName));
      bool isMeant = batch && batch.getInt() > 1 && !(target && target.runsOnHost());
      if (isMeant && failed(realise(kernel, batch.getInt())))
        return signalPassFailure();
    }
  }
};
} // namespace
