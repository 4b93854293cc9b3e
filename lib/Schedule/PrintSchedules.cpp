// Says how short the trips of loops can be: for tests of the solvers, and for those who wonder what
// a schedule leaves.
#include "Decisions.h"
#include "LoopProblem.h"
#include "kiln/Schedule/Passes.h"
#include "kiln/Schedule/Problem/ExactSolver.h"
#include "kiln/Schedule/Problem/PartRole.h"
#include "kiln/Target/TargetInterface.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

namespace kiln {
#define GEN_PASS_DEF_PRINTSCHEDULES
#include "kiln/Schedule/Passes.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

static std::string getBound(const schedule::Proven &proven) {
  return proven.isOptimal() ? "and none has less"
                            : "and none has less than " + std::to_string(proven.least);
}

namespace {
struct PrintSchedules : kiln::impl::PrintSchedulesBase<PrintSchedules> {
  using PrintSchedulesBase::PrintSchedulesBase;
  void runOnOperation() override;
  void print(Operation *loop, RingPlan &plan, const Chip &chip);
  void printParts(Operation *loop, const LoopProblem &made, unsigned role);
};
} // namespace

void PrintSchedules::print(Operation *loop, RingPlan &plan, const Chip &chip) {
  Block &body = loop->getRegions().back().front();
  auto dots = body.getOps<DotOp>();
  RoleAttr role = dots.empty() ? RoleAttr() : lookUpRole(*dots.begin());
  if (!role)
    return;
  Trip trip(body);
  std::optional<LoopProblem> made =
      makeProblem(trip, plan, ProblemUse::Solve, chip, role.getName());
  if (!made) {
    loop->emitRemark() << "unknown: a figure is missing, or an op has several roles";
    return;
  }
  made->problem.mostStages = mostStages;
  unsigned number =
      llvm::find_if(made->problem.roles, [&](auto &its) { return its.name == role.getName(); }) -
      made->problem.roles.begin();
  if (parts > 1)
    return printParts(loop, *made, number);
  schedule::Violation why;
  std::optional<schedule::Proven> proven = schedule::ExactSolver().prove(made->problem, &why);
  if (!proven) {
    loop->emitRemark() << "no schedule: " << why.str();
    return;
  }
  std::optional<schedule::Solution> swing = schedule::SwingModuloScheduler().solve(made->problem);
  InFlightDiagnostic remark = loop->emitRemark() << "a trip takes ";
  if (swing)
    remark << swing->interval << " cycles by swing modulo scheduling, ";
  remark << proven->solution.interval << " at best, " << getBound(*proven);
  remark.report();
  for (auto [op, its] : llvm::enumerate(proven->solution.ops))
    if (made->isDot(op)) {
      InFlightDiagnostic at = made->ops[op]->emitRemark() << "stage " << its.stage;
      if (its.inFlight)
        at << ", " << *its.inFlight << " in flight";
    }
}

void PrintSchedules::printParts(Operation *loop, const LoopProblem &made, unsigned role) {
  schedule::Problem parted = schedule::partRole(made.problem, role, parts);
  schedule::Violation why;
  std::optional<schedule::Proven> proven = schedule::ExactSolver().prove(parted, &why);
  if (!proven) {
    loop->emitRemark() << "no schedule: " << why.str();
    return;
  }
  const schedule::Solution &found = proven->solution;
  InFlightDiagnostic remark = loop->emitRemark()
                              << "a trip of " << int64_t(parts) << " groups takes "
                              << found.interval << " cycles at best, " << getBound(*proven);
  for (unsigned other = made.problem.roles.size(); other < parted.roles.size(); ++other) {
    int64_t behind = (found.origins[other] - found.origins[role]) % found.interval;
    behind += behind < 0 ? found.interval : 0;
    remark << "; '" << parted.roles[other].name << "' begins " << behind << " behind '"
           << parted.roles[role].name << "'";
  }
}

void PrintSchedules::runOnOperation() {
  FailureOr<TargetInterface> target = requireTarget(getOperation());
  std::string missing = schedule::ExactSolver::whyMissing();
  if (!missing.empty())
    emitError(UnknownLoc::get(&getContext())) << missing;
  if (failed(target) || !missing.empty())
    return signalPassFailure();
  for (KernelOp kernel : getOperation().getOps<KernelOp>()) {
    FailureOr<RingPlan> plan = planRings(kernel);
    if (failed(plan))
      return signalPassFailure();
    kernel.getBody().walk([&](Operation *op) {
      if (isa<scf::ForOp, scf::WhileOp>(op))
        print(op, *plan, target->getChipRecord());
    });
  }
  markAllAnalysesPreserved();
}
