// Asks for the stages and orders that nobody has pinned.
#include "LoopProblem.h"
#include "kiln/Schedule/Passes.h"
#include "kiln/Schedule/Problem/Complete.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

namespace kiln {
#define GEN_PASS_DEF_COMPLETESTAGES
#include "kiln/Schedule/Passes.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

/// The block as a problem: one role, one op for each of the trip's, in the order of the source.
static schedule::Problem makeProblem(const Trip &trip, ArrayRef<Operation *> source) {
  schedule::Problem problem;
  problem.isLoop = trip.loop != nullptr;
  problem.roles.push_back({"this role"});
  DenseMap<Operation *, unsigned> numbers;
  for (auto [number, op] : llvm::enumerate(source)) {
    numbers[op] = number;
    schedule::Op &asked = problem.ops.emplace_back();
    asked.name = op->getName().getStringRef().str();
    asked.isLate = isa<NextOp, GetOp, ReadOp, FetchOp>(op);
    asked.pins.role = 0;
    asked.pins.stage = findNumber(op, "stage");
    asked.pins.order = findNumber(op, "order");
  }
  for (auto [number, op] : llvm::enumerate(source))
    for (Value operand : trip.getOperands(op))
      if (std::optional<Dependence> need = trip.findMaker(operand))
        problem.dependences.push_back({numbers.lookup(need->op), unsigned(number), need->distance});
  return problem;
}

static LogicalResult complete(Block &block) {
  Trip trip(block);
  SmallVector<Operation *> source;
  for (Operation &op : block)
    if (trip.stages.contains(&op))
      source.push_back(&op);
  schedule::Violation why;
  std::optional<schedule::Problem> completed =
      schedule::completePins(makeProblem(trip, source), &why);
  if (!completed) {
    Operation *op = why.op ? source[*why.op] : block.getParentOp();
    return op->emitOpError(describe(why));
  }
  Builder builder(block.getParentOp()->getContext());
  for (auto [op, asked] : llvm::zip_equal(source, completed->ops)) {
    op->setAttr(spellDecision(op, "stage"), builder.getI64IntegerAttr(*asked.pins.stage));
    op->setAttr(spellDecision(op, "order"), builder.getI64IntegerAttr(*asked.pins.order));
  }
  return success();
}

namespace {
struct CompleteStages : kiln::impl::CompleteStagesBase<CompleteStages> {
  void runOnOperation() override {
    WalkResult result = getOperation().walk([](WarpGroupsOp groups) -> WalkResult {
      return groups.walk([](Block *block) {
        bool isOurs = isa<WarpGroupsOp, scf::ForOp, scf::IfOp, scf::WhileOp>(block->getParentOp());
        return WalkResult(success(!isOurs || !hasDecisions(*block) || succeeded(complete(*block))));
      });
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
