// Holds the pins of each loop against what the chip has, before anything is realised.
#include "LoopProblem.h"
#include "kiln/Schedule/Passes.h"
#include "kiln/Schedule/Problem/Complete.h"
#include "kiln/Schedule/Problem/Solution.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

namespace kiln {
#define GEN_PASS_DEF_CHECKSCHEDULE
#include "kiln/Schedule/Passes.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

/// Stages from 0 in each role: what only waits, which is no op here, may be earlier.
static void beginAtZero(schedule::Problem &problem) {
  DenseMap<unsigned, int64_t> least;
  for (const schedule::Op &op : problem.ops) {
    int64_t &stage = least.try_emplace(*op.pins.role, *op.pins.stage).first->second;
    stage = std::min(stage, *op.pins.stage);
  }
  for (schedule::Op &op : problem.ops)
    *op.pins.stage -= least.lookup(*op.pins.role);
}

static LogicalResult refuse(Operation *loop, const LoopProblem &made,
                            const schedule::Violation &why, RingPlan &plan) {
  Operation *op = why.op ? made.ops[*why.op] : loop;
  InFlightDiagnostic error = op->emitOpError(describe(why));
  if (StringRef(why.limit).contains("shared memory"))
    planSharedPieces(loop->getParentOfType<KernelOp>(), plan).list(error);
  return error;
}

/// Where a loop's pins contradict one another, CompleteStages says so.
static LogicalResult check(Operation *loop, RingPlan &plan, const Chip &chip) {
  Trip trip(loop->getRegions().back().front());
  std::optional<LoopProblem> made = makeProblem(trip, plan, ProblemUse::Check, chip);
  if (!made || made->ops.empty())
    return success();
  std::optional<schedule::Problem> pinned = schedule::completePins(made->problem);
  if (!pinned)
    return success();
  beginAtZero(*pinned);
  schedule::Violation why;
  std::optional<schedule::Solution> solution = schedule::placePinned(*pinned, &why);
  if (!solution)
    return refuse(loop, *made, why, plan);
  std::optional<schedule::Violation> found = schedule::verify(*pinned, *solution);
  return found ? refuse(loop, *made, *found, plan) : success();
}

static LogicalResult check(KernelOp kernel, const Chip &chip) {
  FailureOr<RingPlan> plan = planRings(kernel);
  if (failed(plan) || failed(checkClusters(kernel, *plan)))
    return failure();
  auto checkTrips = [&](Operation *op) {
    auto loop = dyn_cast<scf::WhileOp>(op);
    bool hasTrips = loop ? isRotated(loop) : isa<scf::ForOp>(op) && !op->hasAttr(kProgramsAttrName);
    return WalkResult(hasTrips ? check(op, *plan, chip) : success());
  };
  return failure(kernel.getBody().walk(checkTrips).wasInterrupted());
}

namespace {
struct CheckSchedule : kiln::impl::CheckScheduleBase<CheckSchedule> {
  void runOnOperation() override {
    FailureOr<TargetInterface> target = requireTarget(getOperation());
    if (failed(target))
      return signalPassFailure();
    for (KernelOp kernel : getOperation().getOps<KernelOp>())
      if (kernel->hasAttr(kRolesAttrName) && failed(check(kernel, target->getChipRecord())))
        return signalPassFailure();
  }
};
} // namespace
