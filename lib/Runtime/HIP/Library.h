// The functions of AMD's runtime library that Kiln calls, found at run time. Their types and
// numbers are those of its header, hip/hip_runtime_api.h, of any release from 5.0 on: what came
// later than Debian's (5.2) is declared here and said to be so.
#ifndef KILN_LIB_RUNTIME_HIP_LIBRARY_H
#define KILN_LIB_RUNTIME_HIP_LIBRARY_H

#include "kiln/Runtime/Device/DriverLibrary.h"
#include <hip/hip_runtime_api.h>

namespace kiln::hip {

/// The entry point of a function that is declared so.
template <typename Function>
struct EntryOf;
template <typename... Parameters>
struct EntryOf<hipError_t(Parameters...)> {
  using Type = EntryPoint<Parameters...>;
};
template <typename Function>
using Entry = typename EntryOf<Function>::Type;

/// The library fills in hipDeviceProp_t as it was in its own release: the structure changed its
/// layout in 6.0, and the function its name. So what is read of it is found by its looks, in a
/// buffer that is larger than any.
struct DeviceProperties {
  alignas(hipDeviceProp_t) char bytes[8192];
  static_assert(sizeof(hipDeviceProp_t) <= sizeof(bytes));
  static_assert(offsetof(hipDeviceProp_t, name) == 0 && sizeof(hipDeviceProp_t::name) == 256);
};

/// Since 5.3.
using LaunchCooperative = hipError_t(hipFunction_t, unsigned gridX, unsigned gridY, unsigned gridZ,
                                     unsigned blockX, unsigned blockY, unsigned blockZ,
                                     unsigned sharedBytes, hipStream_t, void **parameters);

/// A version is 60032830 for 6.0.
class Library : public DriverLibrary {
public:
  Library();
  llvm::Error open();
  std::pair<const char *, const char *> explain(int result) const override;
  std::string spellVersion(int version) const override;

  /// By its name since 6.0; open() looks for the old one too.
  Entry<decltype(hipGetDeviceProperties)> getDeviceProperties{"hipGetDevicePropertiesR0600"};
  Entry<decltype(hipGetDevice)> getDevice{"hipGetDevice"};
  Entry<decltype(hipSetDevice)> setDevice{"hipSetDevice"};
  Entry<decltype(hipModuleLoadData)> moduleLoad{"hipModuleLoadData"};
  Entry<decltype(hipMemcpyAsync)> memoryCopy{"hipMemcpyAsync"};
  Entry<decltype(hipDeviceGetAttribute)> deviceGetAttribute{"hipDeviceGetAttribute"};
  Entry<decltype(hipDeviceEnablePeerAccess)> deviceEnablePeerAccess{"hipDeviceEnablePeerAccess"};
  /// Null in libraries that lack it.
  Entry<LaunchCooperative> launchCooperative{"hipModuleLaunchCooperativeKernel"};

private:
  decltype(hipGetErrorName) *getErrorName = nullptr;
  decltype(hipGetErrorString) *getErrorString = nullptr;
};

} // namespace kiln::hip

#endif // KILN_LIB_RUNTIME_HIP_LIBRARY_H
