// Opening NVIDIA's driver library.
#include "Library.h"

using namespace kiln;
using namespace kiln::cuda;
using namespace llvm;

Library::Library()
    : DriverLibrary({{"cuInit"},
                     {"cuDriverGetVersion"},
                     {"cuDeviceGetCount"},
                     {"cuDeviceTotalMem_v2"},
                     {"cuModuleUnload"},
                     {"cuModuleGetFunction"},
                     {"cuFuncGetAttribute"},
                     {"cuLaunchKernel"},
                     {"cuMemAlloc_v2"},
                     {"cuMemFree_v2"},
                     {"cuMemsetD8Async"},
                     {"cuStreamCreate"},
                     {"cuStreamDestroy_v2"},
                     {"cuStreamSynchronize"},
                     {"cuStreamQuery"},
                     {"cuStreamGetCaptureInfo"},
                     {"cuThreadExchangeStreamCaptureMode"},
                     {"cuDeviceCanAccessPeer"},
                     {"cuOccupancyMaxActiveBlocksPerMultiprocessor"},
                     {"cuMemHostAlloc"},
                     {"cuMemFreeHost"},
                     {"cuLaunchHostFunc"},
                     {"cuCtxSynchronize"}}) {}

Error Library::open() {
  if (Error error = DriverLibrary::open({"libcuda.so.1", "libcuda.so"}, "KILN_CUDA_LIBRARY"))
    return error;
  find(getErrorName, "cuGetErrorName");
  find(getErrorString, "cuGetErrorString");
  find(deviceGet);
  find(deviceGetName);
  find(deviceGetAttribute);
  find(primaryContextRetain);
  find(primaryContextRelease);
  find(primaryContextGetState);
  find(contextEnablePeerAccess);
  find(contextGetCurrent);
  find(contextPush);
  find(contextPop);
  find(moduleLoad);
  find(functionSetAttribute);
  find(launchKernelEx);
  findIfAny(tensorMapEncode);
  find(copyToDevice);
  find(copyFromDevice);
  find(copyOnDevice);
  return start(/*oldest=*/11080);
}

std::pair<const char *, const char *> Library::explain(int result) const {
  const char *name = nullptr, *text = nullptr;
  getErrorName(result, &name);
  getErrorString(result, &text);
  return {name, text};
}

std::string Library::spellVersion(int version) const {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}
