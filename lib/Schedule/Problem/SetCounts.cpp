// What starts and stages leave to choose: orders, then counts in flight, then depths.
#include "Steady.h"
#include "llvm/ADT/STLExtras.h"

using namespace kiln::schedule;
using llvm::SmallVector;

void kiln::schedule::setOrders(const Problem &problem, Solution &solution, unsigned role) {
  auto getRow = [&](unsigned op) {
    const Placement &its = solution.ops[op];
    return std::pair(its.start - solution.origins[role] - its.stage * solution.interval, op);
  };
  SmallVector<unsigned> left;
  for (unsigned op = 0; op < problem.ops.size(); ++op)
    if (solution.ops[op].role == role)
      left.push_back(op);
  llvm::sort(left, [&](unsigned x, unsigned y) { return getRow(x) < getRow(y); });
  for (int64_t order = 0; !left.empty(); ++order) {
    auto isNext = [&](unsigned op) {
      return llvm::none_of(problem.dependences, [&](const Dependence &each) {
        return each.to == op && each.from != op && llvm::is_contained(left, each.from) &&
               solution.ops[op].stage + each.distance == solution.ops[each.from].stage;
      });
    };
    auto *next = llvm::find_if(left, isNext);
    solution.ops[*next].order = order;
    left.erase(next);
  }
}

void kiln::schedule::setMostInFlight(const Problem &problem, Solution &solution) {
  Steady steady(problem, solution);
  SmallVector<std::optional<int64_t>> pins(problem.ops.size());
  for (unsigned op = 0; op < problem.ops.size(); ++op)
    if (std::optional<int64_t> pin = problem.ops[op].pins.inFlight)
      pins[steady.getChainEnd(op)] = pin;
  for (auto [op, placement] : llvm::enumerate(solution.ops)) {
    if (problem.ops[op].completion != Completion::Counted)
      continue;
    unsigned end = steady.getChainEnd(op);
    const Counter &counter = problem.counters[problem.ops[op].counter];
    placement.inFlight = pins[end].value_or(
        std::min(steady.getMostInFlight(end), counter.limit.value_or(kMostTrips)));
  }
}

void kiln::schedule::setLeastDepths(const Problem &problem, Solution &solution) {
  Steady steady(problem, solution);
  for (auto [op, placement] : llvm::enumerate(solution.ops))
    if (steady.hasRing(op))
      placement.depth = problem.isContinued(op)
                            ? 1
                            : problem.ops[op].pins.depth.value_or(steady.getLeastDepth(op));
}
