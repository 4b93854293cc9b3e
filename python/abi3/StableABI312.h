// What Python 3.12 added to the stable ABI, for a compiler that has only 3.11's headers.
//
// Debian 12 has no newer headers, yet the package must load in newer Pythons. The stable ABI is a
// promise about symbols and layouts that 3.11's headers, in limited mode, already keep. This file
// is included before all others and declares the functions and constants that 3.12 made stable and
// nanobind uses. What results loads in 3.12 and later, and not in 3.11.
#ifndef KILN_PYTHON_STABLEABI312_H
#define KILN_PYTHON_STABLEABI312_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#if PY_VERSION_HEX < 0x030C0000
#undef PY_VERSION_HEX
#define PY_VERSION_HEX 0x030C0000

#include <stddef.h>
#include <structmember.h>

#ifdef __cplusplus
extern "C" {
#endif

// PEP 590, in the stable ABI since 3.12.
#define PY_VECTORCALL_ARGUMENTS_OFFSET ((size_t)1 << (8 * sizeof(size_t) - 1))
#define Py_TPFLAGS_HAVE_VECTORCALL (1UL << 11)
#define Py_TPFLAGS_ITEMS_AT_END (1UL << 23)
typedef PyObject *(*vectorcallfunc)(PyObject *, PyObject *const *, size_t, PyObject *);
PyAPI_FUNC(Py_ssize_t) PyVectorcall_NARGS(size_t);
PyAPI_FUNC(PyObject *) PyVectorcall_Call(PyObject *, PyObject *, PyObject *);
PyAPI_FUNC(PyObject *) PyObject_Vectorcall(PyObject *, PyObject *const *, size_t, PyObject *);
PyAPI_FUNC(PyObject *) PyObject_VectorcallMethod(PyObject *, PyObject *const *, size_t, PyObject *);

// PEP 489 slots.
#define Py_mod_multiple_interpreters 3
#define Py_MOD_MULTIPLE_INTERPRETERS_NOT_SUPPORTED ((void *)0)
#define Py_MOD_MULTIPLE_INTERPRETERS_SUPPORTED ((void *)1)

// Raised exceptions as one object.
PyAPI_FUNC(PyObject *) PyErr_GetRaisedException(void);
PyAPI_FUNC(void) PyErr_SetRaisedException(PyObject *);
PyAPI_FUNC(PyObject *) PyException_GetArgs(PyObject *);
PyAPI_FUNC(void) PyException_SetArgs(PyObject *, PyObject *);
PyAPI_FUNC(void) PyErr_DisplayException(PyObject *);

// PEP 697: types whose base is opaque; types with a metaclass.
PyAPI_FUNC(PyObject *) PyType_FromMetaclass(PyTypeObject *, PyObject *, PyType_Spec *, PyObject *);
PyAPI_FUNC(void *) PyObject_GetTypeData(PyObject *, PyTypeObject *);
PyAPI_FUNC(Py_ssize_t) PyType_GetTypeDataSize(PyTypeObject *);

// Members of a type, by their new names.
#define Py_T_BYTE T_BYTE
#define Py_T_OBJECT_EX T_OBJECT_EX
#define Py_T_PYSSIZET T_PYSSIZET
#define Py_READONLY READONLY
#define Py_RELATIVE_OFFSET 8

#ifdef __cplusplus
}
#endif

#endif // PY_VERSION_HEX
#endif // KILN_PYTHON_STABLEABI312_H
