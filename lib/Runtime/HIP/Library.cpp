// Opening AMD's runtime library.
#include "Library.h"

using namespace kiln;
using namespace kiln::hip;
using namespace llvm;

Library::Library()
    : DriverLibrary({{"hipInit"},
                     {"hipDriverGetVersion"},
                     {"hipGetDeviceCount"},
                     {"hipDeviceTotalMem"},
                     {"hipModuleUnload"},
                     {"hipModuleGetFunction"},
                     {"hipFuncGetAttribute"},
                     {"hipModuleLaunchKernel"},
                     {"hipMalloc"},
                     {"hipFree"},
                     {"hipMemsetAsync"},
                     {"hipStreamCreateWithFlags"},
                     {"hipStreamDestroy"},
                     {"hipStreamSynchronize"},
                     {"hipStreamQuery"},
                     {"hipStreamGetCaptureInfo"},
                     {"hipThreadExchangeStreamCaptureMode"},
                     {"hipDeviceCanAccessPeer"},
                     {"hipModuleOccupancyMaxActiveBlocksPerMultiprocessor"},
                     {"hipHostMalloc"},
                     {"hipHostFree"},
                     {"hipLaunchHostFunc"}}) {}

Error Library::open() {
  if (Error error = DriverLibrary::open(
          {"libamdhip64.so", "libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5"},
          "KILN_HIP_LIBRARY"))
    return error;
  find(getErrorName, "hipGetErrorName");
  find(getErrorString, "hipGetErrorString");
  find(getDeviceProperties, {"hipGetDeviceProperties"});
  find(getDevice);
  find(setDevice);
  find(moduleLoad);
  find(memoryCopy);
  find(deviceGetAttribute);
  find(deviceEnablePeerAccess);
  findIfAny(launchCooperative);
  return start(/*oldest=*/50000000);
}

std::pair<const char *, const char *> Library::explain(int result) const {
  return {getErrorName(result), getErrorString(result)};
}

std::string Library::spellVersion(int version) const {
  return std::to_string(version / 10000000) + "." + std::to_string(version / 100000 % 100);
}
