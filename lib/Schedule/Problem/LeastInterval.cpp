// Lower bounds of the interval.
#include "Graph.h"
#include "kiln/Schedule/Problem/Solver.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/MathExtras.h"

using namespace kiln::schedule;

static int64_t getLeastByUnits(const Problem &problem, llvm::ArrayRef<unsigned> roles) {
  llvm::DenseMap<std::pair<unsigned, unsigned>, int64_t> cycles;
  int64_t least = 1;
  for (auto [op, role] : llvm::zip(problem.ops, roles))
    for (const Reservation &each : op.reservations) {
      const Unit &unit = problem.units[each.unit];
      int64_t &sum = cycles[{each.unit, unit.isPerRole ? role : 0}];
      least = std::max<int64_t>(least, llvm::divideCeil(sum += each.cycles, unit.count));
    }
  return least;
}

std::optional<LeastInterval> kiln::schedule::getLeastInterval(const Problem &problem,
                                                              llvm::ArrayRef<unsigned> roles,
                                                              Violation *why) {
  Graph graph(problem, roles);
  int64_t steps = 0, least = 1, most = graph.getLongInterval();
  llvm::SmallVector<Edge> circle;
  if (!graph.findEarliest(most, steps, &circle)) {
    if (why)
      *why = graph.describe(circle);
    return std::nullopt;
  }
  while (least < most) {
    int64_t middle = (least + most) / 2;
    if (graph.isFeasible(middle, steps))
      most = middle;
    else
      least = middle + 1;
  }
  return LeastInterval{getLeastByUnits(problem, roles), least};
}
