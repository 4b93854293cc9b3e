// The functions of NVIDIA's driver library that Kiln calls, found at run time. Their types and
// numbers are those of the driver's stable binary interface.
#ifndef KILN_LIB_RUNTIME_CUDA_LIBRARY_H
#define KILN_LIB_RUNTIME_CUDA_LIBRARY_H

#include "kiln/Runtime/Device/DriverLibrary.h"

namespace kiln::cuda {

struct LaunchAttribute { // CUlaunchAttribute
  int id;
  char pad[4];
  unsigned value[16];
};
/// CUlaunchAttributeID
enum LaunchAttributeId {
  cooperativeLaunch = 2,
  clusterDimension = 4,
  programmaticSerialization = 6,
  launchPriority = 8
};

/// CUtensorMapDataType, CUtensorMapSwizzle and CUtensorMapL2promotion
enum TensorMapType {
  mapU8 = 0,
  mapU16 = 1,
  mapI32 = 3,
  mapI64 = 5,
  mapF16 = 6,
  mapF32 = 7,
  mapF64 = 8,
  mapBF16 = 9
};
constexpr int promote128Bytes = 2;

struct LaunchConfig { // CUlaunchConfig
  unsigned grid[3], block[3], sharedBytes;
  void *stream;
  LaunchAttribute *attributes;
  unsigned numAttributes;
};

/// CUdevice_attribute
enum DeviceAttribute {
  maxGridX = 5,
  maxGridY = 6,
  maxGridZ = 7,
  multiprocessors = 16,
  l2CacheBytes = 38,
  majorCapability = 75,
  minorCapability = 76,
  cooperativeLaunches = 95,
  maxSharedOptIn = 97,
  clusterLaunches = 120
};
/// CUfunction_attribute
enum FunctionAttribute { maxDynamicSharedBytes = 8, nonPortableClusters = 14 };
/// CUjit_option
enum JitOption { errorLogBuffer = 5, errorLogBytes = 6 };

/// A version is 12040 for 12.4.
class Library : public DriverLibrary {
public:
  Library();
  llvm::Error open();
  std::pair<const char *, const char *> explain(int result) const override;
  std::string spellVersion(int version) const override;

  EntryPoint<int *, int> deviceGet{"cuDeviceGet"};
  EntryPoint<char *, int, int> deviceGetName{"cuDeviceGetName"};
  EntryPoint<int *, int, int> deviceGetAttribute{"cuDeviceGetAttribute"};
  EntryPoint<void **, int> primaryContextRetain{"cuDevicePrimaryCtxRetain"};
  EntryPoint<int> primaryContextRelease{"cuDevicePrimaryCtxRelease_v2"};
  EntryPoint<int, unsigned *, int *> primaryContextGetState{"cuDevicePrimaryCtxGetState"};
  EntryPoint<void *, unsigned> contextEnablePeerAccess{"cuCtxEnablePeerAccess"};
  EntryPoint<void **> contextGetCurrent{"cuCtxGetCurrent"};
  EntryPoint<void *> contextPush{"cuCtxPushCurrent_v2"};
  EntryPoint<void **> contextPop{"cuCtxPopCurrent_v2"};
  EntryPoint<void **, const void *, unsigned, int *, void **> moduleLoad{"cuModuleLoadDataEx"};
  EntryPoint<void *, int, int> functionSetAttribute{"cuFuncSetAttribute"};
  EntryPoint<const LaunchConfig *, void *, void **, void **> launchKernelEx{"cuLaunchKernelEx"};
  /// Null in drivers before 12.0. Map, type, rank, address, extents, strides in bytes (all but
  /// the first dimension's), box, steps, interleaving, swizzle, promotion, padding; the first
  /// dimension is the one whose elements are neighbours.
  EntryPoint<void *, int, uint32_t, void *, const uint64_t *, const uint64_t *, const uint32_t *,
             const uint32_t *, int, int, int, int>
      tensorMapEncode{"cuTensorMapEncodeTiled"};
  EntryPoint<void *, const void *, size_t, void *> copyToDevice{"cuMemcpyHtoDAsync_v2"};
  EntryPoint<void *, const void *, size_t, void *> copyFromDevice{"cuMemcpyDtoHAsync_v2"};
  EntryPoint<void *, const void *, size_t, void *> copyOnDevice{"cuMemcpyDtoDAsync_v2"};

private:
  int (*getErrorName)(int, const char **) = nullptr;
  int (*getErrorString)(int, const char **) = nullptr;
};

} // namespace kiln::cuda

#endif // KILN_LIB_RUNTIME_CUDA_LIBRARY_H
