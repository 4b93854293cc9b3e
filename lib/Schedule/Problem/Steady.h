// What follows from a solution's starts, stages and orders for the trips in which all stages run:
// where waits stand, when work is known to be done, and how long slots are in use.
//
// Both verify() and the solver ask this, so that they cannot differ.
#ifndef KILN_LIB_SCHEDULE_PROBLEM_STEADY_H
#define KILN_LIB_SCHEDULE_PROBLEM_STEADY_H

#include "kiln/Schedule/Problem/Solution.h"

namespace kiln::schedule {

/// Where a wait for an op's work stands: in front of the op of this place in the trip so many trips
/// after its iteration's first; at the trip's end if the place is that behind the last op.
struct WaitPoint {
  int64_t stage;
  int64_t place;
};

/// When something of iteration i is known: once this op, of so many iterations later, has started,
/// and not before this cycle (on the time line of iteration 0).
struct Event {
  unsigned op;
  int64_t distance;
  int64_t cycle;
};

/// Of the events by which an op is known to be done, which this is.
struct DoneEvent : Event {
  enum Kind {
    /// Its own latency is over.
    Latency,
    /// Work that a wait at its own wait's place has seen done.
    Seen,
    /// The op in front of its wait has started.
    Before,
    /// Another op has started, that alone uses it.
    Used,
  } kind;
  /// What is known to be done, and the chain's last op whose wait has seen it.
  unsigned of, wait;
};

/// One op behind another: to of iteration i + distance waits for from of iteration i, and starts
/// at least so many cycles after it.
struct Condition {
  unsigned from, to;
  int64_t latency, distance;
};

/// Of which op a condition does not hold, and by which decision.
struct Breach {
  Condition condition;
  Violation violation;
};

class Steady {
public:
  Steady(const Problem &problem, const Solution &solution);

  /// The ops of a role by their order.
  llvm::ArrayRef<unsigned> getSequence(unsigned role) const { return sequences[role]; }
  /// Cycles from the start of its trip to an op's start.
  int64_t getRow(unsigned op) const;
  bool crossesRoles(const Dependence &dependence) const {
    return placements[dependence.from].role != placements[dependence.to].role;
  }
  bool holds(const Condition &condition) const;

  //===- Waits ------------------------------------------------------------------------------===//

  /// The last op of a chain, whose wait is the wait for all; the op itself without one.
  unsigned getChainEnd(unsigned op) const { return chainEnds[op]; }
  /// Whether nothing in the role uses counted work but what continues it.
  bool isHeld(unsigned op) const;
  WaitPoint getWait(unsigned op) const { return waits[op]; }
  /// Starts of its counter between a counted op and the wait for it.
  int64_t countLater(unsigned op) const;
  /// The count by which the wait for it waits least: for held work, one that the first op of the
  /// next trip need not wait for.
  int64_t getMostInFlight(unsigned op) const;
  /// When an op's result is known to be there, and its operands are free: once the op in front of
  /// the wait for it has started, and not before all is done that its role has waited for by then.
  Event getDone(unsigned op) const;
  /// What has happened when an op is known to be done; last, the start of the op in front of the
  /// wait.
  llvm::SmallVector<DoneEvent> getDoneEvents(unsigned op) const;
  /// By when work is to be done so that the wait for a chain's last op is not held up.
  llvm::SmallVector<Condition> getWaitConditions(unsigned op) const;
  /// The first work that the wait for a chain's last op would be held up by.
  std::optional<Breach> findLateWork(unsigned op) const;
  /// The ops of an op's counter in its role, each as often as it starts work.
  llvm::SmallVector<unsigned> getStarts(unsigned op) const;

  //===- Rings ------------------------------------------------------------------------------===//

  /// Whether the result of an op lies in a ring.
  bool hasRing(unsigned op) const;
  bool isReadFromRing(const Dependence &dependence) const;
  /// The last reader's release of a slot, as an event of the maker's iteration.
  Event getRelease(unsigned op) const;
  /// The slots with which the maker never waits.
  int64_t getLeastDepth(unsigned op) const;
  /// What the waits for free slots say, for all rings.
  llvm::SmallVector<Condition> getReleaseConditions() const;

private:
  bool waitsFor(const Dependence &dependence, unsigned op) const {
    return dependence.from == op && dependence.kind != Dependence::Chain &&
           !crossesRoles(dependence);
  }
  /// A start that a wait sees done: of an op, so many trips before the wait's.
  struct Seen {
    unsigned op;
    int64_t trips;
  };
  void findSeen(unsigned op);
  WaitPoint findWait(unsigned op) const;
  int64_t countTripsHeld(unsigned op) const;
  int64_t getOrder(unsigned op) const { return placements[op].order; }

  const Problem &problem;
  const Solution &solution;
  llvm::ArrayRef<Placement> placements;
  llvm::SmallVector<llvm::SmallVector<unsigned>> sequences;
  llvm::SmallVector<unsigned> chainEnds;
  llvm::SmallVector<WaitPoint> waits;
  /// By the op whose wait it is.
  llvm::SmallVector<llvm::SmallVector<Seen>> seen;
};

/// Each wait leaves as much under way as can be, unless a count is pinned in its chain.
void setMostInFlight(const Problem &problem, Solution &solution);
/// Each ring has its pinned depth, or the slots with which its maker never waits.
void setLeastDepths(const Problem &problem, Solution &solution);

/// Gives a role's ops orders by their starts: those of one cycle go as in the source, but behind
/// what they need of their own trip.
void setOrders(const Problem &problem, Solution &solution, unsigned role);

/// What has happened when an op's result is no longer in registers, in its own iteration: the last
/// of it tells when.
llvm::SmallVector<DoneEvent> getLastUses(const Problem &problem, const Solution &solution,
                                         const Steady &steady, unsigned op);

/// A circle of waits that no trip gets out of.
std::optional<Violation> findDeadlock(const Problem &problem, const Solution &solution,
                                      const Steady &steady);

} // namespace kiln::schedule

#endif // KILN_LIB_SCHEDULE_PROBLEM_STEADY_H
