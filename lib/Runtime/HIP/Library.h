// The functions of AMD's runtime library that Kiln calls, found at run time. Their types and
// numbers are those of the library's stable binary interface.
#ifndef KILN_LIB_RUNTIME_HIP_LIBRARY_H
#define KILN_LIB_RUNTIME_HIP_LIBRARY_H

#include "kiln/Runtime/Device/DriverLibrary.h"

namespace kiln::hip {

/// hipMemcpyKind
enum CopyKind { hostToDevice = 1, deviceToHost = 2, deviceToDevice = 3 };

/// hipDeviceAttribute_t
enum DeviceAttribute { cooperativeLaunches = 10, multiprocessors = 63 };

/// hipDeviceProp_t has changed its layout between releases; what is read of it is found by its
/// looks, in a buffer that is larger than any.
struct DeviceProperties {
  char bytes[8192];
};

/// A version is 60032830 for 6.0.
class Library : public DriverLibrary {
public:
  Library();
  llvm::Error open();
  std::pair<const char *, const char *> explain(int result) const override;
  std::string spellVersion(int version) const override;

  EntryPoint<DeviceProperties *, int> getDeviceProperties{"hipGetDevicePropertiesR0600"};
  EntryPoint<int *> getDevice{"hipGetDevice"};
  EntryPoint<int> setDevice{"hipSetDevice"};
  EntryPoint<void **, const void *> moduleLoad{"hipModuleLoadData"};
  EntryPoint<void *, const void *, size_t, int, void *> memoryCopy{"hipMemcpyAsync"};
  EntryPoint<int *, int, int> deviceGetAttribute{"hipDeviceGetAttribute"};
  EntryPoint<int, unsigned> deviceEnablePeerAccess{"hipDeviceEnablePeerAccess"};
  /// Null in libraries before 5.3.
  EntryPoint<void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *,
             void **>
      launchCooperative{"hipModuleLaunchCooperativeKernel"};

private:
  const char *(*getErrorName)(int) = nullptr;
  const char *(*getErrorString)(int) = nullptr;
};

} // namespace kiln::hip

#endif // KILN_LIB_RUNTIME_HIP_LIBRARY_H
