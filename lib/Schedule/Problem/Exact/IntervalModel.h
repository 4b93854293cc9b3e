// Whether a problem has a schedule of one interval, as conditions for an SMT solver.
//
// The model
// ---------
// Each start is trip * interval + row. Then all is a condition on differences:
//
// - A need start(v) + d * interval >= start(u) + c holds if v is so many trips behind u that rows
//   do not matter, or a trip less and its row so many cycles behind u's, and so on: two or three
//   cases, since rows differ by less than an interval.
// - Two ops of one unit lie beside one another on the circle of rows.
// - A role's trip begins at a row too. An op in front of that row belongs to the trip before. One
//   role begins at cycle 0, so its stages are trips.
// - Orders are numbers, all different, that go up with the rows of a trip.
//
// What follows from orders and stages only (where waits stand, how long slots and registers are in
// use) is not said beforehand. A schedule that breaks such a limit teaches a lesson (Lessons.h):
// under these orders and stages, one of these needs must hold. This is lazy clause generation
// (Ohrimenko, Stuckey, Codish, "Propagation via Lazy Clause Generation", 2009), with differences as
// literals.
#ifndef KILN_LIB_SCHEDULE_PROBLEM_EXACT_INTERVALMODEL_H
#define KILN_LIB_SCHEDULE_PROBLEM_EXACT_INTERVALMODEL_H

#include "../Graph.h"
#include "Smt.h"

namespace kiln::schedule {

class IntervalModel {
public:
  using Term = Smt::Term;

  IntervalModel(const SmtLibrary &library, const Problem &problem, llvm::ArrayRef<unsigned> roles,
                int64_t interval);

  Smt &getSmt() { return smt; }
  int64_t getInterval() const { return interval; }
  /// start(to) + distance * interval >= start(from) + latency.
  Term needs(const Condition &condition);
  /// The same, where both are ops of one role and the distance is one of trips, not iterations.
  Term needsInTrip(const Condition &condition);
  /// Whether the first stands in front of the second in a trip of their role, which orders its ops.
  Term isBefore(unsigned first, unsigned second);
  /// Whether the first's stage is so many behind the second's, or more, of the same role.
  Term isBehindAtLeast(unsigned first, unsigned second, int64_t stages) {
    return smt.isAtLeast(turns[first], turns[second], stages);
  }
  /// Whether an op starts at this cycle, all others being where they are.
  Term startsAt(unsigned op, int64_t trip, int64_t row);
  /// Whether no role that orders its ops has more than so many stages.
  Term hasStages(int64_t most);
  bool isOrdered(unsigned role) const { return ordered[role]; }

  /// The starts, stages and orders of the last answer.
  Solution getSolution() const;

private:
  /// A start: no row and no trip are zero.
  struct Start {
    Term row = nullptr, trip = nullptr;
  };
  int64_t getMostTrips() const;
  Start makeStart();
  void addFrames();
  void addOrders(unsigned role);
  void addPins();
  void addUnits();
  void addUnit(llvm::ArrayRef<std::pair<unsigned, Reservation>> uses, int64_t count);
  void keepApart(const std::pair<unsigned, Reservation> &one,
                 const std::pair<unsigned, Reservation> &other);
  bool isFramed(unsigned role) const;
  Term needs(const Start &from, const Start &to, int64_t latency, int64_t distance);
  void require(Term term) { smt.require(term); }

  const Problem &problem;
  llvm::ArrayRef<unsigned> roles;
  int64_t interval;
  Smt smt;
  llvm::SmallVector<bool> framed, ordered;
  llvm::SmallVector<Start> starts, begins;
  /// Of ops of framed roles: the trip that their role's trip with them begins in; how many behind
  /// that their own is, 0 or 1; the place in a trip.
  llvm::SmallVector<Term> turns, wraps, places;
};

} // namespace kiln::schedule

#endif // KILN_LIB_SCHEDULE_PROBLEM_EXACT_INTERVALMODEL_H
