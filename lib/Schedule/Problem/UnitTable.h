// Which units are busy at which cycles of the interval: the modulo reservation table.
#ifndef KILN_LIB_SCHEDULE_PROBLEM_UNITTABLE_H
#define KILN_LIB_SCHEDULE_PROBLEM_UNITTABLE_H

#include "kiln/Schedule/Problem/Problem.h"

namespace kiln::schedule {

/// How many ops a unit serves at each cycle of the interval. Kept as runs of cycles, so that the
/// cost is by the number of ops and not of cycles.
class UnitUse {
public:
  explicit UnitUse(int64_t interval) : interval(interval), runs{{0, 0}} {}
  /// Adds `by` from a cycle on, for so many cycles, each taken modulo the interval.
  void add(int64_t begin, int64_t cycles, int64_t by);
  /// How many cycles later (or earlier) something of this length is to begin so that it leaves the
  /// last (first) run in its way that is full; 0 if none is.
  int64_t getShift(int64_t begin, int64_t cycles, int64_t count, bool isUpward) const;
  int64_t getMost() const;

private:
  struct Run {
    int64_t begin, use;
  };
  void split(int64_t cycle);
  int64_t getEnd(size_t run) const {
    return run + 1 < runs.size() ? runs[run + 1].begin : interval;
  }

  int64_t interval;
  llvm::SmallVector<Run> runs;
};

/// The use of all units of a core and of each role.
class UnitTable {
public:
  UnitTable(const Problem &problem, int64_t interval);
  void place(unsigned op, unsigned role, int64_t start);
  /// The first cycle from `start` on, upward or downward, at which an op's units are free; nothing
  /// if that is beyond `last`, or an interval away.
  std::optional<int64_t> findFree(unsigned op, unsigned role, int64_t start,
                                  std::optional<int64_t> last, bool isUpward, int64_t &steps) const;
  /// A unit of the op's that serves too many, once it is placed.
  const Unit *findOverfull(unsigned op, unsigned role) const;

private:
  size_t getIndex(unsigned unit, unsigned role) const {
    return problem.units[unit].isPerRole ? unit + (1 + role) * problem.units.size() : unit;
  }

  const Problem &problem;
  int64_t interval;
  llvm::SmallVector<UnitUse> uses;
};

} // namespace kiln::schedule

#endif // KILN_LIB_SCHEDULE_PROBLEM_UNITTABLE_H
