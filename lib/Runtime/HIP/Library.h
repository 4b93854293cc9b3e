// The functions of AMD's runtime library that Kiln calls, found at run time. Their types and
// numbers are those of the library's stable binary interface.
#ifndef KILN_LIB_RUNTIME_HIP_LIBRARY_H
#define KILN_LIB_RUNTIME_HIP_LIBRARY_H

#include "kiln/Runtime/Device/Accelerator.h"

namespace kiln::hip {

using Result = int; // hipError_t; 0 is success
constexpr Result outOfMemory = 2;

/// hipMemcpyKind
enum CopyKind { hostToDevice = 1, deviceToHost = 2, deviceToDevice = 3 };
/// hipFunction_attribute
enum FunctionAttribute { sharedBytes = 1, localBytes = 3, numRegisters = 4 };

/// hipDeviceProp_t has changed its layout between releases; what is read of it is found by its
/// looks, in a buffer that is larger than any.
struct DeviceProperties {
  char bytes[8192];
};

struct Library {
  /// Opened and initialised once for the process; the error is the same each time.
  static llvm::Expected<const Library *> get();
  llvm::Error check(Result result, const llvm::Twine &doing) const;

  int version = 0; // 60032830 is 6.0
  Result (*init)(unsigned);
  Result (*driverGetVersion)(int *);
  const char *(*getErrorName)(Result);
  const char *(*getErrorString)(Result);
  Result (*getDeviceCount)(int *);
  Result (*getDeviceProperties)(DeviceProperties *, int);
  Result (*deviceTotalMem)(size_t *, int);
  Result (*getDevice)(int *);
  Result (*setDevice)(int);
  Result (*moduleLoad)(void **, const void *);
  Result (*moduleUnload)(void *);
  Result (*moduleGetFunction)(void **, void *, const char *);
  Result (*functionGetAttribute)(int *, int, void *);
  Result (*launchKernel)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                         unsigned, void *, void **, void **);
  Result (*memoryAllocate)(void **, size_t);
  Result (*memoryFree)(void *);
  Result (*memoryCopy)(void *, const void *, size_t, int, void *);
  Result (*memorySet)(void *, int, size_t, void *);
  Result (*streamCreate)(void **, unsigned);
  Result (*streamDestroy)(void *);
  Result (*streamSynchronize)(void *);
};

} // namespace kiln::hip

#endif // KILN_LIB_RUNTIME_HIP_LIBRARY_H
