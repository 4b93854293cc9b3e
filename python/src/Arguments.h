// Python objects as the arguments of a launch, without a Python call for the common types.
//
// What an object is follows from its type, and types are remembered in a small table:
//   int, float, bool            scalars
//   numpy.ndarray               its C structure is read (the layout is NumPy's stable ABI)
//   a type with `__dlpack_c_exchange_api__`
//                               one C call of the framework's, which also tells its stream
//   anything with `__dlpack__`  a capsule, held until the launch has returned
//   anything with `__kiln_tensor__`
//                               a tuple (address, dtype, shape, strides, device type, device
//                               id, read-only): kiln.PackedArray
//   NumPy's scalars and whatever has `__index__` or `__float__`
#ifndef KILN_PYTHON_ARGUMENTS_H
#define KILN_PYTHON_ARGUMENTS_H

#include "Common.h"
#include "DLPack.h"

#include "kiln-c/Launch.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace kiln::python {

constexpr size_t kMaxArguments = 512;

/// A set of arguments.
class ArgumentSet {
public:
  void insert(size_t index) {
    words[index / 64] |= uint64_t(1) << index % 64;
    size = std::max(size, index / 64 + 1);
  }
  bool empty() const { return size == 0; }
  bool contains(size_t index) const { return words[index / 64] >> index % 64 & 1; }
  /// Bit i of a Python integer: whether argument i is in it.
  nb::object mask() const;

private:
  uint64_t words[kMaxArguments / 64] = {};
  size_t size = 0; ///< how many words are in use
};

/// A parameter of the kernel as the launcher knows it.
struct ParameterInfo {
  std::string name;
  int32_t kind;  ///< KilnArgKind, or -1: the argument decides
  int32_t dtype; ///< KilnDType, KILN_NONE if the argument decides
  int32_t rank;  ///< -1 if the argument decides
  uint32_t facts;
  std::vector<int64_t> extents; ///< those that the annotation fixes, -1 elsewhere; or empty
};

/// The arguments of one launch. Uninitialised memory on the stack: only what `size` counts is
/// alive. The Python objects must outlive it.
struct ArgumentFrame {
  KilnArg args[kMaxArguments];
  int64_t shapes[kMaxArguments][KILN_MAX_RANK];
  int64_t strides[kMaxArguments][KILN_MAX_RANK];
  PyObject *held[kMaxArguments]; ///< capsules, owned
  size_t numHeld = 0;
  ArgumentSet readOnly; ///< those that may not be written
  ArgumentSet tracked;  ///< tensors of a framework that counts its writes
  KilnStream stream = nullptr;
  bool hasStream = false; ///< a framework told its current stream

  ArgumentFrame() {}
  ArgumentFrame(const ArgumentFrame &) = delete;
  ~ArgumentFrame() {
    for (size_t i = 0; i < numHeld; ++i)
      Py_DECREF(held[i]);
  }
};

/// Converts argument `index`; on failure sets a Python error that names kernel and argument.
bool convertArgument(ArgumentFrame &frame, size_t index, PyObject *object,
                     const ParameterInfo &parameter, const char *kernel);

/// Before a launch that writes to the arguments of `written`: PyTorch's tensors count it as they
/// count their own operations in place, and those that it would not let be written to are refused.
/// False with a Python error.
bool noteWrites(const ArgumentFrame &frame, PyObject *const *objects,
                const std::vector<ParameterInfo> &parameters, const std::vector<uint32_t> &written,
                const char *kernel);

/// What was learned of a few Python objects (types, dtypes), by their addresses. Each is kept
/// alive, so that its address stays its own; the oldest of a crowded place makes room.
template <typename Value>
class Memo {
public:
  const Value *find(PyObject *key) const {
    size_t start = slotOf(key);
    if (slots[start].key == key)
      return &slots[start].value;
    for (size_t i = 1; i < kProbes; ++i)
      if (slots[(start + i) % kSlots].key == key)
        return &slots[(start + i) % kSlots].value;
    return nullptr;
  }
  const Value &insert(PyObject *key, const Value &value) {
    size_t start = slotOf(key), chosen = (start + next++ % kProbes) % kSlots;
    for (size_t i = kProbes; i-- > 0;)
      if (!slots[(start + i) % kSlots].key)
        chosen = (start + i) % kSlots;
    Py_INCREF(key);
    PyObject *old = slots[chosen].key;
    slots[chosen] = {key, value};
    Py_XDECREF(old);
    return slots[chosen].value;
  }

private:
  static constexpr size_t kSlots = 128, kProbes = 8;
  static size_t slotOf(const PyObject *pointer) {
    auto bits = reinterpret_cast<uintptr_t>(pointer);
    return (bits >> 4 ^ bits >> 11) % kSlots;
  }
  struct Slot {
    PyObject *key = nullptr;
    Value value{};
  } slots[kSlots];
  size_t next = 0;
};

/// What the parts of the conversion share.
struct ArgumentTarget {
  ArgumentFrame &frame;
  size_t index;
  const ParameterInfo &parameter;
  const char *kernel;

  KilnTensor &tensor() const {
    frame.args[index].kind = KILN_ARG_TENSOR;
    return frame.args[index].value.tensor;
  }
  /// Sets kiln.LaunchError about this argument; false.
  bool fail(const std::string &message) const {
    setLaunchError(kernel, parameter.name.c_str(), message);
    return false;
  }
  bool hold(PyObject *owned) const {
    frame.held[frame.numHeld++] = owned;
    return true;
  }
};

/// numpy.ndarray and its subclasses.
bool convertNumPy(const ArgumentTarget &to, PyObject *array);
bool convertExchange(const ArgumentTarget &to, PyObject *object, const dlpack::ExchangeAPI *api);
bool convertCapsule(const ArgumentTarget &to, PyObject *object);
bool convertProtocol(const ArgumentTarget &to, PyObject *object);

/// "f32" for KILN_F32.
const char *dtypeName(int32_t dtype);

} // namespace kiln::python

#endif // KILN_PYTHON_ARGUMENTS_H
