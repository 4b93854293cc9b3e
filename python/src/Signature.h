// A kernel's parameters, and the binding of a call's arguments to them.
//
// Binding by hand is what makes a launch cheap. When a call does not fit, the Python half calls
// an empty function of the same signature, so that the error is Python's own.
#ifndef KILN_PYTHON_SIGNATURE_H
#define KILN_PYTHON_SIGNATURE_H

#include "Arguments.h"

#include <vector>

namespace kiln::python {

constexpr size_t kMaxParameters = 1024;

struct SignatureEntry {
  PyObject *name;         ///< interned, owned
  PyObject *defaultValue; ///< owned, or null
  int32_t runtime;        ///< index among the launch's arguments, or -1
  int32_t constant;       ///< index among the constants, or -1
  bool keywordOnly;
};

struct Signature {
  std::vector<SignatureEntry> entries;
  std::vector<ParameterInfo> runtime; ///< what the launch passes, in order
  size_t numPositional = 0;
  size_t numConstants = 0;
  bool kindsAreFixed = true;    ///< no annotation is missing: arguments do not decide a kind
  bool takesStructures = false; ///< None, a tuple or a list may stand for some argument
  PyObject *chosen = nullptr;   ///< the default of constants that the model chooses; borrowed

  Signature() = default;
  Signature(const Signature &) = delete;
  ~Signature();
  /// From the Python half's list of tuples (name, kind, dtype, rank, facts, has default,
  /// default, keyword only, fixed extents, may be None, chosen by the model where a call leaves it
  /// open); kind -1 is whatever comes, -2 a constant.
  void parse(nb::list parameters);
};

/// What a call binds: borrowed objects, null where the default of a constant holds.
struct BoundCall {
  PyObject *const *runtime; ///< the caller's own if they are all of it, else `places`
  PyObject *places[kMaxParameters];
  PyObject *constants[kMaxParameters];
  bool anyConstant;
  PyObject *stream;  ///< `_stream`, borrowed, or null
  PyObject *device;  ///< `_device`, borrowed, or null
  bool otherOptions; ///< further keywords that begin with `_`
};

/// False, without a Python error, if the call does not fit the signature.
bool bindCall(const Signature &signature, PyObject *const *args, size_t numArgs, PyObject *names,
              BoundCall &out);

} // namespace kiln::python

#endif // KILN_PYTHON_SIGNATURE_H
