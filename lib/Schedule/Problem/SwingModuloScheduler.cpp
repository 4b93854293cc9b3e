// The search for the interval, and what follows from the starts that are found at one.
#include "Placer.h"
#include "kiln/Schedule/Problem/Complete.h"
#include "kiln/Schedule/Problem/Solver.h"
#include "llvm/ADT/STLExtras.h"

using namespace kiln::schedule;
using llvm::SmallVector;

namespace {
class Search {
public:
  Search(const Problem &problem, SmallVector<unsigned> roles, int64_t mostSteps)
      : problem(problem), roles(std::move(roles)), mostSteps(mostSteps),
        pinned(problem, this->roles) {}
  std::optional<Solution> run();
  /// Why the last try failed.
  const Violation &getViolation() const { return violation; }

private:
  Solution shorten(int64_t failed, Solution best);
  std::optional<Solution> tryInterval(int64_t interval);
  std::optional<Solution> tryOrder(Graph graph, int64_t interval, bool isSwing);
  std::optional<Solution> place(const Graph &graph, int64_t interval, bool isSwing);
  SmallVector<Edge> findBroken(const Solution &solution) const;
  bool isSpent() const { return steps > mostSteps; }

  const Problem &problem;
  SmallVector<unsigned> roles;
  int64_t mostSteps, steps = 0;
  /// The conditions that hold at each interval.
  Graph pinned;
  Violation violation;
};
} // namespace

/// How often one interval is tried with one more condition.
static constexpr int kMostRounds = 16;
/// How often an order is tried again with the op in front that found no cycle.
static constexpr int kMostRestarts = 8;

/// The conditions that waits ask for and the starts do not hold.
SmallVector<Edge> Search::findBroken(const Solution &solution) const {
  Steady steady(problem, solution);
  SmallVector<Edge> broken;
  for (const Condition &each : steady.getReleaseConditions())
    if (!steady.holds(each))
      broken.push_back({each, "", 0});
  for (unsigned op = 0; op < problem.ops.size(); ++op)
    if (problem.ops[op].completion == Completion::Counted && steady.getChainEnd(op) == op)
      if (std::optional<Breach> late = steady.findLateWork(op))
        broken.push_back({late->condition, "", 0});
  return broken;
}

std::optional<Solution> Search::place(const Graph &graph, int64_t interval, bool isSwing) {
  std::optional<Mobility> mobility = findMobility(graph, interval, steps);
  if (!mobility)
    return std::nullopt;
  SmallVector<unsigned> order = isSwing ? getSwingOrder(problem, graph, *mobility, steps)
                                        : getListOrder(problem, graph, *mobility, interval);
  for (int restart = 0; restart <= kMostRestarts; ++restart) {
    Placer placer(problem, roles, graph, *mobility, interval, steps);
    std::optional<unsigned> stuck = placer.placeAll(order, !isSwing);
    if (!stuck) {
      Solution solution = placer.getSolution();
      setMostInFlight(problem, solution);
      setLeastDepths(problem, solution);
      return solution;
    }
    violation = problem.at(*stuck, "start",
                           "expected a cycle that its units and its pins leave it, got none in an "
                           "interval of " +
                               std::to_string(interval));
    auto *at = llvm::find(order, *stuck);
    std::rotate(order.begin(), at, std::next(at));
  }
  return std::nullopt;
}

std::optional<Solution> Search::tryOrder(Graph graph, int64_t interval, bool isSwing) {
  for (int round = 0; round < kMostRounds && !isSpent(); ++round) {
    std::optional<Solution> solution = place(graph, interval, isSwing);
    if (!solution)
      return std::nullopt;
    std::optional<Violation> found = verify(problem, *solution);
    if (!found)
      return solution;
    violation = *found;
    SmallVector<Edge> broken = findBroken(*solution);
    if (broken.empty())
      return std::nullopt;
    llvm::for_each(broken, [&](const Edge &edge) { graph.add(edge); });
  }
  return std::nullopt;
}

std::optional<Solution> Search::tryInterval(int64_t interval) {
  Graph graph = pinned;
  if (std::optional<unsigned> stuck = graph.decideStages(interval, steps)) {
    violation = problem.at(*stuck, "order",
                           "expected a pin that leaves it a stage, got " +
                               std::to_string(*problem.ops[*stuck].pins.order) +
                               " in an interval of " + std::to_string(interval));
    return std::nullopt;
  }
  for (bool isSwing : {true, false})
    if (std::optional<Solution> solution = tryOrder(graph, interval, isSwing))
      return solution;
  return std::nullopt;
}

/// Looks between an interval that failed and one that did not for a shorter one.
Solution Search::shorten(int64_t failed, Solution best) {
  while (best.interval - failed > 1 && !isSpent()) {
    int64_t middle = failed + (best.interval - failed) / 2;
    if (std::optional<Solution> solution = tryInterval(middle))
      best = *solution;
    else
      failed = middle;
  }
  return best;
}

std::optional<Solution> Search::run() {
  std::optional<LeastInterval> least = getLeastInterval(problem, roles, &violation);
  if (!least)
    return std::nullopt;
  int64_t most = least->get() + pinned.getLongInterval(), failed = least->get() - 1;
  for (int64_t interval = failed + 1; interval <= most; interval += 1 + interval / 64) {
    if (std::optional<Solution> solution = tryInterval(interval))
      return shorten(failed, *solution);
    failed = interval;
    if (isSpent()) {
      violation = {std::nullopt, "", "interval",
                   "expected a schedule within " + std::to_string(mostSteps) +
                       " steps, got none up to an interval of " + std::to_string(interval) +
                       "; there, " + violation.str()};
      return std::nullopt;
    }
  }
  return std::nullopt;
}

std::optional<Solution> SwingModuloScheduler::solve(const Problem &problem, Violation *why) const {
  Violation violation;
  auto fail = [&](const Violation &found) {
    if (why)
      *why = found;
    return std::nullopt;
  };
  if (std::optional<Violation> found = check(problem))
    return fail(*found);
  std::optional<SmallVector<unsigned>> roles = assignRoles(problem, &violation);
  if (!roles)
    return fail(violation);
  Problem completed = problem;
  if (options.completes) {
    for (auto [op, role] : llvm::zip(completed.ops, *roles))
      op.pins.role = role;
    std::optional<Problem> all = completePins(completed, &violation);
    if (!all)
      return fail(violation);
    completed = *all;
  }
  Search search(completed, *roles, options.mostSteps);
  std::optional<Solution> solution = search.run();
  return solution ? solution : fail(search.getViolation());
}
