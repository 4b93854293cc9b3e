// The functions of NVIDIA's driver library that Kiln calls, found at run time. Their types and
// numbers are those of the driver's stable binary interface.
#ifndef KILN_LIB_RUNTIME_CUDA_LIBRARY_H
#define KILN_LIB_RUNTIME_CUDA_LIBRARY_H

#include "kiln/Runtime/Device/Accelerator.h"

namespace kiln::cuda {

using Result = int; // CUresult; 0 is success
constexpr Result outOfMemory = 2;

struct LaunchAttribute { // CUlaunchAttribute
  int id;
  char pad[4];
  unsigned value[16];
};
constexpr int clusterDimension = 4; // CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION

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
  maxSharedOptIn = 97
};
/// CUfunction_attribute
enum FunctionAttribute {
  staticSharedBytes = 1,
  localBytes = 3,
  numRegisters = 4,
  maxDynamicSharedBytes = 8,
  nonPortableClusters = 14
};
/// CUjit_option
enum JitOption { errorLogBuffer = 5, errorLogBytes = 6 };

struct Library {
  /// Opened and initialised once for the process; the error is the same each time.
  static llvm::Expected<const Library *> get();
  llvm::Error check(Result result, const llvm::Twine &doing) const;

  int version = 0; // 12040 is 12.4
  Result (*init)(unsigned);
  Result (*driverGetVersion)(int *);
  Result (*getErrorName)(Result, const char **);
  Result (*getErrorString)(Result, const char **);
  Result (*deviceGetCount)(int *);
  Result (*deviceGet)(int *, int);
  Result (*deviceGetName)(char *, int, int);
  Result (*deviceTotalMem)(size_t *, int);
  Result (*deviceGetAttribute)(int *, int, int);
  Result (*primaryContextRetain)(void **, int);
  Result (*contextGetCurrent)(void **);
  Result (*contextPush)(void *);
  Result (*contextPop)(void **);
  Result (*moduleLoad)(void **, const void *, unsigned, int *, void **);
  Result (*moduleUnload)(void *);
  Result (*moduleGetFunction)(void **, void *, const char *);
  Result (*functionGetAttribute)(int *, int, void *);
  Result (*functionSetAttribute)(void *, int, int);
  Result (*launchKernel)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                         unsigned, void *, void **, void **);
  /// Null in drivers before 11.8, which have no clusters either.
  Result (*launchKernelEx)(const LaunchConfig *, void *, void **, void **);
  /// Null in drivers before 12.0. Map, type, rank, address, extents, strides in bytes (all but
  /// the first dimension's), box, steps, interleaving, swizzle, promotion, padding; the first
  /// dimension is the one whose elements are neighbours.
  Result (*tensorMapEncode)(void *, int, uint32_t, void *, const uint64_t *, const uint64_t *,
                            const uint32_t *, const uint32_t *, int, int, int, int);
  Result (*memoryAllocate)(uint64_t *, size_t);
  Result (*memoryFree)(uint64_t);
  Result (*copyToDevice)(uint64_t, const void *, size_t, void *);
  Result (*copyFromDevice)(void *, uint64_t, size_t, void *);
  Result (*copyOnDevice)(uint64_t, uint64_t, size_t, void *);
  Result (*memorySet)(uint64_t, unsigned char, size_t, void *);
  Result (*streamCreate)(void **, unsigned);
  Result (*streamDestroy)(void *);
  Result (*streamSynchronize)(void *);
};

} // namespace kiln::cuda

#endif // KILN_LIB_RUNTIME_CUDA_LIBRARY_H
