// Starts for a schedule that is pinned: stages and orders say all but the cycles.
#include "Graph.h"
#include "llvm/ADT/STLExtras.h"

using namespace kiln::schedule;
using llvm::SmallVector;

/// Roles, stages, and orders that count from 0, as they are pinned; every op at cycle 0.
static std::optional<Violation> takePins(const Problem &problem, Solution &solution) {
  solution.origins.assign(problem.roles.size(), 0);
  SmallVector<SmallVector<unsigned>> sequences(problem.roles.size());
  for (auto [index, op] : llvm::enumerate(problem.ops)) {
    if (!op.pins.role || !op.pins.stage || !op.pins.order)
      return problem.at(index, "order",
                        "expected a role, a stage and an order, all of them pinned");
    Placement &placement = solution.ops.emplace_back();
    placement.role = *op.pins.role;
    placement.stage = *op.pins.stage;
    sequences[placement.role].push_back(index);
  }
  for (SmallVector<unsigned> &sequence : sequences) {
    llvm::sort(sequence, [&](unsigned x, unsigned y) {
      return std::pair(*problem.ops[x].pins.order, x) < std::pair(*problem.ops[y].pins.order, y);
    });
    for (auto [order, op] : llvm::enumerate(sequence))
      solution.ops[op].order = order;
  }
  return std::nullopt;
}

/// Rings have the depth that is pinned, or one slot; waits leave as much under way as is pinned, or
/// as has started since.
static void setCounts(const Problem &problem, Solution &solution) {
  Steady steady(problem, solution);
  SmallVector<std::optional<int64_t>> pins(problem.ops.size());
  for (auto [index, op] : llvm::enumerate(problem.ops))
    if (op.pins.inFlight)
      pins[steady.getChainEnd(index)] = op.pins.inFlight;
  for (auto [index, op] : llvm::enumerate(problem.ops)) {
    Placement &placement = solution.ops[index];
    if (steady.hasRing(index))
      placement.depth = problem.isContinued(index) ? 1 : op.pins.depth.value_or(1);
    if (op.completion != Completion::Counted)
      continue;
    unsigned end = steady.getChainEnd(index);
    placement.inFlight = pins[end].value_or(steady.countLater(end));
  }
}

std::optional<Solution> kiln::schedule::placePinned(const Problem &problem, Violation *why) {
  auto fail = [&](const Violation &found) {
    if (why)
      *why = found;
    return std::nullopt;
  };
  Solution solution;
  std::optional<Violation> found = check(problem);
  if (!found)
    found = takePins(problem, solution);
  if (found)
    return fail(*found);
  setCounts(problem, solution);
  Steady steady(problem, solution);
  found = findDeadlock(problem, solution, steady);
  if (found)
    return fail(*found);

  SmallVector<unsigned> roles;
  for (const Placement &placement : solution.ops)
    roles.push_back(placement.role);
  Graph graph(problem, roles);
  for (const Condition &each : steady.getReleaseConditions())
    graph.add({each, "", 0});
  solution.interval = graph.getLongInterval();
  int64_t steps = 0;
  SmallVector<Edge> circle;
  std::optional<SmallVector<int64_t>> starts =
      graph.findEarliest(solution.interval, steps, &circle);
  if (!starts)
    return fail(graph.describe(circle));
  for (auto [index, placement] : llvm::enumerate(solution.ops))
    placement.start = (*starts)[index];
  for (unsigned role = 0; role < problem.roles.size(); ++role)
    if (graph.hasBegin(role))
      solution.origins[role] = (*starts)[graph.getBegin(role)];
  return solution;
}
