// All schedules of a small problem, one after another.
#ifndef KILN_TEST_SCHEDULE_PROBLEM_ALLSCHEDULES_H
#define KILN_TEST_SCHEDULE_PROBLEM_ALLSCHEDULES_H

#include "kiln/Schedule/Problem/Solution.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

namespace kiln::schedule {

/// Whether some schedule of an interval passes verify(), with starts so near to the first op's,
/// so few slots and so little under way.
class AllSchedules {
public:
  AllSchedules(const Problem &problem, int64_t interval, int64_t reach)
      : problem(problem), reach(reach) {
    solution.interval = interval;
    solution.ops.resize(problem.ops.size());
    solution.origins.assign(problem.roles.size(), 0);
  }
  bool hasAny() { return tryRole(0); }

private:
  bool tryRole(unsigned op) {
    if (op == problem.ops.size())
      return tryStart(0);
    for (unsigned role = 0; role < problem.roles.size(); ++role) {
      if (problem.ops[op].pins.role.value_or(role) != role)
        continue;
      solution.ops[op].role = role;
      if (tryRole(op + 1))
        return true;
    }
    return false;
  }
  bool tryStart(unsigned op) {
    if (op == problem.ops.size())
      return tryOrigin(0);
    for (int64_t start = op ? -reach : 0; start <= (op ? reach : 0); ++start) {
      solution.ops[op].start = start;
      if (areInTime(op) && tryStart(op + 1))
        return true;
    }
    return false;
  }
  /// What is needed is there, as far as its maker has a start.
  bool areInTime(unsigned last) const {
    return llvm::all_of(problem.dependences, [&](const Dependence &each) {
      if (each.from > last || each.to > last)
        return true;
      const Placement &from = solution.ops[each.from], &to = solution.ops[each.to];
      return to.start + each.distance * solution.interval >=
             from.start + problem.getLatency(each, from.role != to.role);
    });
  }
  bool tryOrigin(unsigned role) {
    if (role == problem.roles.size())
      return tryOrders(0);
    std::optional<int64_t> first;
    for (const Placement &each : solution.ops)
      if (each.role == role)
        first = std::min(first.value_or(each.start), each.start);
    if (!first)
      return tryOrigin(role + 1);
    for (int64_t back = 0; back < solution.interval; ++back) {
      solution.origins[role] = *first - back;
      for (Placement &each : solution.ops)
        if (each.role == role)
          each.stage =
              llvm::divideFloorSigned(each.start - solution.origins[role], solution.interval);
      if (tryOrigin(role + 1))
        return true;
    }
    return false;
  }
  /// All orders of a role's ops that do not contradict their rows.
  bool tryOrders(unsigned role) {
    if (role == problem.roles.size())
      return tryCounts(0);
    llvm::SmallVector<unsigned> sequence;
    for (unsigned op = 0; op < problem.ops.size(); ++op)
      if (solution.ops[op].role == role)
        sequence.push_back(op);
    auto getRow = [&](unsigned op) {
      return solution.ops[op].start - solution.origins[role] -
             solution.ops[op].stage * solution.interval;
    };
    do {
      auto pairs = llvm::zip(sequence, llvm::drop_begin(sequence));
      if (!sequence.empty() && !llvm::all_of(pairs, [&](auto pair) {
            return getRow(std::get<0>(pair)) <= getRow(std::get<1>(pair));
          }))
        continue;
      for (auto [order, op] : llvm::enumerate(sequence))
        solution.ops[op].order = order;
      if (tryOrders(role + 1))
        return true;
    } while (std::next_permutation(sequence.begin(), sequence.end()));
    return false;
  }
  bool tryCounts(unsigned op) {
    if (op == problem.ops.size())
      return tryDepths(0);
    solution.ops[op].inFlight.reset();
    if (problem.ops[op].completion != Completion::Counted)
      return tryCounts(op + 1);
    for (int64_t count = 0; count <= 3; ++count) {
      solution.ops[op].inFlight = count;
      if (tryCounts(op + 1))
        return true;
    }
    return false;
  }
  bool tryDepths(unsigned op) {
    if (op == problem.ops.size())
      return !verify(problem, solution);
    bool isRing = llvm::any_of(problem.dependences, [&](const Dependence &each) {
      bool crosses = solution.ops[each.from].role != solution.ops[each.to].role;
      return each.from == op && (crosses || problem.ops[op].isBuffered);
    });
    for (int64_t depth = isRing ? 4 : 0; depth >= 0; --depth) {
      solution.ops[op].depth = depth;
      if (tryDepths(op + 1))
        return true;
    }
    return false;
  }

  const Problem &problem;
  int64_t reach;
  Solution solution;
};

} // namespace kiln::schedule

#endif // KILN_TEST_SCHEDULE_PROBLEM_ALLSCHEDULES_H
