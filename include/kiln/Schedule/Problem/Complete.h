// Completes stages and orders that are only partly pinned, by what ops need of one another, without
// regard to cycles.
#ifndef KILN_SCHEDULE_PROBLEM_COMPLETE_H
#define KILN_SCHEDULE_PROBLEM_COMPLETE_H

#include "kiln/Schedule/Problem/Problem.h"

namespace kiln::schedule {

/// Pins a stage and an order to every op of a problem whose ops all have a role, by the rule of the
/// compiler's plain loops. Orders then count the role's ops, 0 to n - 1. Where pins do not admit
/// it, nothing, and why.
///
/// The rule, for each role by itself; a need is a dependence Value or Chain within the role:
///
/// 1. An op without a stage runs as early as its needs let it: its stage is the least that is at
///    least 0 and, for each need, the maker's stage less the distance.
/// 2. A late op without a stage (one that only waits) then takes the least stage of those that use
///    it in the same iteration, or 0 if none does. Late ops are visited last to first.
/// 3. Every op has a key: its pinned order, or the key of the op before it in the source; -1 in
///    front of the first. A key of an op that is neither late nor pinned is raised to that of each
///    need of its own trip, unless the maker is late. A need is of the op's own trip where the two
///    stages differ by the distance.
/// 4. Ops are placed by key, and those of one key as in the source; late ops behind all others. But
///    in front of each op come its needs of its own trip that are not placed yet, in the order of
///    its dependences, and their needs before them. So a late op stands in front of its first user.
///
/// Refused are: what check() refuses; a stage below what a need asks for; a pinned order above that
/// of an op that needs it in the same trip.
std::optional<Problem> completePins(const Problem &problem, Violation *why = nullptr);

} // namespace kiln::schedule

#endif // KILN_SCHEDULE_PROBLEM_COMPLETE_H
