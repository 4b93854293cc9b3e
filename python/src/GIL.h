// Giving up the GIL, and taking it back in a thread that outlives the interpreter (GIL.cpp).
#ifndef KILN_PYTHON_GIL_H
#define KILN_PYTHON_GIL_H

#include <Python.h>

/// PyEval_RestoreThread, which does not return once the interpreter ends.
void kilnTakeGIL(PyThreadState *thread);
/// PyObject_CallObject of what runs for long, as a compile does, and does not return either if the
/// interpreter ends meanwhile.
PyObject *kilnCallPython(PyObject *callable, PyObject *arguments);

namespace kiln::python {

/// The GIL is given up as long as this lives.
class WithoutGIL {
public:
  WithoutGIL() : thread(PyEval_SaveThread()) {}
  WithoutGIL(const WithoutGIL &) = delete;
  ~WithoutGIL() { kilnTakeGIL(thread); }

private:
  PyThreadState *thread;
};

} // namespace kiln::python

#endif // KILN_PYTHON_GIL_H
