// Products that run on beside their warps only as transposes, or faster so: of few rows, or whose
// second operand is computed on the way.
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

/// The instruction of its transpose, if that can, in whole instructions, and may.
static AsyncMmaAtomInterface findSwappedAtom(DotOp dot, TargetInterface target) {
  if (!dot.getSwap().value_or(true) || dot->hasAttr(kLayoutAttrName) ||
      dot.getType().getEncoding() || dot.getType().getRank() != 2)
    return {};
  DotOp swapped = cast<DotOp>(dot->clone());
  exchangeOperands(swapped);
  AsyncMmaAtomInterface atom = findAsyncAtom(swapped, target);
  bool can = canRunBeside(swapped, target) && swapped.getM() % atom.getExtents()[0] == 0;
  swapped->destroy();
  return can ? atom : AsyncMmaAtomInterface();
}

/// Whether the transpose keeps units busy for a shorter time: an instruction of half the rows
/// leaves half of them idle.
static bool isFasterSwapped(DotOp dot, TargetInterface target) {
  AsyncMmaAtomInterface own = findAsyncAtom(dot, target), swapped = findSwappedAtom(dot, target);
  auto count = [&](AsyncMmaAtomInterface atom) {
    return cast<MmaAtomInterface>(atom).getIssueCycles(target.getChipRecord(),
                                                       dot.getType().getElementType(),
                                                       dot.getM() * dot.getN() * dot.getK());
  };
  if (!own || !swapped)
    return false;
  std::optional<int64_t> cycles = count(own), cyclesSwapped = count(swapped);
  return cycles && cyclesSwapped && *cyclesSwapped < *cycles;
}

/// The products to swap: all, if each is faster so; else those that can run on beside their warps
/// in no other way; none if some product cannot either way.
static SmallVector<DotOp> findSwapped(KernelOp kernel, TargetInterface target) {
  SmallVector<DotOp> dots, swapped;
  kernel.getBody().walk([&](DotOp dot) { dots.push_back(dot); });
  if (llvm::all_of(dots, [&](DotOp dot) { return isFasterSwapped(dot, target); }))
    return dots;
  WalkResult result = kernel.getBody().walk([&](DotOp dot) -> WalkResult {
    if (canRunBeside(dot, target))
      return WalkResult::advance();
    swapped.push_back(dot);
    return WalkResult(success(bool(findSwappedAtom(dot, target))));
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
