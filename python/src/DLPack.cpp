// Tensors of other frameworks: through the C functions on their type, through `__dlpack__`, or
// through Kiln's own `__kiln_tensor__`.
#include "Arguments.h"

using namespace kiln::python;

namespace {

constexpr int32_t dtypeOf(dlpack::DataType type) {
  switch (type.code) {
  case 0:
    switch (type.bits) {
    case 2:
      return KILN_I2;
    case 4:
      return KILN_I4;
    case 8:
      return KILN_I8;
    case 16:
      return KILN_I16;
    case 32:
      return KILN_I32;
    case 64:
      return KILN_I64;
    }
    break;
  case 1:
    switch (type.bits) {
    case 2:
      return KILN_U2;
    case 4:
      return KILN_U4;
    case 8:
      return KILN_U8;
    case 16:
      return KILN_U16;
    case 32:
      return KILN_U32;
    case 64:
      return KILN_U64;
    }
    break;
  case 2:
    switch (type.bits) {
    case 16:
      return KILN_F16;
    case 32:
      return KILN_F32;
    case 64:
      return KILN_F64;
    }
    break;
  case 4:
    return type.bits == 16 ? KILN_BF16 : KILN_NONE;
  case 6:
    return type.bits == 8 ? KILN_BOOL : KILN_NONE;
  case 10:
    return type.bits == 8 ? KILN_F8E4M3FN : KILN_NONE;
  case 12:
    return type.bits == 8 ? KILN_F8E5M2 : KILN_NONE;
  case 14:
    return type.bits == 8 ? KILN_F8E8M0FNU : KILN_NONE;
  case 15:
    return type.bits == 6 ? KILN_F6E2M3FN : KILN_NONE;
  case 16:
    return type.bits == 6 ? KILN_F6E3M2FN : KILN_NONE;
  case 17:
    return type.bits == 4 ? KILN_F4E2M1FN : KILN_NONE;
  }
  return KILN_NONE;
}

/// The same, looked up: by the code, and by half the bits, which are 2 to 64.
struct DTypes {
  static constexpr uint8_t kCodes = 18, kHalves = 33;
  int8_t byCode[kCodes][kHalves] = {};
  constexpr DTypes() {
    for (uint8_t code = 0; code < kCodes; ++code)
      for (uint8_t half = 1; half < kHalves; ++half)
        byCode[code][half] = int8_t(dtypeOf({code, uint8_t(2 * half), 1}));
  }
  int32_t find(dlpack::DataType type) const {
    bool known = type.code < kCodes && type.bits < 2 * kHalves && type.bits % 2 == 0;
    return known ? byCode[type.code][type.bits / 2] : KILN_NONE;
  }
};
constexpr DTypes dtypes;

/// Fills the argument from a tensor whose arrays stay alive during the launch.
bool fill(const ArgumentTarget &to, const dlpack::Tensor &from, uint64_t flags) {
  int32_t dtype = dtypes.find(from.dtype);
  uint32_t bits = from.dtype.bits;
  unsigned lanes = from.dtype.lanes;
  bool packedLanes = bits < 8 && bits * lanes == 8 && from.rank > 0;
  if (dtype == KILN_NONE || (lanes != 1 && !packedLanes))
    return to.fail("expected an element type that kernels have, got DLPack type code " +
                   std::to_string(from.dtype.code) + " with " + std::to_string(from.dtype.bits) +
                   " bits and " + std::to_string(lanes) + " lanes");
  if (bits < 8 && (flags & dlpack::kPaddedSubByte))
    return to.fail("expected packed " + std::string(dtypeName(dtype)) +
                   " elements, got one in each byte");
  if (from.rank > KILN_MAX_RANK)
    return to.fail("expected at most " + std::to_string(KILN_MAX_RANK) + " dimensions, got " +
                   std::to_string(from.rank));
  KilnTensor &tensor = to.tensor();
  tensor.data = static_cast<char *>(from.data) + from.byteOffset;
  tensor.shape = from.shape;
  tensor.strides = from.strides;
  if (packedLanes && lanes != 1) {
    // One DLPack element holds several of ours along the last dimension.
    int64_t *shape = to.frame.shapes[to.index], *strides = to.frame.strides[to.index];
    int last = from.rank - 1;
    if (from.strides && from.shape[last] > 1 && from.strides[last] != 1)
      return to.fail("expected packed elements that are dense along the last dimension, got a "
                     "stride of " +
                     std::to_string(from.strides[last]));
    for (int d = 0; d < from.rank; ++d) {
      shape[d] = from.shape[d] * (d == last ? lanes : 1);
      strides[d] = !from.strides ? 0 : d == last ? 1 : from.strides[d] * lanes;
    }
    tensor.shape = shape;
    tensor.strides = from.strides ? strides : nullptr;
  }
  if (bits >= 8 && (reinterpret_cast<uintptr_t>(tensor.data) & (bits / 8 - 1)) != 0)
    return to.fail("expected elements at multiples of " + std::to_string(bits / 8) +
                   " bytes, got a misaligned " + dtypeName(dtype) + " tensor");
  tensor.rank = from.rank;
  tensor.dtype = dtype;
  tensor.device_type = dlpack::isHostMemory(from.device.type) ? dlpack::kHost : from.device.type;
  tensor.device_id = tensor.device_type == dlpack::kHost ? 0 : from.device.id;
  if (flags & dlpack::kReadOnly)
    to.frame.readOnly.insert(to.index);
  return true;
}

/// Calls `object.__dlpack__`, asking for the versioned form first; older producers do not know
/// the keyword.
PyObject *callDLPack(PyObject *object) {
  static PyObject *method = PyUnicode_InternFromString("__dlpack__");
  static PyObject *keyword = Py_BuildValue("(s)", "max_version");
  static PyObject *version = Py_BuildValue("(ii)", 1, 1);
  PyObject *args[] = {object, version};
  PyObject *capsule = PyObject_VectorcallMethod(method, args, 1, keyword);
  if (capsule || !PyErr_ExceptionMatches(PyExc_TypeError))
    return capsule;
  PyErr_Clear();
  return PyObject_VectorcallMethod(method, args, 1, nullptr);
}

/// What the framework raised, as an error about this argument, with its own as the cause. What is
/// no refusal (Ctrl-C, no memory) comes through as it is.
bool refused(const ArgumentTarget &to) {
  if (!PyErr_Occurred())
    return to.fail("expected a tensor that can be exchanged, got one that its framework refuses");
  if (!PyErr_ExceptionMatches(PyExc_Exception) || PyErr_ExceptionMatches(PyExc_MemoryError))
    return false;
  nb::python_error cause;
  std::string words = nb::cast<std::string>(nb::str(cause.value()));
  words = words.substr(0, words.find('\n')); // PyTorch appends where in its own sources
  to.fail("expected a tensor whose memory can be shared, got one that its framework refuses: " +
          words);
  nb::python_error failed;
  PyException_SetCause(failed.value().ptr(), nb::borrow(cause.value()).release().ptr());
  failed.restore();
  return false;
}

/// A tensor that its framework negates when it is read, as PyTorch does with the imaginary parts of
/// conjugates: its memory holds other numbers.
bool isNegated(PyObject *object, const dlpack::Tensor &tensor) {
  if (tensor.dtype.code == 6 || tensor.dtype.code == 1) // of booleans and unsigned numbers is none
    return false;
  static PyObject *name = PyUnicode_InternFromString("is_neg");
  nb::object answer = nb::steal(PyObject_VectorcallMethod(name, &object, 1, nullptr));
  if (!answer.is_valid())
    PyErr_Clear();
  return answer.is_valid() && answer.ptr() == Py_True;
}

/// JAX's arrays never change, whatever their capsules say.
bool isImmutable(PyObject *object) {
  static Memo<bool> known;
  auto *type = reinterpret_cast<PyObject *>(Py_TYPE(object));
  if (const bool *found = known.find(type))
    return *found;
  nb::object module = nb::getattr(nb::borrow(type), "__module__", nb::none());
  std::string name = nb::isinstance<nb::str>(module) ? nb::cast<std::string>(module) : "";
  std::string package = name.substr(0, name.find('.'));
  return known.insert(type, package == "jax" || package == "jaxlib");
}

bool toInt64s(PyObject *sequence, int64_t *out, int &count) {
  Py_ssize_t size = PySequence_Size(sequence);
  if (size < 0 || size > KILN_MAX_RANK)
    return false;
  count = int(size);
  for (Py_ssize_t i = 0; i < size; ++i) {
    nb::object item = nb::steal(PySequence_GetItem(sequence, i));
    if (!item.is_valid())
      return false;
    out[i] = PyLong_AsLongLong(item.ptr());
    if (out[i] == -1 && PyErr_Occurred())
      return false;
  }
  return true;
}

} // namespace

bool kiln::python::convertExchange(const ArgumentTarget &to, PyObject *object,
                                   const dlpack::ExchangeAPI *api) {
  dlpack::Tensor borrowed;
  if (api->borrowFromObject(object, &borrowed) != 0)
    return refused(to);
  if (!fill(to, borrowed, 0))
    return false;
  to.frame.tracked.insert(to.index);
  if (isNegated(object, borrowed))
    return to.fail("expected a tensor that holds its own numbers, got one that is negated when it "
                   "is read; t.resolve_neg() makes one");
  if (!to.frame.hasStream && to.tensor().device_type != dlpack::kHost) {
    void *stream = nullptr;
    if (api->currentStream(borrowed.device.type, borrowed.device.id, &stream) != 0)
      return false;
    to.frame.stream = stream;
    to.frame.hasStream = true;
  }
  return true;
}

namespace {

/// What PyTorch offers of its books, found at the first write to a tensor of its own.
struct TorchBooks {
  nb::object tensor, isGradEnabled, incrementVersion;

  static const TorchBooks *get() {
    static TorchBooks *books = nullptr;
    PyObject *torch = PyDict_GetItemString(PyImport_GetModuleDict(), "torch");
    if (books || !torch)
      return books;
    nb::object module = nb::borrow(torch);
    nb::object graph = nb::module_::import_("torch.autograd.graph");
    books = new TorchBooks{module.attr("Tensor"), module.attr("is_grad_enabled"),
                           graph.attr("increment_version")};
    return books;
  }
};

bool isTrue(nb::handle value) { return value.ptr() == Py_True; }

/// Why PyTorch would not let an operation write to the tensor, in its words; "" if it would.
std::string whyNotWritten(nb::handle tensor, const TorchBooks &books) {
  static PyObject *name = PyUnicode_InternFromString("requires_grad");
  nb::object
    requires
  = nb::steal(PyObject_GetAttr(tensor.ptr(), name));
  if (!requires.is_valid())
    throw nb::python_error();
  if (!isTrue(requires) || !isTrue(books.isGradEnabled()))
    return "";
  if (isTrue(tensor.attr("is_leaf")))
    return "a leaf Variable that requires grad is being used in an in-place operation";
  nb::object base = nb::getattr(tensor, "_base", nb::none());
  if (!base.is_none() && isTrue(base.attr("is_leaf")) && isTrue(base.attr("requires_grad")))
    return "a view of a leaf Variable that requires grad is being used in an in-place operation";
  return "";
}

} // namespace

bool kiln::python::noteWrites(const ArgumentFrame &frame, PyObject *const *objects,
                              const std::vector<ParameterInfo> &parameters,
                              const std::vector<uint32_t> &written, const char *kernel) {
  for (uint32_t i : written) {
    const TorchBooks *books = frame.tracked.contains(i) ? TorchBooks::get() : nullptr;
    nb::handle tensor = objects[i];
    if (!books || !nb::isinstance(tensor, books->tensor))
      continue;
    std::string why = whyNotWritten(tensor, *books);
    if (!why.empty()) {
      setLaunchError(kernel, parameters[i].name.c_str(),
                     "expected a tensor that may be written in place, since the kernel stores to "
                     "it: " +
                         why + "; store to t.detach(), or under torch.no_grad()");
      return false;
    }
    // As PyTorch's own operations do, also where nothing is saved for a gradient now.
    books->incrementVersion(tensor);
  }
  return true;
}

bool kiln::python::convertCapsule(const ArgumentTarget &to, PyObject *object) {
  PyObject *capsule = callDLPack(object);
  if (!capsule)
    return refused(to);
  to.hold(capsule); // its destructor frees what nobody consumed
  if (isImmutable(object))
    to.frame.readOnly.insert(to.index);
  if (void *pointer = PyCapsule_IsValid(capsule, "dltensor_versioned")
                          ? PyCapsule_GetPointer(capsule, "dltensor_versioned")
                          : nullptr) {
    auto *managed = static_cast<dlpack::ManagedTensorVersioned *>(pointer);
    if (managed->version.major != 1)
      return to.fail("expected DLPack 1, got version " + std::to_string(managed->version.major));
    return fill(to, managed->tensor, managed->flags);
  }
  if (!PyCapsule_IsValid(capsule, "dltensor"))
    return to.fail("expected a DLPack capsule from __dlpack__, got something else");
  auto *managed = static_cast<dlpack::ManagedTensor *>(PyCapsule_GetPointer(capsule, "dltensor"));
  return fill(to, managed->tensor, 0);
}

bool kiln::python::convertProtocol(const ArgumentTarget &to, PyObject *object) {
  static PyObject *name = PyUnicode_InternFromString("__kiln_tensor__");
  PyObject *tuple = PyObject_GetAttr(object, name);
  if (!tuple)
    return false;
  to.hold(tuple);
  unsigned long long address;
  int dtype, deviceType, deviceId, readOnly, rank = 0, numStrides = 0;
  PyObject *shape, *strides;
  if (!PyTuple_Check(tuple) || !PyArg_ParseTuple(tuple, "KiOOiip", &address, &dtype, &shape,
                                                 &strides, &deviceType, &deviceId, &readOnly))
    return false;
  int64_t *extents = to.frame.shapes[to.index], *steps = to.frame.strides[to.index];
  if (!toInt64s(shape, extents, rank) ||
      (strides != Py_None && (!toInt64s(strides, steps, numStrides) || numStrides != rank))) {
    if (PyErr_Occurred())
      return false;
    return to.fail("expected a shape and strides of at most " + std::to_string(KILN_MAX_RANK) +
                   " dimensions, got others");
  }
  KilnTensor &tensor = to.tensor();
  tensor = {reinterpret_cast<void *>(uintptr_t(address)),
            extents,
            strides == Py_None ? nullptr : steps,
            rank,
            dtype,
            deviceType,
            deviceId};
  if (readOnly)
    to.frame.readOnly.insert(to.index);
  return true;
}
