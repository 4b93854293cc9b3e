// Asks Z3. What it takes is counted in its own units ("rlimit"), which do not depend on the
// machine.
#include "Smt.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <limits>

using namespace kiln::schedule;

Smt::Smt(const SmtLibrary &library) : library(library) {
  Z3_config config = library.mk_config();
  context = library.mk_context(config);
  library.del_config(config);
  // Without a handler an error ends the process.
  library.set_error_handler(context, [](Z3_context, Z3_error_code) {});
  solver = library.mk_simple_solver(context);
  library.solver_inc_ref(context, solver);
}

Smt::~Smt() {
  if (model)
    library.model_dec_ref(context, model);
  library.solver_dec_ref(context, solver);
  library.del_context(context);
}

Smt::Term Smt::make(Z3_sort sort) {
  return library.mk_const(context, library.mk_int_symbol(context, names++), sort);
}

Smt::Term Smt::makeNumber() { return make(library.mk_int_sort(context)); }
Smt::Term Smt::makeTruth() { return make(library.mk_bool_sort(context)); }

Smt::Term Smt::getTruth(bool value) const {
  return value ? library.mk_true(context) : library.mk_false(context);
}

Smt::Term Smt::isAtLeast(Term x, Term y, int64_t least) {
  if (x == y)
    return getTruth(0 >= least);
  Z3_sort sort = library.mk_int_sort(context);
  auto number = [&](int64_t value) { return library.mk_int64(context, value, sort); };
  if (!x)
    return negate(library.mk_ge(context, y, number(1 - least)));
  Term sides[] = {x, y};
  return library.mk_ge(context, y ? library.mk_sub(context, 2, sides) : x, number(least));
}

Smt::Term Smt::any(llvm::ArrayRef<Term> terms) const {
  return terms.empty()       ? getTruth(false)
         : terms.size() == 1 ? terms[0]
                             : library.mk_or(context, terms.size(), terms.data());
}

Smt::Term Smt::all(llvm::ArrayRef<Term> terms) const {
  return terms.empty()       ? getTruth(true)
         : terms.size() == 1 ? terms[0]
                             : library.mk_and(context, terms.size(), terms.data());
}

Smt::Term Smt::atMost(llvm::ArrayRef<Term> terms, int64_t most) const {
  if (most >= int64_t(terms.size()))
    return getTruth(true);
  llvm::SmallVector<int> weights(terms.size(), 1);
  return library.mk_pble(context, terms.size(), terms.data(), weights.data(), most);
}

int64_t Smt::countSteps() const {
  Z3_stats stats = library.solver_get_statistics(context, solver);
  library.stats_inc_ref(context, stats);
  int64_t count = 0;
  for (unsigned i = 0; i < library.stats_size(context, stats); ++i)
    if (llvm::StringRef(library.stats_get_key(context, stats, i)) == "rlimit count")
      count = library.stats_get_uint_value(context, stats, i);
  library.stats_dec_ref(context, stats);
  return count;
}

Smt::Answer Smt::check(llvm::ArrayRef<Term> assumed, int64_t mostSteps) {
  Z3_params params = library.mk_params(context);
  library.params_inc_ref(context, params);
  constexpr int64_t most = std::numeric_limits<unsigned>::max();
  library.params_set_uint(context, params, library.mk_string_symbol(context, "rlimit"),
                          std::clamp<int64_t>(mostSteps, 1, most));
  library.params_set_uint(context, params, library.mk_string_symbol(context, "arith.solver"), 1);
  library.solver_set_params(context, solver, params);
  library.params_dec_ref(context, params);
  Z3_lbool answer =
      library.solver_check_assumptions(context, solver, assumed.size(), assumed.data());
  int64_t now = countSteps();
  steps = std::max<int64_t>(now - allSteps, 1);
  allSteps = now;
  if (answer == Z3_L_FALSE)
    return No;
  if (answer != Z3_L_TRUE)
    return Unknown;
  if (model)
    library.model_dec_ref(context, model);
  model = library.solver_get_model(context, solver);
  library.model_inc_ref(context, model);
  return Yes;
}

int64_t Smt::getValue(Term number) const {
  if (!number)
    return 0;
  Z3_ast value;
  int64_t found = 0;
  if (library.model_eval(context, model, number, /*model_completion=*/true, &value))
    library.get_numeral_int64(context, value, &found);
  return found;
}
