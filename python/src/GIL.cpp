// Taking the GIL back, or being ended by Python while that is waited for.
//
// Once the interpreter ends, Python ends any other thread that asks for the GIL by pthread_exit,
// which unwinds the thread's stack. No C++ frame may take part in that: some must not throw, others
// let go of Python objects. The clean-up handlers here are found first, since they are those of C
// (this file is compiled without exceptions), and never return: the thread waits for the end of the
// process.
#include "GIL.h"

#include <pthread.h>
#include <unistd.h>

static void waitForTheEnd(void *) {
  for (;;)
    pause();
}

void kilnTakeGIL(PyThreadState *thread) {
  pthread_cleanup_push(waitForTheEnd, nullptr);
  PyEval_RestoreThread(thread);
  pthread_cleanup_pop(0);
}

PyObject *kilnCallPython(PyObject *callable, PyObject *arguments) {
  PyObject *result;
  pthread_cleanup_push(waitForTheEnd, nullptr);
  result = PyObject_CallObject(callable, arguments);
  pthread_cleanup_pop(0);
  return result;
}
