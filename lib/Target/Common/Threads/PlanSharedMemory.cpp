// Places buffers and scratch in shared memory by the span of the program in which they live.
#include "ThreadPlans.h"
#include "kiln/Target/Common/SharedPieces.h"

namespace kiln {
#define GEN_PASS_DEF_PLANSHAREDMEMORY
#include "kiln/Target/Common/ThreadPasses.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

static LogicalResult plan(KernelOp kernel, TargetInterface target) {
  SharedPieces found = findSharedPieces(kernel);
  int64_t total = schedule::placePieces(found.pieces), limit = target.getChipRecord().sharedBytes;
  if (total > limit) {
    InFlightDiagnostic error = kernel.emitError()
                               << "expected at most " << limit << " bytes of shared memory on "
                               << target.getSpelling() << ", got " << total;
    found.list(error);
    return error;
  }
  Builder builder(kernel.getContext());
  for (auto [op, piece] : llvm::zip_equal(found.ops, found.pieces))
    op->setAttr(kSharedOffsetAttrName, builder.getI64IntegerAttr(piece.offset));
  kernel->setAttr(kSharedBytesAttrName, builder.getI64IntegerAttr(total));
  return success();
}

namespace {
struct PlanSharedMemory : kiln::impl::PlanSharedMemoryBase<PlanSharedMemory> {
  void runOnOperation() override {
    FailureOr<TargetInterface> target = requireTarget(getOperation());
    if (failed(target))
      return signalPassFailure();
    for (KernelOp kernel : getOperation().getOps<KernelOp>())
      if (failed(plan(kernel, *target)))
        return signalPassFailure();
  }
};
} // namespace
