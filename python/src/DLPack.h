// The part of DLPack's ABI (version 1) that Kiln reads: tensors, the two capsules that
// `__dlpack__` may return, and the table of functions that frameworks of 2026 put on their
// tensor type, which needs no Python call per tensor. Written from the specification; layouts
// must match it to the byte.
#ifndef KILN_PYTHON_DLPACK_H
#define KILN_PYTHON_DLPACK_H

#include <cstdint>

namespace kiln::python::dlpack {

struct Version {
  uint32_t major;
  uint32_t minor;
};

struct Device {
  int32_t type;
  int32_t id;
};

/// Memory that the host addresses directly: plain, and pinned by either vendor's driver.
constexpr int32_t kHost = 1;
inline bool isHostMemory(int32_t type) { return type == kHost || type == 3 || type == 11; }

struct DataType {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
};

struct Tensor {
  void *data;
  Device device;
  int32_t rank;
  DataType dtype;
  int64_t *shape;
  int64_t *strides;
  uint64_t byteOffset;
};

struct ManagedTensor {
  Tensor tensor;
  void *context;
  void (*deleter)(ManagedTensor *self);
};

constexpr uint64_t kReadOnly = 1;
constexpr uint64_t kPaddedSubByte = 4;

struct ManagedTensorVersioned {
  Version version;
  void *context;
  void (*deleter)(ManagedTensorVersioned *self);
  uint64_t flags;
  Tensor tensor;
};

/// `type(tensor).__dlpack_c_exchange_api__`, a capsule named "dlpack_exchange_api".
struct ExchangeAPI {
  Version version;
  const ExchangeAPI *older;
  void *allocate;
  int (*managedFromObject)(void *object, ManagedTensorVersioned **out);
  void *toObject;
  int (*borrowFromObject)(void *object, Tensor *out); // may be null
  int (*currentStream)(int32_t deviceType, int32_t deviceId, void **out);
};

} // namespace kiln::python::dlpack

#endif // KILN_PYTHON_DLPACK_H
