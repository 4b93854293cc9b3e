// A solver that proves what it finds: no schedule has a shorter interval, or how much shorter one
// could be at most.
#ifndef KILN_SCHEDULE_PROBLEM_EXACTSOLVER_H
#define KILN_SCHEDULE_PROBLEM_EXACTSOLVER_H

#include "kiln/Schedule/Problem/Solver.h"
#include <memory>

namespace kiln::schedule {

/// Keeps what was found, by the text of what was asked. What it gives back is not trusted: it is
/// held against the problem.
class SolutionCache {
public:
  virtual ~SolutionCache() = default;
  virtual std::optional<std::string> get(llvm::StringRef question) = 0;
  virtual void put(llvm::StringRef question, llvm::StringRef answer) = 0;
};

/// A schedule and what is known of all others.
struct Proven {
  Solution solution;
  /// No schedule has an interval below this.
  int64_t least = 1;
  /// What it took, in the steps of ExactSolver::Options.
  int64_t steps = 0;
  /// Whether the cache knew it.
  bool isCached = false;

  bool isOptimal() const { return least == solution.interval; }
};

/// Solves with Z3 (lib/Schedule/Problem/Exact/IntervalModel.h tells how), beginning with the answer
/// of SwingModuloScheduler.
///
/// Whatever can be done in an interval can be done in a longer one: a cycle in which nothing begins
/// is put in somewhere. So intervals between the lower bounds (units, circles) and the heuristic
/// answer are searched by halves. An interval at which the conditions exclude one another raises
/// the bound; one whose steps run out leaves it where it is. Of schedules of the least interval one
/// with few stages is taken.
///
/// Ops without a role are tried in each that can run them, if that makes not too many assignments;
/// else they have the roles of assignRoles(), and nothing is proven but the bound by units that all
/// roles share.
class ExactSolver : public Solver {
public:
  struct Options {
    /// How many steps may be taken in all, as Z3 counts them (`rlimit`). The same problem takes the
    /// same on each machine, with one version of Z3.
    int64_t mostSteps = int64_t(1) << 26;
    /// Where found schedules are kept, if at all.
    SolutionCache *cache = nullptr;
  };

  ExactSolver() = default;
  explicit ExactSolver(Options options) : options(options) {}
  /// Why there is no exact solver here, as Z3 is missing; empty if there is one.
  static std::string whyMissing();

  std::optional<Solution> solve(const Problem &problem, Violation *why = nullptr) const override;
  /// The same, with what was proven. Pins that exclude one another are refused by the name of one
  /// without which there is a schedule.
  std::optional<Proven> prove(const Problem &problem, Violation *why = nullptr) const;

private:
  Options options;
};

/// The solver of a name, `swing` or `exact`; null if there is none, and why.
std::shared_ptr<const Solver> makeSolver(llvm::StringRef name, std::string &why);

/// A problem as text, the same for the same questions: all of it but names.
std::string printProblem(const Problem &problem);
/// A solution as text, and back; nothing if the text is none.
std::string printSolution(const Solution &solution);
std::optional<Solution> parseSolution(llvm::StringRef text);

} // namespace kiln::schedule

#endif // KILN_SCHEDULE_PROBLEM_EXACTSOLVER_H
