// What the files of the extension share: Python's headers in the right order, errors, and the
// names of Python objects looked up once.
//
// Hot paths use only functions of Python's limited API (3.12), so that one source builds both
// for the stable ABI and for 3.11.
#ifndef KILN_PYTHON_COMMON_H
#define KILN_PYTHON_COMMON_H

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include "kiln-c/Base.h"

#include <string>

namespace kiln::python {

namespace nb = nanobind;

/// A KilnError as the Python exception that belongs to its code, set as the current error.
/// Takes the error. `kernel` and `argument` may be null.
void setError(KilnError *error, const char *kernel = nullptr);

/// Sets kiln.LaunchError: "kernel `k`, argument `a`: message" (either may be null).
void setLaunchError(const char *kernel, const char *argument, const std::string &message);

/// The same for code that nanobind calls: throws if there is an error.
void check(KilnError *error);

inline std::string toString(KilnString text) { return std::string(text.data, text.size); }
nb::str toStr(KilnString text);
nb::bytes toBytes(KilnString text);
/// The text of a buffer, which is destroyed.
nb::str takeStr(KilnBuffer *buffer);

/// Parts of the module, each in its own file.
void bindCompiler(nb::module_ &m);
void bindCache(nb::module_ &m);
void bindDevices(nb::module_ &m);
bool addLauncher(PyObject *module);

} // namespace kiln::python

#endif // KILN_PYTHON_COMMON_H
