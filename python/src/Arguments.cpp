// What a Python object is to a kernel, by its type; and the scalars.
#include "Arguments.h"

using namespace kiln::python;

namespace {

enum class Class : uint8_t {
  Unknown,
  Integer,
  Float,
  Bool,
  NumPy,
  Exchange,
  Capsule,
  Protocol,
  Number
};

struct KnownType {
  Class kind = Class::Unknown;
  const dlpack::ExchangeAPI *api = nullptr;
};
Memo<KnownType> knownTypes;

/// numpy.ndarray if NumPy has been imported, without importing it.
nb::object loadedNumPy(const char *module, const char *name) {
  nb::object found = nb::borrow(PyImport_GetModuleDict());
  PyObject *numpy = PyDict_GetItemString(found.ptr(), module);
  return numpy ? nb::getattr(nb::borrow(numpy), name, nb::none()) : nb::none();
}

bool isSubtype(PyTypeObject *type, nb::handle of) {
  return PyType_Check(of.ptr()) &&
         PyType_IsSubtype(type, reinterpret_cast<PyTypeObject *>(of.ptr()));
}

const dlpack::ExchangeAPI *exchangeOf(nb::handle type) {
  nb::object capsule = nb::getattr(type, "__dlpack_c_exchange_api__", nb::none());
  if (!PyCapsule_IsValid(capsule.ptr(), "dlpack_exchange_api"))
    return nullptr;
  auto *api = static_cast<const dlpack::ExchangeAPI *>(
      PyCapsule_GetPointer(capsule.ptr(), "dlpack_exchange_api"));
  while (api && api->version.major > 1)
    api = api->older;
  return api && api->version.major == 1 && api->borrowFromObject ? api : nullptr;
}

/// Masked arrays are arrays to NumPy, but a kernel would read what the mask hides.
KnownType classify(PyTypeObject *type) {
  nb::handle object(reinterpret_cast<PyObject *>(type));
  if (type == &PyBool_Type)
    return {Class::Bool};
  if (PyType_IsSubtype(type, &PyLong_Type))
    return {Class::Integer};
  if (isSubtype(type, loadedNumPy("numpy.ma", "MaskedArray")))
    return {Class::Unknown};
  if (isSubtype(type, loadedNumPy("numpy", "ndarray")))
    return {Class::NumPy};
  if (isSubtype(type, loadedNumPy("numpy", "bool")) ||
      isSubtype(type, loadedNumPy("numpy", "bool_")))
    return {Class::Bool};
  if (PyType_IsSubtype(type, &PyFloat_Type))
    return {Class::Float};
  if (nb::hasattr(object, "__kiln_tensor__"))
    return {Class::Protocol};
  if (const dlpack::ExchangeAPI *api = exchangeOf(object))
    return {Class::Exchange, api};
  if (nb::hasattr(object, "__dlpack__"))
    return {Class::Capsule};
  if (nb::hasattr(object, "__index__") || nb::hasattr(object, "__float__"))
    return {Class::Number};
  return {Class::Unknown};
}

const KnownType &knownType(PyTypeObject *type) {
  auto *key = reinterpret_cast<PyObject *>(type);
  const KnownType *known = knownTypes.find(key);
  return known ? *known : knownTypes.insert(key, classify(type));
}

bool convertInteger(const ArgumentTarget &to, PyObject *object) {
  KilnArg &arg = to.frame.args[to.index];
  int overflow = 0;
  long long value = PyLong_AsLongLongAndOverflow(object, &overflow);
  bool pointer = to.parameter.kind == KILN_ARG_POINTER;
  if (value >= 0 && !pointer) {
    arg.kind = KILN_ARG_INTEGER;
    arg.value.integer = value;
    return true;
  }
  if (value == -1 && !overflow && PyErr_Occurred())
    return false;
  bool unsigned64 = to.parameter.dtype == KILN_U64 && to.parameter.kind == KILN_ARG_INTEGER;
  if (overflow > 0 && (unsigned64 || pointer)) {
    unsigned long long bits = PyLong_AsUnsignedLongLong(object);
    if (bits != (unsigned long long)-1 || !PyErr_Occurred()) {
      value = (long long)bits;
      overflow = 0;
    } else {
      PyErr_Clear();
    }
  } else if (!overflow && value < 0 && (unsigned64 || pointer)) {
    overflow = -1;
  }
  if (overflow) {
    nb::object text = nb::steal(PyObject_Str(object));
    PyErr_Clear();
    std::string type =
        pointer ? "an address" : dtypeName(to.parameter.dtype ? to.parameter.dtype : KILN_I64);
    return to.fail("expected a value that fits " + type + ", got " +
                   (text.is_valid() ? nb::cast<std::string>(text) : "a larger integer"));
  }
  if (pointer) {
    arg.kind = KILN_ARG_POINTER;
    arg.value.pointer = reinterpret_cast<void *>(uintptr_t(value));
    return true;
  }
  arg.kind = KILN_ARG_INTEGER;
  arg.value.integer = value;
  return true;
}

bool convertFloat(const ArgumentTarget &to, PyObject *object) {
  double value = PyFloat_AsDouble(object);
  if (value == -1.0 && PyErr_Occurred())
    return false;
  to.frame.args[to.index].kind = KILN_ARG_FLOAT;
  to.frame.args[to.index].value.real = value;
  return true;
}

/// NumPy's scalars and the like: an integer if it says so, else a float.
bool convertNumber(const ArgumentTarget &to, PyObject *object) {
  if (PyObject *integer = PyNumber_Index(object)) {
    bool done = convertInteger(to, integer);
    Py_DECREF(integer);
    return done;
  }
  PyErr_Clear();
  return convertFloat(to, object);
}

/// The code is compiled for the extents that an annotation fixes, so each launch checks them.
bool hasExtents(const ArgumentTarget &to) {
  const KilnTensor &tensor = to.frame.args[to.index].value.tensor;
  const auto &extents = to.parameter.extents;
  if (size_t(tensor.rank) != extents.size())
    return to.fail("expected rank " + std::to_string(extents.size()) + ", got " +
                   std::to_string(tensor.rank));
  for (size_t d = 0; d < extents.size(); ++d)
    if (extents[d] >= 0 && tensor.shape[d] != extents[d])
      return to.fail("expected extent " + std::to_string(extents[d]) + " of dimension " +
                     std::to_string(d) + ", got " + std::to_string(tensor.shape[d]));
  return true;
}

bool convertByClass(const ArgumentTarget &to, PyObject *object, const KnownType &known) {
  switch (known.kind) {
  case Class::Integer:
    return convertInteger(to, object);
  case Class::Float:
    return convertFloat(to, object);
  case Class::Bool: {
    int value = PyObject_IsTrue(object);
    to.frame.args[to.index].kind = KILN_ARG_BOOL;
    to.frame.args[to.index].value.integer = value;
    return value >= 0;
  }
  case Class::NumPy:
    return convertNumPy(to, object);
  case Class::Exchange:
    return convertExchange(to, object, known.api);
  case Class::Capsule:
    return convertCapsule(to, object);
  case Class::Protocol:
    return convertProtocol(to, object);
  case Class::Number:
    return convertNumber(to, object);
  case Class::Unknown:
    break;
  }
  nb::object name = nb::handle(reinterpret_cast<PyObject *>(Py_TYPE(object))).attr("__name__");
  return to.fail("expected an array, a tensor or a number, got " + nb::cast<std::string>(name));
}

/// An array without dimensions where a number is wanted: its element, which its framework copies
/// here from wherever it is.
bool convertElement(const ArgumentTarget &to, PyObject *array) {
  static PyObject *name = PyUnicode_InternFromString("item");
  nb::object item = nb::steal(PyObject_VectorcallMethod(name, &array, 1, nullptr));
  if (!item.is_valid()) {
    if (!PyErr_ExceptionMatches(PyExc_AttributeError))
      return false;
    PyErr_Clear();
    return true; // the launch says that it wants a number
  }
  const KnownType &known = knownType(Py_TYPE(item.ptr()));
  switch (known.kind) {
  case Class::Integer:
  case Class::Float:
  case Class::Bool:
  case Class::Number:
    return convertByClass(to, item.ptr(), known);
  default:
    return to.fail("expected an array of one number, got one of " +
                   nb::cast<std::string>(nb::repr(item)));
  }
}

} // namespace

nb::object ArgumentSet::mask() const {
  nb::object out = nb::steal(PyLong_FromLong(0));
  for (size_t i = size; i-- > 0;) {
    nb::object word = nb::steal(PyLong_FromUnsignedLongLong(words[i]));
    out = (out << nb::int_(64)) | word;
  }
  return out;
}

const char *kiln::python::dtypeName(int32_t dtype) {
  return kilnDTypeGetName(KilnDType(dtype)).data;
}

bool kiln::python::convertArgument(ArgumentFrame &frame, size_t index, PyObject *object,
                                   const ParameterInfo &parameter, const char *kernel) {
  ArgumentTarget to{frame, index, parameter, kernel};
  if (Py_TYPE(object) == &PyLong_Type)
    return convertInteger(to, object);
  if (!convertByClass(to, object, knownType(Py_TYPE(object))))
    return false;
  KilnArg &arg = frame.args[index];
  bool wantsScalar = parameter.kind == KILN_ARG_INTEGER || parameter.kind == KILN_ARG_FLOAT ||
                     parameter.kind == KILN_ARG_BOOL;
  if (arg.kind == KILN_ARG_TENSOR && wantsScalar && arg.value.tensor.rank == 0)
    return convertElement(to, object);
  if (arg.kind == KILN_ARG_TENSOR && !parameter.extents.empty() && !hasExtents(to))
    return false;
  if (arg.kind == KILN_ARG_TENSOR && parameter.kind == KILN_ARG_POINTER) {
    // A tensor for a bare pointer: its first element's address.
    KilnTensor tensor = arg.value.tensor;
    if (parameter.dtype != KILN_NONE && parameter.dtype != tensor.dtype)
      return to.fail("expected a tensor of " + std::string(dtypeName(parameter.dtype)) + ", got " +
                     dtypeName(tensor.dtype));
    arg.kind = KILN_ARG_POINTER;
    arg.value.pointer = tensor.data;
  }
  return true;
}
