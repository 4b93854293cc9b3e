// Conditions on whole numbers and truths, and whether all of them can hold: difference logic.
#ifndef KILN_LIB_SCHEDULE_PROBLEM_EXACT_SMT_H
#define KILN_LIB_SCHEDULE_PROBLEM_EXACT_SMT_H

#include "SmtLibrary.h"
#include "llvm/ADT/ArrayRef.h"
#include <cstdint>

namespace kiln::schedule {

class Smt {
public:
  /// A number or a truth. No number is zero.
  using Term = Z3_ast;

  explicit Smt(const SmtLibrary &library);
  ~Smt();
  Smt(const Smt &) = delete;
  Smt &operator=(const Smt &) = delete;

  Term makeNumber();
  Term makeTruth();
  Term getTruth(bool value) const;
  /// x - y >= least.
  Term isAtLeast(Term x, Term y, int64_t least);
  Term isAtMost(Term x, Term y, int64_t most) { return isAtLeast(y, x, -most); }
  Term negate(Term x) const { return library.mk_not(context, x); }
  Term any(llvm::ArrayRef<Term> terms) const;
  Term all(llvm::ArrayRef<Term> terms) const;
  /// At most so many of them hold.
  Term atMost(llvm::ArrayRef<Term> terms, int64_t most) const;

  void require(Term term) { library.solver_assert(context, solver, term); }

  enum Answer { Yes, No, Unknown };
  /// Whether all that is required can hold, together with these; unknown after so many steps.
  Answer check(llvm::ArrayRef<Term> assumed, int64_t mostSteps);
  /// The steps of the last check.
  int64_t getSteps() const { return steps; }
  /// A number of the last answer.
  int64_t getValue(Term number) const;

private:
  Term make(Z3_sort sort);
  int64_t countSteps() const;

  const SmtLibrary &library;
  Z3_context context;
  Z3_solver solver;
  Z3_model model = nullptr;
  int names = 0;
  int64_t steps = 0, allSteps = 0;
};

} // namespace kiln::schedule

#endif // KILN_LIB_SCHEDULE_PROBLEM_EXACT_SMT_H
