// kiln._native: Kiln's C API in Python. What users see is in kiln.runtime; this is its engine.
#include "Common.h"

NB_MODULE(_native, m) {
  // Kernels are globals of modules, which Python does not tear down in order.
  nanobind::set_leak_warnings(false);
  kiln::python::bindCompiler(m);
  kiln::python::bindCache(m);
  kiln::python::bindDevices(m);
  if (!kiln::python::addLauncher(m.ptr()))
    throw nanobind::python_error();
}
