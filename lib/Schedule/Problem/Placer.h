// Puts ops one after another at cycles that conditions and units leave them.
#ifndef KILN_LIB_SCHEDULE_PROBLEM_PLACER_H
#define KILN_LIB_SCHEDULE_PROBLEM_PLACER_H

#include "SwingOrder.h"
#include "UnitTable.h"

namespace kiln::schedule {

class Placer {
public:
  Placer(const Problem &problem, llvm::ArrayRef<unsigned> roles, const Graph &graph,
         const Mobility &mobility, int64_t interval, int64_t &steps);
  /// Places all ops in this order, each next to its neighbours, or each as early as it can be; the
  /// first that finds no cycle if there is one.
  std::optional<unsigned> placeAll(llvm::ArrayRef<unsigned> order, bool isEarly);
  /// The starts, stages and orders of ops that are all placed.
  Solution getSolution() const;

private:
  /// The cycles that those placed leave a node, by all conditions between them, direct or not.
  struct Window {
    std::optional<int64_t> first, last;
  };
  std::optional<int64_t> findStart(unsigned op, bool isEarly) const;
  void place(unsigned node, int64_t start);
  void narrow(unsigned from, bool isDown);

  const Problem &problem;
  llvm::ArrayRef<unsigned> roles;
  const Graph &graph;
  const Mobility &mobility;
  int64_t interval;
  int64_t &steps;
  UnitTable table;
  llvm::SmallVector<Window> windows;
  llvm::SmallVector<bool> placed;
  /// The edges of each node, out of it and into it.
  llvm::SmallVector<llvm::SmallVector<const Edge *, 4>> out, in;
};

} // namespace kiln::schedule

#endif // KILN_LIB_SCHEDULE_PROBLEM_PLACER_H
