// Whether the trips of all roles, with the waits of their rings, ever come to an end.
//
// Each op of each iteration waits for others: for the op in front of it in its role, for what it
// uses, and, where it fills a slot, for that slot's last release. If op v of iteration i + d waits
// for op u of iteration i, that is an edge u -> v of distance d. A circle of distance 0 or less
// waits for itself, and each deadlock is such a circle (Commoner, Holt, Even, Pnueli, "Marked
// Directed Graphs", 1971: a circle needs a token).
#include "Steady.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"

using namespace kiln::schedule;
using llvm::ArrayRef;
using llvm::SmallVector;

namespace {
struct Wait {
  unsigned from, to;
  int64_t distance;
  /// The maker whose ring's depth the wait is by, if it is for a free slot.
  std::optional<unsigned> ring;
};
} // namespace

static SmallVector<Wait> getWaits(const Problem &problem, const Solution &solution,
                                  const Steady &steady) {
  SmallVector<Wait> waits;
  for (unsigned role = 0; role < problem.roles.size(); ++role) {
    ArrayRef<unsigned> sequence = steady.getSequence(role);
    for (size_t i = 0; i + 1 < sequence.size(); ++i)
      waits.push_back({sequence[i], sequence[i + 1],
                       solution.ops[sequence[i]].stage - solution.ops[sequence[i + 1]].stage,
                       std::nullopt});
    if (!sequence.empty() && problem.isLoop)
      waits.push_back(
          {sequence.back(), sequence.front(),
           solution.ops[sequence.back()].stage + 1 - solution.ops[sequence.front()].stage,
           std::nullopt});
  }
  for (const Dependence &each : problem.dependences) {
    if (!steady.isReadFromRing(each))
      continue;
    waits.push_back({each.from, each.to, each.distance, std::nullopt});
    if (Event free = steady.getDone(each.to); problem.isLoop)
      waits.push_back({free.op, each.from,
                       solution.ops[each.from].depth - each.distance - free.distance, each.from});
  }
  return waits;
}

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

std::optional<Violation> kiln::schedule::findDeadlock(const Problem &problem,
                                                      const Solution &solution,
                                                      const Steady &steady) {
  SmallVector<Wait> circle = findCircle(getWaits(problem, solution, steady), problem.ops.size());
  if (circle.empty())
    return std::nullopt;
  std::string names;
  int64_t distance = 0;
  std::optional<unsigned> ring;
  llvm::SmallSetVector<unsigned, 8> ops;
  for (const Wait &wait : circle) {
    ops.insert(wait.from);
    names += "'" + problem.ops[wait.from].name + "' -> ";
    distance += wait.distance;
    ring = ring ? ring : wait.ring;
  }
  names += "'" + problem.ops[circle.back().to].name + "'";
  Violation violation =
      ring ? problem.at(*ring, "depth",
                        "expected at least " +
                            std::to_string(solution.ops[*ring].depth + 1 - distance) +
                            ", since with fewer slots the roles wait for one another: " + names +
                            ", got " + std::to_string(solution.ops[*ring].depth))
           : problem.at(circle.front().from, "order",
                        "expected roles that do not wait for one another, got " + names);
  violation.others = ops.takeVector();
  return violation;
}
