// Owners of the C API's objects, as Python sees them.
#ifndef KILN_PYTHON_OBJECTS_H
#define KILN_PYTHON_OBJECTS_H

#include "Common.h"

#include "kiln-c/Cache.h"
#include "kiln-c/Launch.h"
#include "kiln-c/Model.h"

namespace kiln::python {

template <typename T, void (*Destroy)(T *)>
class Owner {
public:
  explicit Owner(T *object) : object(object) {}
  Owner(Owner &&other) noexcept : object(other.object) { other.object = nullptr; }
  Owner(const Owner &) = delete;
  ~Owner() { Destroy(object); }
  T *get() const { return object; }

private:
  T *object;
};

struct ArtifactObject : Owner<KilnArtifact, kilnArtifactDestroy> {
  using Owner::Owner;
};
struct ExecutableObject : Owner<KilnExecutable, kilnExecutableDestroy> {
  using Owner::Owner;
};
struct CacheObject : Owner<KilnCache, kilnCacheClose> {
  using Owner::Owner;
};
struct ModelObject : Owner<KilnModel, kilnModelDestroy> {
  using Owner::Owner;
};
/// Devices belong to the library.
struct DeviceObject {
  KilnDevice *device;
};

/// 32 bytes of Python as a key.
KilnKey keyOf(nb::bytes bytes);
nb::bytes bytesOf(const KilnKey &key);

} // namespace kiln::python

#endif // KILN_PYTHON_OBJECTS_H
