// The search for the least interval.
#ifndef KILN_LIB_SCHEDULE_PROBLEM_EXACT_SEARCH_H
#define KILN_LIB_SCHEDULE_PROBLEM_EXACT_SEARCH_H

#include "IntervalModel.h"
#include "kiln/Schedule/Problem/ExactSolver.h"

namespace kiln::schedule {

class ExactSearch {
public:
  ExactSearch(const SmtLibrary &library, const Problem &problem, int64_t mostSteps)
      : library(library), problem(problem), mostSteps(mostSteps) {}
  /// The best schedule, at most as long as a known one if there is one. Nothing where there is
  /// none, or none was found within the steps.
  std::optional<Proven> run(const std::optional<Solution> &known);
  /// Whether no schedule was found since there is none at all.
  bool isImpossible() const { return impossible; }

private:
  struct Way {
    llvm::SmallVector<unsigned> roles;
    int64_t least, longest;
  };
  bool findWays();
  Smt::Answer ask(int64_t interval, int64_t most, std::optional<Solution> &found);
  Smt::Answer askWay(const Way &way, int64_t interval, int64_t most,
                     std::optional<Solution> &found);
  Smt::Answer checkStages(IntervalModel &model, llvm::ArrayRef<Smt::Term> assumed, int64_t most,
                          std::optional<Solution> &found, bool &isCertain);
  int64_t getLeft() const { return mostSteps - steps; }

  const SmtLibrary &library;
  const Problem &problem;
  int64_t mostSteps, steps = 0;
  llvm::SmallVector<Way> ways;
  /// Whether these are all assignments of roles that there are.
  bool hasAllWays = false, impossible = false;
};

} // namespace kiln::schedule

#endif // KILN_LIB_SCHEDULE_PROBLEM_EXACT_SEARCH_H
