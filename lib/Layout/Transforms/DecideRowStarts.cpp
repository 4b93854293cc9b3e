// Which tiles of rows begin where memory's vectors do (RowStarts.h): those whose accesses would be
// narrow otherwise.
#include "RowStarts.h"
#include "kiln/Dialect/Tile/IR/ChunkDecisions.h"
#include "kiln/Dialect/Tile/IR/Decisions.h"
#include "kiln/Layout/Transforms/AccessFacts.h"
#include "kiln/Layout/Transforms/Passes.h"
#include "kiln/Target/TargetInterface.h"

namespace kiln {
#define GEN_PASS_DEF_DECIDEROWSTARTS
#include "kiln/Layout/Transforms/Passes.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

/// Of shorter rows the two ends are too much: several run in step, each lane with elements of one.
static constexpr int64_t kFewestElements = 1024;
/// Longer rows are cut into chunks. Of 50257 bf16 numbers a softmax turned took 711 us on an H200,
/// and 175 as it was: all of a thread's words did not fit its registers.
static constexpr int64_t kMostElements = 16384;

static bool isUndecided(KernelOp kernel) {
  bool isOpen = findDecision(kernel, [](const Decision &decision) {
                  return !decision.isMark && decision.name != kWarpsAttrName;
                }).empty();
  WalkResult decided = kernel.getBody().walk([](Operation *op) {
    bool isLeft = findDecision(op).empty() && !isa<DotOp, DotScaledOp>(op);
    return isLeft ? WalkResult::advance() : WalkResult::interrupt();
  });
  return isOpen && !decided.wasInterrupted();
}

/// Whether facts do not tell that whole vectors lie in rows.
static bool isNarrow(Operation *access, TypedValue<ViewType> view) {
  return getAccessFacts(access).width * getElementBytes(view.getType().getElementType()) <
         kVectorBytes;
}

static bool isWorthIt(KernelOp kernel) {
  if (!isUndecided(kernel))
    return false;
  ChunkPhases phases(kernel);
  if (phases.getExtent() < kFewestElements || phases.getExtent() > kMostElements ||
      findTurnObstacle(phases))
    return false;
  return llvm::any_of(phases.getCut(), [](Operation *op) {
    if (auto store = dyn_cast<StoreOp>(op))
      return isNarrow(store, store.getView());
    auto load = dyn_cast<LoadOp>(op);
    return load && load.getView().getType().getShape().size() > 1 && isNarrow(load, load.getView());
  });
}

namespace {
struct DecideRowStarts : kiln::impl::DecideRowStartsBase<DecideRowStarts> {
  void runOnOperation() override {
    FailureOr<TargetInterface> target = requireTarget(getOperation());
    if (failed(target))
      return signalPassFailure();
    if (target->runsOnHost())
      return;
    for (KernelOp kernel : getOperation().getOps<KernelOp>())
      if (isWorthIt(kernel))
        kernel->setAttr(kRowStartsAttrName, BoolAttr::get(&getContext(), true));
  }
};
} // namespace
