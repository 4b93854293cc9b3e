// Who waits for whom in the trips of all roles.
//
// Each op of each iteration waits for others: for the op in front of it in its role, for what it
// uses, and, where it fills a slot, for that slot's last release. If v of iteration i + d waits for
// u of iteration i, that is an edge u -> v of distance d.
//
// Copies of a role that lag behind one another are two, the first and the last: what waits for all
// of them waits for the last, and the first is the first that waits. They meet around work that
// they start in turns, the first for the `lag`th time more often than the last. So a meeting is one
// node, at different places of their trips.
#ifndef KILN_LIB_SCHEDULE_PROBLEM_WAITS_H
#define KILN_LIB_SCHEDULE_PROBLEM_WAITS_H

#include "Steady.h"

namespace kiln::schedule {

/// An op, as all copies of its role or the first start it, or as the last does; or a meeting of all
/// copies of a role.
struct Waiter {
  enum { First, Last, Meeting } kind;
  /// The op's index, or the role's.
  unsigned index;
};

struct Wait {
  unsigned from, to;
  int64_t distance;
  /// The maker whose ring's depth the wait is by, if it is for a free slot.
  std::optional<unsigned> ring;
};

struct Waits {
  llvm::SmallVector<Waiter> waiters;
  llvm::SmallVector<Wait> waits;
};

Waits getWaits(const Problem &problem, const Solution &solution, const Steady &steady);

} // namespace kiln::schedule

#endif // KILN_LIB_SCHEDULE_PROBLEM_WAITS_H
