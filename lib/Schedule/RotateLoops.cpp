// Has an `scf.while` whose ops have stages carry what it asks: its condition is computed in front
// of it, and at the end of each trip for the next one. Then it is known a trip ahead, and what
// computes it has a place in the trip like all else.
#include "Decisions.h"
#include "kiln/Schedule/Passes.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/IRMapping.h"

namespace kiln {
#define GEN_PASS_DEF_ROTATELOOPS
#include "kiln/Schedule/Passes.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

/// Whether it is said of an op when it runs, or how its trips overlap follows from a ring.
static bool hasPlace(Operation &op) {
  auto dot = dyn_cast<DotOp>(op);
  auto load = dyn_cast<LoadOp>(op);
  return getDecision(&op, "stage") || getDecision(&op, "order") ||
         (dot && dot.getInFlight().value_or(0) > 0) || (load && load.getBuffer());
}

static LogicalResult checkCondition(scf::WhileOp loop) {
  for (Operation &op : *loop.getBeforeBody())
    for (StringRef name : {"stage", "order"})
      if (getDecision(&op, name))
        return op.emitOpError("expected to stand in the body of the scf.while, since '")
               << spellDecision(&op, name) << "' is decided: what its condition is made of runs at "
               << "stage 0, a trip ahead";
  return success();
}

/// Clones what a loop's condition is made of. Gives the condition, and what it hands on.
static SmallVector<Value> cloneCondition(scf::WhileOp loop, ValueRange carried,
                                         OpBuilder &builder) {
  IRMapping mapping;
  mapping.map(loop.getBeforeArguments(), carried);
  for (Operation &op : loop.getBeforeBody()->without_terminator())
    builder.clone(op, mapping);
  return llvm::map_to_vector(loop.getConditionOp()->getOperands(),
                             [&](Value value) { return mapping.lookupOrDefault(value); });
}

static void rotate(scf::WhileOp loop) {
  OpBuilder builder(loop);
  Location loc = loop.getLoc();
  SmallVector<Value> inits = cloneCondition(loop, loop.getInits(), builder);
  auto made = scf::WhileOp::create(builder, loc, loop.getResultTypes(), inits);
  made->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  Block *before = builder.createBlock(&made.getBefore(), {}, ValueRange(inits).getTypes(),
                                      SmallVector<Location>(inits.size(), loc));
  scf::ConditionOp::create(builder, loop.getConditionOp().getLoc(), before->getArgument(0),
                           before->getArguments().drop_front());
  scf::YieldOp yield = loop.getYieldOp();
  builder.setInsertionPoint(yield);
  yield->setOperands(cloneCondition(loop, SmallVector<Value>(yield->getOperands()), builder));
  made.getAfter().takeBody(loop.getAfter());
  loop->replaceAllUsesWith(made.getResults());
  loop.erase();
}

namespace {
struct RotateLoops : kiln::impl::RotateLoopsBase<RotateLoops> {
  void runOnOperation() override {
    WalkResult result = getOperation().walk([](scf::WhileOp loop) -> WalkResult {
      if (failed(checkCondition(loop)))
        return WalkResult::interrupt();
      if (!isRotated(loop) && llvm::any_of(*loop.getAfterBody(), hasPlace))
        rotate(loop);
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
