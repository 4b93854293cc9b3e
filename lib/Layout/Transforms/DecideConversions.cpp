// Decides how each conversion is made: by renaming registers, between lanes, or through memory; and
// whether what went to memory is read at once.
#include "ConversionRuns.h"
#include "kiln/Layout/Transforms/Passes.h"
#include "kiln/Layout/Transforms/SharedLayout.h"
#include "kiln/Target/TargetInterface.h"

namespace kiln {
#define GEN_PASS_DEF_DECIDECONVERSIONS
#include "kiln/Layout/Transforms/Passes.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

/// A thread that multiplies and adds on its own needs all of K. Where its product is in a loop, and
/// an operand is made before it, that would be in registers throughout: if it takes many, the
/// buffer is read in the loop.
static bool holdsMuchThroughout(ConvertLayoutOp op) {
  constexpr int64_t kMostRegisters = 64;
  if (getLayout(op.getResult()).getInSize(kRegister) <= kMostRegisters)
    return false;
  SmallVector<Operation *> views;
  DotOp dot = findDeferredUse(op, views);
  return dot && isa_and_nonnull<FmaAtomAttr>(dot.getAtomAttr());
}

/// The most bytes that the kernel's buffers take with those of its conversions, as far as is known
/// here.
static int64_t countBytes(KernelOp kernel, ArrayRef<SmallVector<ConvertLayoutOp>> runs) {
  int64_t bytes = 0, most = 0;
  kernel.walk([&](AllocOp alloc) { bytes += getSharedBytes(alloc.getResult().getType()); });
  for (const SmallVector<ConvertLayoutOp> &run : runs) {
    int64_t together = 0;
    for (ConvertLayoutOp op : run)
      together += getSharedBytes(cast<RankedTensorType>(op.getType()));
    most = std::max(most, together);
  }
  return bytes + most;
}

/// Of the conversions that were open. The buffer of a deferred one is there besides all others: it
/// must fit beside them and a quarter of shared memory that other ops may need; nothing is known of
/// what rings will take.
static void deferReads(KernelOp kernel, const DenseSet<Operation *> &open, int64_t shared) {
  auto isOfRoles = [](Operation *op) {
    return isa<ChannelOp, WarpGroupsOp>(op) ? WalkResult::interrupt() : WalkResult::advance();
  };
  if (kernel->hasAttr(kRolesAttrName) || kernel.walk(isOfRoles).wasInterrupted())
    return;
  auto runs = findConversionRuns(kernel, shared);
  int64_t bytes = countBytes(kernel, runs);
  for (SmallVector<ConvertLayoutOp> &run : runs)
    for (ConvertLayoutOp op : run) {
      int64_t more = getSharedBytes(cast<RankedTensorType>(op.getType()));
      if (!open.contains(op) || !holdsMuchThroughout(op) || bytes + more > shared / 4 * 3)
        continue;
      op.setDeferred(true);
      bytes += more;
    }
}

namespace {
struct DecideConversions : kiln::impl::DecideConversionsBase<DecideConversions> {
  void runOnOperation() override {
    FailureOr<TargetInterface> target = requireTarget(getOperation());
    if (failed(target))
      return signalPassFailure();
    DenseSet<Operation *> open;
    getOperation().walk([&](ConvertLayoutOp op) {
      if (op.getHowAttr() || isHandedOver(op))
        return;
      LinearLayout from = getLayout(op.getInput()), to = getLayout(op.getResult());
      op.setHowAttr(decideConversion(from, to, op.getType(), isInRole(op), *target).how);
      open.insert(op);
    });
    for (KernelOp kernel : getOperation().getOps<KernelOp>())
      deferReads(kernel, open, target->getChipRecord().sharedBytes);
  }
};
} // namespace
