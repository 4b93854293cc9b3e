// Products that run on beside their warps only as transposes: of few rows, or whose second operand
// is computed on the way.
//
// An instruction that runs on beside its warps has many rows and a choice of columns, and reads its
// second operand from shared memory alone, the first from registers too. A batch of few tokens has
// few rows, and weights of few bits that a loop widens and scales are mostly the second operand, as
// the source writes them.
#include "OwnRingDecider.h"
#include "kiln/Layout/Transforms/Layouts.h"
#include "kiln/Schedule/Passes.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

namespace kiln {
#define GEN_PASS_DEF_DECIDESWAP
#include "kiln/Schedule/Passes.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

/// Whether a product can run on beside its warps with the operands that are loaded brought to
/// shared memory, and the others computed by warps.
static bool canRunBeside(DotOp dot, TargetInterface target) {
  AsyncMmaAtomInterface atom = findAsyncAtom(dot, target);
  return atom && llvm::all_of(ArrayRef<unsigned>{0, 1}, [&](unsigned number) {
           return findLoad(dot->getOperand(number)) || takesComputed(atom, number);
         });
}

/// Whether its transpose can, in whole instructions.
static bool canRunSwapped(DotOp dot, TargetInterface target) {
  if (dot->hasAttr(kLayoutAttrName) || dot.getType().getEncoding() || dot.getType().getRank() != 2)
    return false;
  DotOp swapped = cast<DotOp>(dot->clone());
  exchangeOperands(swapped);
  AsyncMmaAtomInterface atom = findAsyncAtom(swapped, target);
  bool can = canRunBeside(swapped, target) && swapped.getM() % atom.getExtents()[0] == 0;
  swapped->destroy();
  return can;
}

/// The products to swap; none if some product cannot run on beside its warps either way.
static SmallVector<DotOp> findSwapped(KernelOp kernel, TargetInterface target) {
  SmallVector<DotOp> swapped;
  WalkResult result = kernel.getBody().walk([&](DotOp dot) -> WalkResult {
    if (canRunBeside(dot, target))
      return WalkResult::advance();
    swapped.push_back(dot);
    return WalkResult(success(canRunSwapped(dot, target)));
  });
  return result.wasInterrupted() ? SmallVector<DotOp>() : swapped;
}

namespace {
struct DecideSwap : kiln::impl::DecideSwapBase<DecideSwap> {
  void runOnOperation() override {
    FailureOr<TargetInterface> target = requireTarget(getOperation());
    if (failed(target))
      return signalPassFailure();
    for (KernelOp kernel : getOperation().getOps<KernelOp>())
      if (decidesNothing(kernel))
        for (DotOp dot : findSwapped(kernel, *target))
          dot.setSwap(true);
  }
};
} // namespace
