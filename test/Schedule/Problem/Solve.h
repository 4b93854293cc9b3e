// How the tests ask a solver.
#ifndef KILN_TEST_SCHEDULE_PROBLEM_SOLVE_H
#define KILN_TEST_SCHEDULE_PROBLEM_SOLVE_H

#include "Build.h"
#include "kiln/Schedule/Problem/Solver.h"

namespace kiln::schedule {

/// Solves and verifies; the answer is asked for even where there is none, which fails the test.
inline Solution solve(const Problem &problem, const Solver &solver = SwingModuloScheduler()) {
  Violation why;
  std::optional<Solution> solution = solver.solve(problem, &why);
  if (!solution) {
    ADD_FAILURE() << why.str();
    return {};
  }
  std::optional<Violation> violation = verify(problem, *solution);
  EXPECT_FALSE(violation) << violation->str();
  return *solution;
}

/// Why there is no solution.
inline std::string refuse(const Problem &problem, const Solver &solver = SwingModuloScheduler()) {
  Violation why;
  EXPECT_FALSE(solver.solve(problem, &why));
  return why.str();
}

} // namespace kiln::schedule

#endif // KILN_TEST_SCHEDULE_PROBLEM_SOLVE_H
