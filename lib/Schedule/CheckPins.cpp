// Whether what is pinned of a loop can hold, and what to say if it cannot.
#include "LoopProblem.h"
#include "kiln/Schedule/Problem/Complete.h"
#include "kiln/Schedule/Problem/Solution.h"

using namespace mlir;
using namespace kiln;

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

PinsChecked kiln::checkPins(Operation *loop, RingPlan &plan, const Chip &chip) {
  PinsChecked checked;
  Trip trip(loop->getRegions().back().front());
  std::optional<LoopProblem> made = makeProblem(trip, plan, ProblemUse::Check, chip);
  if (!made || made->ops.empty())
    return checked;
  checked.made = std::move(*made);
  std::optional<schedule::Problem> pinned = schedule::completePins(checked.made.problem);
  if (!pinned)
    return checked;
  checked.isKnown = true;
  beginAtZero(*pinned);
  schedule::Violation why;
  std::optional<schedule::Solution> solution = schedule::placePinned(*pinned, &why);
  checked.wrong = solution ? schedule::verify(*pinned, *solution) : std::optional(why);
  llvm::append_range(checked.placed, pinned->ops);
  return checked;
}

std::string kiln::describe(const schedule::Violation &why) {
  StringRef limit = why.limit;
  limit.consume_front("expected ");
  bool isNumber = limit.starts_with("at least") || limit.starts_with("less than") ||
                  limit.starts_with("more than") ||
                  (limit.starts_with("at most") && why.decision == "in_flight");
  std::string article = why.decision == "order" || why.decision == "in_flight" ? "an " : "a ";
  isNumber |= limit.contains(", to which it is pinned, ");
  return "expected " + (isNumber ? article + why.decision + " of " : "") + limit.str();
}

void kiln::noteOthers(InFlightDiagnostic &error, const schedule::Violation &why,
                      const schedule::Problem &problem, ArrayRef<Operation *> ops) {
  for (unsigned other : why.others) {
    const schedule::Op &op = problem.ops[other];
    Diagnostic &note = error.attachNote(ops[other]->getLoc()) << "'" << op.name << "'";
    if (op.pins.stage)
      note << " of stage " << *op.pins.stage;
    if (op.pins.role && problem.roles.size() > 1)
      note << " in role \"" << problem.roles[*op.pins.role].name << '"';
  }
}
