// What a solver answers, and what holds a solution against its problem.
#ifndef KILN_SCHEDULE_PROBLEM_SOLUTION_H
#define KILN_SCHEDULE_PROBLEM_SOLUTION_H

#include "kiln/Schedule/Problem/Problem.h"

namespace kiln::schedule {

/// What is decided of one op.
struct Placement {
  unsigned role = 0;
  /// The cycle at which it starts in iteration 0, on the time line of all roles; may be negative.
  int64_t start = 0;
  /// How many whole intervals that is behind its role's origin.
  int64_t stage = 0;
  /// Its place in a trip of its role, 0 to n - 1.
  int64_t order = 0;
  /// Slots of the ring that holds its result; 0 without one.
  int64_t depth = 0;
  /// Of counted work: later starts of its counter that may be under way when it is waited for.
  std::optional<int64_t> inFlight = std::nullopt;
};

struct Solution {
  /// Cycles from the start of an iteration to the start of the next.
  int64_t interval = 1;
  /// The cycle at which each role's trip 0 begins.
  llvm::SmallVector<int64_t> origins;
  llvm::SmallVector<Placement> ops;
};

/// The solution that pins say, all of whose ops have a role, a stage and an order pinned: at an
/// interval so long that no latency is in its way; units are left out. What has no pin leaves as
/// little room as can be: a ring has one slot, a wait leaves under way what has started since.
/// Nothing, and why, if no interval is long enough: the roles wait for one another.
std::optional<Solution> placePinned(const Problem &problem, Violation *why = nullptr);

/// What a schedule takes of the budgets, all roles together but for the registers.
struct Demand {
  /// The most bytes of results that are live at once, by role.
  llvm::SmallVector<int64_t> registerBytes;
  int64_t sharedBytes = 0;
  int64_t tensorColumns = 0;
  int64_t namedBarriers = 0;
};

/// What a solution takes. The roles, stages, orders, depths and starts must be consistent.
Demand getDemand(const Problem &problem, const Solution &solution);

/// The first thing that a solution gets wrong: a pin that it ignores; stages and orders that are
/// not those of its starts; an op in front of what it needs; a ring that deadlocks, or is too
/// shallow for the interval; a wait for work that cannot be done by then; a unit that serves too
/// many; a budget that is overdrawn. The problem has passed check().
std::optional<Violation> verify(const Problem &problem, const Solution &solution);

} // namespace kiln::schedule

#endif // KILN_SCHEDULE_PROBLEM_SOLUTION_H
