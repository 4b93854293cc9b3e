// The pass around the lowering of one kernel.
#include "ThreadPlans.h"
#include "kiln/Layout/Transforms/Passes.h"
#include "kiln/Target/Common/Synchronisation.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace kiln {
#define GEN_PASS_DEF_LOWERTOTHREADS
#include "kiln/Target/Common/ThreadPasses.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

/// What the walk takes for granted, said as errors to whoever runs it without the passes before.
static LogicalResult check(KernelOp kernel) {
  if (!kernel->getAttrOfType<IntegerAttr>(kWarpsAttrName))
    return kernel.emitOpError("expected '") << kWarpsAttrName << "', which is decided with atoms";
  WalkResult result = kernel.getBody().walk([&](Operation *op) {
    auto needs = [&](StringRef what) {
      op->emitOpError("expected ") << what;
      return WalkResult::interrupt();
    };
    for (Type type : op->getResultTypes())
      if (auto tensor = dyn_cast<RankedTensorType>(type))
        if (!isa_and_nonnull<LayoutAttr>(tensor.getEncoding()))
          return needs("a result with a layout");
    if (auto dot = dyn_cast<DotOp>(op); dot && !dot.getAtomAttr())
      return needs("an atom");
    if (auto dot = dyn_cast<DotScaledOp>(op);
        dot && !isa_and_nonnull<ScaledMmaAtomInterface>(dot.getAtomAttr()))
      return needs("an atom that takes scales");
    bool needsMemory = isa<AllocOp, ChannelOp>(op) || getScratchBytes(op) > 0;
    if (needsMemory && !op->hasAttr(kSharedOffsetAttrName))
      return needs("a place in shared memory");
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

namespace {
struct LowerToThreads : kiln::impl::LowerToThreadsBase<LowerToThreads> {
  void runOnOperation() override {
    FailureOr<TargetInterface> target = requireTarget(getOperation());
    if (failed(target))
      return signalPassFailure();
    if (!isa<SynchronisationInterface>(target->getReal())) {
      getOperation().emitError("expected a target whose programs are run by warps, got ")
          << target->getSpelling();
      return signalPassFailure();
    }
    SmallVector<KernelOp> kernels(getOperation().getOps<KernelOp>());
    for (KernelOp kernel : kernels) {
      if (failed(check(kernel)))
        return signalPassFailure();
      explainMoves(kernel, *target);
      describeProtocol(kernel, *target);
      if (failed(lowerKernelToThreads(kernel, *target)))
        return signalPassFailure();
    }
  }
};
} // namespace

void kiln::registerThreadStagePasses() {
  static const bool once = [] {
    registerLayoutPasses();
    registerThreadTargetPasses();
    return true;
  }();
  (void)once;
}
