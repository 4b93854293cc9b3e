// Scaled products that an instruction may start become dots with scales, in front of all that
// decides which products run on beside their warps.
#include "kiln/Dialect/Tile/IR/TakeDecisions.h"
#include "kiln/Layout/Transforms/AsyncAtomInterfaces.h"
#include "kiln/Layout/Transforms/AtomFit.h"
#include "kiln/Layout/Transforms/Passes.h"
#include "kiln/Target/TargetInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

namespace kiln {
#define GEN_PASS_DEF_JOINSCALES
#include "kiln/Layout/Transforms/Passes.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

static void join(DotScaledOp op) {
  OpBuilder builder(op);
  auto dot = DotOp::create(
      builder, op.getLoc(), op.getType(), findStored(op.getA()), findStored(op.getB()),
      op.getAccumulator(), ValueRange{op.getScaleA(), op.getScaleB()}, /*transpose_a=*/false,
      op.getTransposeB(), /*unsigned_a=*/false, /*unsigned_b=*/false, DotPrecision::IEEE,
      op.getAtomAttr(), IntegerAttr(), IntegerAttr(), StringAttr(), IntegerAttr(),
      DenseI64ArrayAttr(), IntegerAttr(), DenseI64ArrayAttr(), DenseI64ArrayAttr(),
      /*promote=*/BoolAttr(), /*swap=*/BoolAttr(), InterleaveAttr());
  takeDecisions(dot, op);
  op.replaceAllUsesWith(dot.getResult());
  llvm::SmallSetVector<Value, 2> operands;
  operands.insert(op.getA());
  operands.insert(op.getB());
  op.erase();
  // What only names elements of a load's bytes is no use of these.
  for (Value operand : operands)
    if (Operation *view = operand.getDefiningOp(); view && isOpTriviallyDead(view))
      view->erase();
}

namespace {
struct JoinScales : kiln::impl::JoinScalesBase<JoinScales> {
  void runOnOperation() override {
    FailureOr<TargetInterface> target = requireTarget(getOperation());
    if (failed(target))
      return signalPassFailure();
    SmallVector<DotScaledOp> dots;
    getOperation().walk([&](DotScaledOp dot) {
      if (canBeStarted(dot, *target))
        dots.push_back(dot);
    });
    for (DotScaledOp dot : dots)
      join(dot);
  }
};
} // namespace
