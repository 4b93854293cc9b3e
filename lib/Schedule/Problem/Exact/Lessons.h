// What a schedule that breaks a limit says of all that are like it.
//
// Given who stands where in a trip (*facts*: the order and the stages of the ops that a wait
// depends on), where waits stand and what they see done is known. So a limit that is broken
// becomes: the facts are others, or one of these needs holds. Counts in flight and depths are no
// choices: those that starts leave least (or most) are at least as good as all others.
#ifndef KILN_LIB_SCHEDULE_PROBLEM_EXACT_LESSONS_H
#define KILN_LIB_SCHEDULE_PROBLEM_EXACT_LESSONS_H

#include "IntervalModel.h"
#include "llvm/ADT/SetVector.h"

namespace kiln::schedule {

/// Chooses the counts in flight and the depths of a schedule whose starts, stages and orders are
/// known: work goes on for as few trips as waits allow, in as few slots as do not deadlock.
void completeCounts(const Problem &problem, Solution &solution);

class Lessons {
public:
  Lessons(IntervalModel &model, const Problem &problem, const Solution &solution)
      : model(model), smt(model.getSmt()), problem(problem), solution(solution),
        steady(problem, solution) {}
  /// Has the model ask for what a solution that verify() refuses lacks. Returns whether each
  /// schedule that is excluded is one that cannot be.
  bool learn();

private:
  using Term = Smt::Term;
  using Facts = llvm::SetVector<unsigned>;

  void learnCounts(unsigned end);
  void learnDepths(unsigned op);
  void learnBudget(int64_t (*getDemanded)(const Demand &), std::optional<int64_t> budget);
  void learnRegisters(unsigned role);
  void exclude();

  void addWait(Facts &facts, unsigned end) const;
  bool isCertain(const DoneEvent &event) const;
  bool isHeldFurther(unsigned end) const;
  void explain(const DoneEvent &event, llvm::SmallVectorImpl<Term> &unless);
  bool explainRing(unsigned op, int64_t depth, llvm::SmallVectorImpl<Term> &unless);
  void explainWait(unsigned end, llvm::SmallVectorImpl<Term> &unless);
  void addOrder(const Facts &facts, llvm::SmallVectorImpl<Term> &unless);
  void addFacts(const Facts &facts, llvm::SmallVectorImpl<Term> &unless);
  void teach(llvm::ArrayRef<Term> unless);

  IntervalModel &model;
  Smt &smt;
  const Problem &problem;
  const Solution &solution;
  Steady steady;
  bool learned = false, certain = true;
};

} // namespace kiln::schedule

#endif // KILN_LIB_SCHEDULE_PROBLEM_EXACT_LESSONS_H
