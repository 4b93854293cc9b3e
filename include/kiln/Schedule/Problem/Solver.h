// What finds solutions.
#ifndef KILN_SCHEDULE_PROBLEM_SOLVER_H
#define KILN_SCHEDULE_PROBLEM_SOLVER_H

#include "kiln/Schedule/Problem/Solution.h"

namespace kiln::schedule {

class Solver {
public:
  virtual ~Solver() = default;
  /// A solution that passes verify(), or nothing and why: where pins or budgets are the reason, the
  /// one that cannot hold. The same problem has the same answer, on every machine.
  virtual std::optional<Solution> solve(const Problem &problem, Violation *why = nullptr) const = 0;
};

/// Lower bounds of the interval, in cycles.
struct LeastInterval {
  /// What the busiest unit needs for one iteration.
  int64_t byUnits = 1;
  /// What the slowest circle of dependences, pins and pinned depths needs, by its distance.
  int64_t byCircles = 1;
  int64_t get() const { return byUnits > byCircles ? byUnits : byCircles; }
};

/// A role for each op: its pin, or that of the ops it cannot be parted from, or that of its users
/// if they agree, or of its makers, or the first that can run it. Two ops are not parted where only
/// registers or a unit hand on what is between them. No roles are made up: who pins none gets one.
std::optional<llvm::SmallVector<unsigned>> assignRoles(const Problem &problem,
                                                       Violation *why = nullptr);

/// All assignments of roles that pins allow, that of assignRoles() first; nothing if there are more
/// than `most`, or none.
std::optional<llvm::SmallVector<llvm::SmallVector<unsigned>>> listRoles(const Problem &problem,
                                                                        size_t most);

/// The lower bounds for ops in these roles; nothing where no interval can hold all pins.
std::optional<LeastInterval>
getLeastInterval(const Problem &problem, llvm::ArrayRef<unsigned> roles, Violation *why = nullptr);

/// Swing modulo scheduling (Llosa, González, Ayguadé, Valero, "Swing Modulo Scheduling: A
/// Lifetime-Sensitive Approach", 1996).
///
/// For each interval, from the lower bound upward: ops are ordered so that the circles that limit
/// most go first and each op follows a neighbour; each is put as close to its placed neighbours as
/// units let it, which keeps values short-lived. An op that finds no cycle goes first in a next
/// try. Where that does not help, the ops are tried from the first to the last (list scheduling).
///
/// Pins, pinned depths and needs are all of the form start(v) + d * interval >= start(u) + c. So
/// the cycles that each op may still have, given those placed, are known exactly, and only units
/// can fail to have room. Where in a trip a wait stands is known only once there is an order; where
/// that breaks a limit, what it asks for becomes one more such condition, and the interval is tried
/// again. Then depths and counts in flight follow from the starts, and a budget that does not allow
/// these sends the search to the next interval, at which less is in use at once.
///
/// Intervals grow by 1, above 64 by a 64th; where one succeeds, those that were left out in front
/// of it are searched by halves.
class SwingModuloScheduler : public Solver {
public:
  struct Options {
    /// Whether stages and orders that are not pinned are completed as completePins() does, instead
    /// of searched for.
    bool completes = false;
    /// How many conditions may be looked at in all before no other interval is tried.
    int64_t mostSteps = int64_t(1) << 26;
  };

  SwingModuloScheduler() = default;
  explicit SwingModuloScheduler(Options options) : options(options) {}
  std::optional<Solution> solve(const Problem &problem, Violation *why = nullptr) const override;

private:
  Options options;
};

} // namespace kiln::schedule

#endif // KILN_SCHEDULE_PROBLEM_SOLVER_H
