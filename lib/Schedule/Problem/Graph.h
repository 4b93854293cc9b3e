// A problem, its pins included, as conditions of one form on the starts of ops:
//
//   start(to) + distance * interval >= start(from) + latency
//
// A role in which stages or orders are pinned has one more node, the begin of its trip 0, behind
// which a pinned stage is so many intervals.
#ifndef KILN_LIB_SCHEDULE_PROBLEM_GRAPH_H
#define KILN_LIB_SCHEDULE_PROBLEM_GRAPH_H

#include "Steady.h"

namespace kiln::schedule {

struct Edge : Condition {
  /// The pinned decision that asks for it; empty if it is none.
  llvm::StringRef pin;
  /// The op whose pin it is.
  unsigned op;
};

class Graph {
public:
  Graph(const Problem &problem, llvm::ArrayRef<unsigned> roles);

  size_t size() const { return problem.ops.size() + roleCount; }
  bool isOp(unsigned node) const { return node < problem.ops.size(); }
  /// The node of a role's begin.
  unsigned getBegin(unsigned role) const { return problem.ops.size() + role; }
  bool hasBegin(unsigned role) const { return framed[role]; }
  llvm::ArrayRef<Edge> getEdges() const { return edges; }
  void add(const Edge &edge) { edges.push_back(edge); }

  /// Puts an op's stage, and what the orders pinned in its role then say.
  void addStage(unsigned op, int64_t stage);
  /// Decides the stages of ops of which only the order is pinned: the earliest op first, each the
  /// least stage that an interval allows. The first op that has none if there is one.
  std::optional<unsigned> decideStages(int64_t interval, int64_t &steps);

  /// The earliest start of each node if none is before cycle 0; nothing if the conditions of some
  /// circle exclude one another, which is then in `circle`.
  std::optional<llvm::SmallVector<int64_t>>
  findEarliest(int64_t interval, int64_t &steps, llvm::SmallVector<Edge> *circle = nullptr) const;
  bool isFeasible(int64_t interval, int64_t &steps) const {
    return findEarliest(interval, steps).has_value();
  }
  /// An interval so long that no unit and no circle with a distance limits anything.
  int64_t getLongInterval() const;
  /// The violation that a circle of conditions is, by a pin in it if there is one.
  Violation describe(llvm::ArrayRef<Edge> circle) const;

private:
  bool decideStage(unsigned op, int64_t interval, int64_t &steps);
  void addDependences();
  void addPins();
  llvm::SmallVector<unsigned> getOrdered(unsigned role) const;

  const Problem &problem;
  llvm::ArrayRef<unsigned> roles;
  size_t roleCount;
  llvm::SmallVector<bool> framed;
  /// The stages that are pinned or decided.
  llvm::SmallVector<std::optional<int64_t>> stages;
  llvm::SmallVector<Edge> edges;
};

} // namespace kiln::schedule

#endif // KILN_LIB_SCHEDULE_PROBLEM_GRAPH_H
