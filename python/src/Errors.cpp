// Errors of the C API as Python exceptions. The classes live in kiln.runtime.errors, which is
// imported when the first error happens.
#include "Common.h"

using namespace kiln::python;

namespace {

nb::object errorsModule() { return nb::module_::import_("kiln.runtime.errors"); }

nb::object pythonError(KilnError *error, const char *kernel) {
  nb::list diagnostics;
  for (size_t i = 0, n = kilnErrorGetNumDiagnostics(error); i < n; ++i) {
    KilnDiagnostic d = kilnErrorGetDiagnostic(error, i);
    diagnostics.append(
        nb::make_tuple(int(d.severity), d.parent, toStr(d.file), d.line, d.column, toStr(d.text)));
  }
  nb::object name = kernel ? nb::object(nb::str(kernel)) : nb::none();
  return errorsModule().attr("from_native")(int(kilnErrorGetCode(error)),
                                            toStr(kilnErrorGetMessage(error)), diagnostics, name);
}

} // namespace

void kiln::python::setError(KilnError *error, const char *kernel) {
  try {
    nb::object exception = pythonError(error, kernel);
    PyErr_SetObject(reinterpret_cast<PyObject *>(Py_TYPE(exception.ptr())), exception.ptr());
  } catch (nb::python_error &failed) {
    failed.restore();
  }
  kilnErrorDestroy(error);
}

void kiln::python::setLaunchError(const char *kernel, const char *argument,
                                  const std::string &message) {
  try {
    nb::object name = kernel ? nb::object(nb::str(kernel)) : nb::none();
    nb::object which = argument ? nb::object(nb::str(argument)) : nb::none();
    nb::object exception = errorsModule().attr("launch_error")(name, which, message);
    PyErr_SetObject(reinterpret_cast<PyObject *>(Py_TYPE(exception.ptr())), exception.ptr());
  } catch (nb::python_error &failed) {
    failed.restore();
  }
}

void kiln::python::check(KilnError *error) {
  if (!error)
    return;
  setError(error);
  throw nb::python_error();
}

nb::str kiln::python::toStr(KilnString text) {
  PyObject *object = PyUnicode_DecodeUTF8(text.data, Py_ssize_t(text.size), "replace");
  if (!object)
    throw nb::python_error();
  return nb::steal<nb::str>(object);
}

nb::bytes kiln::python::toBytes(KilnString text) { return nb::bytes(text.data, text.size); }

nb::str kiln::python::takeStr(KilnBuffer *buffer) {
  struct Guard {
    KilnBuffer *buffer;
    ~Guard() { kilnBufferDestroy(buffer); }
  } guard{buffer};
  return toStr(kilnBufferGet(buffer));
}
