// Z3 (https://github.com/Z3Prover/z3), opened when somebody asks for it: Kiln neither links nor
// ships it, and runs where there is none.
#ifndef KILN_LIB_SCHEDULE_PROBLEM_EXACT_SMTLIBRARY_H
#define KILN_LIB_SCHEDULE_PROBLEM_EXACT_SMTLIBRARY_H

#include <string>
#include <z3.h>

// Of Z3's C interface.
#define KILN_SMT_FUNCTIONS(F)                                                                      \
  F(mk_config)                                                                                     \
  F(del_config)                                                                                    \
  F(mk_context)                                                                                    \
  F(del_context)                                                                                   \
  F(set_error_handler)                                                                             \
  F(mk_int_sort)                                                                                   \
  F(mk_bool_sort)                                                                                  \
  F(mk_int_symbol)                                                                                 \
  F(mk_string_symbol)                                                                              \
  F(mk_const)                                                                                      \
  F(mk_int64)                                                                                      \
  F(mk_true)                                                                                       \
  F(mk_false)                                                                                      \
  F(mk_sub)                                                                                        \
  F(mk_ge)                                                                                         \
  F(mk_not)                                                                                        \
  F(mk_or)                                                                                         \
  F(mk_and)                                                                                        \
  F(mk_pble)                                                                                       \
  F(mk_simple_solver)                                                                              \
  F(solver_inc_ref)                                                                                \
  F(solver_dec_ref)                                                                                \
  F(solver_set_params)                                                                             \
  F(solver_assert)                                                                                 \
  F(solver_check_assumptions)                                                                      \
  F(solver_get_model)                                                                              \
  F(solver_get_statistics)                                                                         \
  F(stats_inc_ref)                                                                                 \
  F(stats_dec_ref)                                                                                 \
  F(stats_size)                                                                                    \
  F(stats_get_key)                                                                                 \
  F(stats_get_uint_value)                                                                          \
  F(mk_params)                                                                                     \
  F(params_inc_ref)                                                                                \
  F(params_dec_ref)                                                                                \
  F(params_set_uint)                                                                               \
  F(model_inc_ref)                                                                                 \
  F(model_dec_ref)                                                                                 \
  F(model_eval)                                                                                    \
  F(get_numeral_int64)                                                                             \
  F(get_full_version)

namespace kiln::schedule {

/// The functions of the library that was found.
struct SmtLibrary {
#define KILN_SMT_MEMBER(name) decltype(&Z3_##name) name = nullptr;
  KILN_SMT_FUNCTIONS(KILN_SMT_MEMBER)
#undef KILN_SMT_MEMBER

  /// The library, opened once a process: the one that KILN_Z3 names, else the system's. Null if
  /// there is none, and why.
  static const SmtLibrary *get(std::string &why);
};

} // namespace kiln::schedule

#endif // KILN_LIB_SCHEDULE_PROBLEM_EXACT_SMTLIBRARY_H
