// A role as several groups of warps that run beside one another.
#ifndef KILN_SCHEDULE_PROBLEM_PARTROLE_H
#define KILN_SCHEDULE_PROBLEM_PARTROLE_H

#include "kiln/Schedule/Problem/Problem.h"

namespace kiln::schedule {

/// A problem in which a role, to which all its ops are pinned, is so many: each runs its share of
/// every op, in as much less time as that keeps units busy, with its share of registers and slots.
/// What other roles make, all parts use. The first has the role's place, the others come behind all
/// roles; the ops of the others behind all ops, part by part, in their order.
Problem partRole(const Problem &problem, unsigned role, int64_t parts);

} // namespace kiln::schedule

#endif // KILN_SCHEDULE_PROBLEM_PARTROLE_H
