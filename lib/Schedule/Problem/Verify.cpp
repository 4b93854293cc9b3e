// Holds a solution against its problem, limit by limit: first what it says, then the waits that
// follow, then cycles, then budgets.
#include "Steady.h"
#include "UnitTable.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/Support/MathExtras.h"

using namespace kiln::schedule;
using llvm::ArrayRef;
using llvm::StringRef;

static std::string text(int64_t number) { return std::to_string(number); }

/// How far from cycle 0 an op of iteration 0 may start.
static constexpr int64_t kMostStart = kMostInterval * kMostTrips;

namespace {
class Verifier {
public:
  Verifier(const Problem &problem, const Solution &solution)
      : problem(problem), solution(solution) {}
  std::optional<Violation> run();

private:
  /// These remember the first thing that is wrong, and say whether there was nothing.
  bool fail(Violation found) {
    violation = std::move(found);
    return false;
  }
  bool checkShape();
  bool checkPin(unsigned op, StringRef decision, std::optional<int64_t> pin, int64_t got);
  bool checkOrderPins(unsigned op);
  bool checkRole(unsigned op);
  bool checkStage(unsigned op);
  bool checkSequences(const Steady &steady);
  bool checkTrip(const Steady &steady, const Dependence &dependence);
  bool checkRing(const Steady &steady, unsigned op);
  bool checkInFlight(const Steady &steady, unsigned op);
  bool checkStart(const Steady &steady, const Dependence &dependence);
  bool checkReuse(const Steady &steady, unsigned op);
  bool checkUnits();
  bool checkBudgets();
  bool checkBudget(StringRef what, int64_t demand, std::optional<int64_t> budget,
                   llvm::function_ref<int64_t(const Op &)> getPart);

  template <typename Check>
  bool checkAll(Check check) {
    return llvm::all_of(llvm::seq<unsigned>(0, problem.ops.size()), check);
  }
  template <typename Check>
  bool checkDependences(Check check) {
    return llvm::all_of(problem.dependences, check);
  }
  StringRef getName(unsigned op) const { return problem.ops[op].name; }
  const Placement &at(unsigned op) const { return solution.ops[op]; }
  std::string quote(unsigned op) const { return "'" + problem.ops[op].name + "'"; }

  const Problem &problem;
  const Solution &solution;
  std::optional<Violation> violation;
};
} // namespace

//===- What a solution says -----------------------------------------------------------------===//

bool Verifier::checkShape() {
  if (solution.interval < 1 || solution.interval > kMostInterval)
    return fail(
        {std::nullopt, "", "interval",
         "expected 1 to " + text(kMostInterval) + " cycles, got " + text(solution.interval)});
  if (solution.ops.size() != problem.ops.size())
    return fail({std::nullopt, "", "solution",
                 "expected " + text(problem.ops.size()) + " placements, one an op, got " +
                     text(solution.ops.size())});
  if (solution.origins.size() != problem.roles.size())
    return fail({std::nullopt, "", "solution",
                 "expected " + text(problem.roles.size()) + " origins, one a role, got " +
                     text(solution.origins.size())});
  for (auto [role, origin] : llvm::zip(problem.roles, solution.origins))
    if (std::abs(origin) > kMostStart)
      return fail({std::nullopt, role.name, "origin",
                   "expected a cycle within " + text(kMostStart) + ", got " + text(origin)});
  return checkAll([&](unsigned op) {
    return (std::abs(at(op).start) <= kMostStart) ||
           fail(problem.at(op, "start",
                           "expected a cycle within " + text(kMostStart) + ", got " +
                               text(at(op).start)));
  });
}

bool Verifier::checkPin(unsigned op, StringRef decision, std::optional<int64_t> pin, int64_t got) {
  return !pin || *pin == got ||
         fail(problem.at(op, decision,
                         "expected " + text(*pin) + ", to which it is pinned, got " + text(got)));
}

bool Verifier::checkRole(unsigned op) {
  unsigned role = at(op).role;
  if (role >= problem.roles.size())
    return fail(problem.at(op, "role",
                           "expected one of the " + text(problem.roles.size()) +
                               " that there are, got " + text(role)));
  int64_t warps = problem.roles[role].warps, multiple = problem.ops[op].warpMultiple;
  if (warps % multiple)
    return fail(problem.at(op, "role",
                           "expected one with a multiple of " + text(multiple) + " warps, got '" +
                               problem.roles[role].name + "' with " + text(warps)));
  return checkPin(op, "role", problem.ops[op].pins.role, role);
}

bool Verifier::checkOrderPins(unsigned op) {
  const Pins &pins = problem.ops[op].pins;
  if (!pins.order)
    return true;
  for (auto [other, its] : llvm::enumerate(problem.ops))
    if (its.pins.order && at(op).role == at(other).role && *pins.order < *its.pins.order &&
        at(op).order > at(other).order)
      return fail(problem.at(op, "order",
                             "expected to be in front of " + quote(other) +
                                 ", since they are pinned to " + text(*pins.order) + " and " +
                                 text(*its.pins.order) + ", got " + text(at(op).order) + " and " +
                                 text(at(other).order)));
  return true;
}

bool Verifier::checkStage(unsigned op) {
  const Placement &own = at(op);
  int64_t since = own.start - solution.origins[own.role];
  int64_t stage = llvm::divideFloorSigned(since, solution.interval);
  if (own.stage != stage || stage < 0)
    return fail(problem.at(op, "stage",
                           "expected " + text(std::max<int64_t>(stage, 0)) + ", as it starts " +
                               text(since) + " cycles behind its role's origin in an interval of " +
                               text(solution.interval) + ", got " + text(own.stage)));
  int64_t most = problem.isLoop ? problem.mostStages.value_or(kMostTrips) : 1;
  if (stage >= most)
    return fail(problem.at(op, "stage",
                           "expected less than the " + text(most) + " that a role may have, got " +
                               text(stage)));
  return checkPin(op, "stage", problem.ops[op].pins.stage, stage);
}

/// Orders count from 0 and follow the starts; some op of a role is at stage 0.
bool Verifier::checkSequences(const Steady &steady) {
  for (unsigned role = 0; role < problem.roles.size(); ++role) {
    ArrayRef<unsigned> sequence = steady.getSequence(role);
    auto isFirst = [&](unsigned op) { return at(op).stage == 0; };
    if (!sequence.empty() && llvm::none_of(sequence, isFirst)) {
      // What was said is to blame for what follows from it.
      const auto *pinned = llvm::find_if(
          sequence, [&](unsigned op) { return problem.ops[op].pins.stage.has_value(); });
      unsigned blamed = pinned == sequence.end() ? sequence.front() : *pinned;
      return fail(problem.at(blamed, "stage",
                             "expected stages that begin with 0 in role '" +
                                 problem.roles[role].name + "', got " + text(at(blamed).stage)));
    }
    for (auto [place, op] : llvm::enumerate(sequence)) {
      if (at(op).order != int64_t(place))
        return fail(problem.at(op, "order",
                               "expected orders of role '" + problem.roles[role].name +
                                   "' to count from 0, each once, got " + text(at(op).order) +
                                   " as number " + text(place)));
      if (place > 0 && steady.getRow(sequence[place - 1]) > steady.getRow(op))
        return fail(problem.at(op, "order",
                               "expected one in front of " + quote(sequence[place - 1]) +
                                   ", which starts later in a trip, got " + text(at(op).order)));
    }
  }
  return true;
}

/// Within a role an op stands behind what it needs. What lies between roles needs a ring.
bool Verifier::checkTrip(const Steady &steady, const Dependence &dependence) {
  unsigned from = dependence.from, to = dependence.to;
  if (steady.crossesRoles(dependence))
    return (dependence.kind == Dependence::Value && problem.ops[from].canBeHandedOver()) ||
           fail(problem.at(to, "role",
                           "expected '" + problem.roles[at(from).role].name + "', as of " +
                               quote(from) +
                               ", since no ring can hand on what is between them, got '" +
                               problem.roles[at(to).role].name + "'"));
  int64_t lag = at(to).stage + dependence.distance - at(from).stage;
  if (lag < 0)
    return fail(problem.at(to, "stage",
                           "expected at least " + text(at(from).stage - dependence.distance) +
                               ", as " + quote(from) + ", which it needs, is at stage " +
                               text(at(from).stage) + ", got " + text(at(to).stage)));
  return lag > 0 || at(from).order < at(to).order ||
         fail(problem.at(to, "order",
                         "expected more than " + text(at(from).order) + ", that of " + quote(from) +
                             ", which it needs in the same trip, got " + text(at(to).order)));
}

bool Verifier::checkRing(const Steady &steady, unsigned op) {
  int64_t depth = at(op).depth;
  if (!steady.hasRing(op)) {
    int64_t got = problem.ops[op].pins.depth.value_or(depth);
    return got == 0 ||
           fail(problem.at(op, "depth",
                           "expected none, since no ring holds the result, got " + text(got)));
  }
  if (!checkPin(op, "depth", problem.ops[op].pins.depth, depth))
    return false;
  if (depth < 1 || depth > kMostTrips)
    return fail(problem.at(op, "depth",
                           "expected 1 to " + text(kMostTrips) + " slots, got " + text(depth)));
  return depth == 1 || !problem.isContinued(op) ||
         fail(problem.at(op, "depth",
                         "expected 1, since the next iteration continues the result in its place, "
                         "got " +
                             text(depth)));
}

bool Verifier::checkInFlight(const Steady &steady, unsigned op) {
  std::optional<int64_t> inFlight = at(op).inFlight;
  if (problem.ops[op].completion != Completion::Counted)
    return !inFlight ||
           fail(problem.at(op, "in_flight", "expected none, since the op is not counted"));
  if (!inFlight || *inFlight < 0 || *inFlight > kMostTrips)
    return fail(problem.at(op, "in_flight",
                           "expected a count from 0 to " + text(kMostTrips) +
                               (inFlight ? ", got " + text(*inFlight) : "")));
  const Counter &counter = problem.counters[problem.ops[op].counter];
  if (*inFlight > counter.limit.value_or(kMostTrips))
    return fail(problem.at(op, "in_flight",
                           "expected at most " + text(*counter.limit) +
                               ", the most that a wait for '" + counter.name + "' can name, got " +
                               text(*inFlight)));
  unsigned end = steady.getChainEnd(op);
  if (at(end).inFlight != inFlight)
    return fail(problem.at(op, "in_flight",
                           "expected that of " + quote(end) + ", which ends its chain, got " +
                               text(*inFlight)));
  int64_t later = steady.countLater(end);
  if (*inFlight > later && (!steady.isHeld(end) || !problem.isLoop))
    return fail(problem.at(op, "in_flight",
                           "expected at most " + text(later) + ", the starts of '" + counter.name +
                               "' before its result is used, got " + text(*inFlight)));
  return checkPin(op, "in_flight", problem.ops[op].pins.inFlight, *inFlight);
}

//===- Cycles -------------------------------------------------------------------------------===//

bool Verifier::checkStart(const Steady &steady, const Dependence &dependence) {
  unsigned from = dependence.from, to = dependence.to;
  bool crosses = steady.crossesRoles(dependence);
  int64_t behind = dependence.distance * solution.interval;
  int64_t least = at(from).start + problem.getLatency(dependence, crosses) - behind;
  return at(to).start >= least ||
         fail(problem.at(to, "start",
                         "expected cycle " + text(least) + " or later, when what it needs of " +
                             quote(from) + " is there, got " + text(at(to).start)));
}

bool Verifier::checkReuse(const Steady &steady, unsigned op) {
  if (!steady.hasRing(op) || !problem.isLoop)
    return true;
  int64_t least = steady.getLeastDepth(op);
  return at(op).depth >= least ||
         fail(problem.at(op, "depth",
                         "expected at least " + text(least) + ", since a slot is in use for " +
                             text(steady.getRelease(op).cycle - at(op).start) +
                             " cycles and one is filled every " + text(solution.interval) +
                             ", got " + text(at(op).depth)));
}

bool Verifier::checkUnits() {
  UnitTable table(problem, solution.interval);
  return checkAll([&](unsigned op) {
    table.place(op, at(op).role, at(op).start);
    const Unit *unit = table.findOverfull(op, at(op).role);
    return !unit ||
           fail(problem.at(op, "start",
                           "expected a cycle at which '" + unit->name + "' serves less than " +
                               text(unit->count) + " of the ops before it, in an interval of " +
                               text(solution.interval) + ", got " + text(at(op).start)));
  });
}

//===- Budgets ------------------------------------------------------------------------------===//

/// A budget that the rings share: the op that takes most of it is named.
bool Verifier::checkBudget(StringRef what, int64_t demand, std::optional<int64_t> budget,
                           llvm::function_ref<int64_t(const Op &)> getPart) {
  if (demand <= budget.value_or(demand))
    return true;
  auto getTotal = [&](unsigned op) { return at(op).depth * getPart(problem.ops[op]); };
  unsigned most = 0;
  for (unsigned op = 0; op < problem.ops.size(); ++op)
    if (getTotal(op) > getTotal(most))
      most = op;
  return fail(problem.at(most, "depth",
                         "expected rings of at most " + text(*budget) + " " + what.str() +
                             " together, got " + text(demand) + ", of which this one of " +
                             text(at(most).depth) + " slots ('depth') takes " +
                             text(getTotal(most))));
}

bool Verifier::checkBudgets() {
  Demand demand = getDemand(problem, solution);
  for (auto [role, bytes] : llvm::zip(problem.roles, demand.registerBytes))
    if (bytes > role.registerBytes.value_or(bytes)) {
      unsigned largest = 0;
      int64_t index = &role - problem.roles.begin();
      auto getBytes = [&](unsigned op) {
        return at(op).role == index ? problem.ops[op].registerBytes : -1;
      };
      for (unsigned op = 0; op < problem.ops.size(); ++op)
        if (getBytes(op) > getBytes(largest))
          largest = op;
      return fail(problem.at(largest, "stage",
                             "expected at most " + text(*role.registerBytes) +
                                 " bytes of registers in role '" + role.name +
                                 "', got results of " + text(bytes) +
                                 " at once by its copies, of which this op's is the largest"));
    }
  const Budget &budget = problem.budget;
  return checkBudget("bytes of shared memory", demand.sharedBytes, budget.sharedBytes,
                     [](const Op &op) { return op.bufferBytes; }) &&
         checkBudget("columns of tensor memory", demand.tensorColumns, budget.tensorColumns,
                     [](const Op &op) { return op.bufferColumns; }) &&
         checkBudget("named barriers", demand.namedBarriers, budget.namedBarriers,
                     [](const Op &op) { return op.slotBarriers; });
}

std::optional<Violation> Verifier::run() {
  if (!checkShape() || !checkAll([&](unsigned op) { return checkRole(op) && checkStage(op); }) ||
      !checkAll([&](unsigned op) { return checkOrderPins(op); }))
    return violation;
  Steady steady(problem, solution);
  auto checkOp = [&](unsigned op) { return checkRing(steady, op) && checkInFlight(steady, op); };
  auto isBehind = [&](const Dependence &each) { return checkTrip(steady, each); };
  if (!checkSequences(steady) || !checkDependences(isBehind) || !checkAll(checkOp))
    return violation;
  violation = findDeadlock(problem, solution, steady);
  if (violation)
    return violation;
  auto isLateEnough = [&](const Dependence &each) { return checkStart(steady, each); };
  auto waitsForDone = [&](unsigned op) {
    bool isWaitedFor =
        problem.ops[op].completion == Completion::Counted && steady.getChainEnd(op) == op;
    std::optional<Breach> late = isWaitedFor ? steady.findLateWork(op) : std::nullopt;
    return !late || fail(late->violation);
  };
  if (checkDependences(isLateEnough) && checkAll(waitsForDone) &&
      checkAll([&](unsigned op) { return checkReuse(steady, op); }) && checkUnits())
    checkBudgets();
  return violation;
}

std::optional<Violation> kiln::schedule::verify(const Problem &problem, const Solution &solution) {
  return Verifier(problem, solution).run();
}
