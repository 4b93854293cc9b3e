// Whether the trips of all roles, with the waits of their rings, ever come to an end.
//
// A circle of waits of distance 0 or less waits for itself, and each deadlock is such a circle
// (Commoner, Holt, Even, Pnueli, "Marked Directed Graphs", 1971: a circle needs a token).
#include "Waits.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"

using namespace kiln::schedule;
using llvm::ArrayRef;
using llvm::SmallVector;

/// A circle of distance 0 or less, first to last; none if there is none. Edges weigh their distance
/// times more than any circle has edges, less 1, so that such a circle alone weighs less than 0
/// (Bellman and Ford).
static SmallVector<Wait> findCircle(ArrayRef<Wait> waits, size_t count) {
  SmallVector<int64_t> weights(count, 0);
  SmallVector<const Wait *> last(count, nullptr);
  auto relax = [&] {
    std::optional<unsigned> changed;
    for (const Wait &wait : waits) {
      int64_t weight = weights[wait.from] + wait.distance * int64_t(count + 1) - 1;
      if (weight >= weights[wait.to])
        continue;
      weights[wait.to] = weight;
      last[wait.to] = &wait;
      changed = wait.to;
    }
    return changed;
  };
  std::optional<unsigned> changed;
  for (size_t round = 0; round <= count; ++round) {
    changed = relax();
    if (!changed)
      return {};
  }
  // Far enough back from what changes still, one is on the circle.
  unsigned on = *changed;
  for (size_t step = 0; step < count; ++step)
    on = last[on]->from;
  SmallVector<Wait> circle;
  for (unsigned at = on; circle.empty() || at != on; at = last[at]->from)
    circle.push_back(*last[at]);
  std::reverse(circle.begin(), circle.end());
  return circle;
}

/// The ring of a circle whose slots are too few.
static std::optional<unsigned> findRing(ArrayRef<Wait> circle) {
  for (const Wait &wait : circle)
    if (wait.ring)
      return wait.ring;
  return std::nullopt;
}

namespace {
/// The slots of a ring with which no circle goes through it, if there is one with so many as it
/// has; and the circle that there is then.
struct Deepened {
  int64_t depth;
  SmallVector<Wait> circle;
};
} // namespace

static Deepened deepen(const Problem &problem, Solution solution, const Steady &steady,
                       unsigned ring, SmallVector<Wait> circle) {
  while (findRing(circle) == ring) {
    int64_t distance = 0;
    for (const Wait &wait : circle)
      distance += wait.distance;
    solution.ops[ring].depth += 1 - distance;
    Waits waits = getWaits(problem, solution, steady);
    circle = findCircle(waits.waits, waits.waiters.size());
  }
  return {solution.ops[ring].depth, circle};
}

static std::string getName(const Problem &problem, const Waiter &waiter) {
  if (waiter.kind == Waiter::Meeting)
    return "all copies of '" + problem.roles[waiter.index].name + "'";
  std::string name = "'" + problem.ops[waiter.index].name + "'";
  return waiter.kind == Waiter::Last ? name + " of the last copy" : name;
}

std::optional<Violation> kiln::schedule::findDeadlock(const Problem &problem,
                                                      const Solution &solution,
                                                      const Steady &steady) {
  Waits found = getWaits(problem, solution, steady);
  SmallVector<Wait> circle = findCircle(found.waits, found.waiters.size());
  if (circle.empty())
    return std::nullopt;
  std::optional<unsigned> ring = findRing(circle);
  Deepened deepened = ring ? deepen(problem, solution, steady, *ring, circle) : Deepened{0, circle};
  // No slots help against others.
  if (ring && !deepened.circle.empty() && !findRing(deepened.circle)) {
    circle = deepened.circle;
    ring.reset();
  }
  std::string names;
  std::optional<unsigned> lagging;
  llvm::SmallSetVector<unsigned, 8> ops;
  for (const Wait &wait : circle) {
    const Waiter &waiter = found.waiters[wait.from];
    if (waiter.kind == Waiter::Meeting)
      lagging = waiter.index;
    else
      ops.insert(waiter.index);
    names += getName(problem, waiter) + " -> ";
  }
  names += getName(problem, found.waiters[circle.back().to]);
  Violation violation;
  if (ring)
    violation = problem.at(*ring, "depth",
                           "expected at least " + std::to_string(deepened.depth) +
                               ", since with fewer slots the roles wait for one another: " + names +
                               ", got " + std::to_string(solution.ops[*ring].depth));
  else if (lagging)
    violation = problem.at(ops.front(), "skew",
                           "expected no skew of role '" + problem.roles[*lagging].name +
                               "', whose copies and other roles wait for one another: " + names);
  else
    violation = problem.at(ops.front(), "order",
                           "expected roles that do not wait for one another, got " + names);
  if (ring)
    violation.leastDepth = deepened.depth;
  violation.others = ops.takeVector();
  return violation;
}
