// The order in which swing modulo scheduling places ops.
#ifndef KILN_LIB_SCHEDULE_PROBLEM_SWINGORDER_H
#define KILN_LIB_SCHEDULE_PROBLEM_SWINGORDER_H

#include "Graph.h"

namespace kiln::schedule {

/// What is known of each op before any is placed, at one interval.
struct Mobility {
  /// The earliest start, with none before cycle 0.
  llvm::SmallVector<int64_t> earliest;
  /// The longest way from the op's start to the end of what needs it.
  llvm::SmallVector<int64_t> height;
  int64_t getSlack(unsigned op, int64_t length) const { return length - height[op] - earliest[op]; }
};

/// Nothing where the conditions exclude the interval.
std::optional<Mobility> findMobility(const Graph &graph, int64_t interval, int64_t &steps);

/// The ops in the swing order: circles by how much they limit the interval, with what lies between
/// them, then the rest; in each part alternately down from what is ordered and up from it, the most
/// critical first, so that no op has both its makers and its users placed before it unless it is on
/// a circle.
llvm::SmallVector<unsigned> getSwingOrder(const Problem &problem, const Graph &graph,
                                          const Mobility &mobility, int64_t &steps);

/// The ops by where in the interval they start at the earliest, none in front of one that it cannot
/// be late for. Placed in this order, what comes first leaves room to what follows.
llvm::SmallVector<unsigned> getListOrder(const Problem &problem, const Graph &graph,
                                         const Mobility &mobility, int64_t interval);

} // namespace kiln::schedule

#endif // KILN_LIB_SCHEDULE_PROBLEM_SWINGORDER_H
