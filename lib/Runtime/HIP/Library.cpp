// Opening AMD's runtime library, and proof that what all drivers share holds of this one as its
// header declares it.
#include "Library.h"

using namespace kiln;
using namespace kiln::hip;
using namespace llvm;

//===- The shared numbers -------------------------------------------------------------------===//

static_assert(int(hipSuccess) == driver::succeeded);
static_assert(int(hipErrorOutOfMemory) == driver::outOfMemory);
static_assert(int(hipErrorNoDevice) == driver::noDevice);
static_assert(int(hipErrorInvalidDevice) == driver::invalidDevice);
static_assert(int(hipErrorNotReady) == driver::notReady);
static_assert(int(hipErrorPeerAccessAlreadyEnabled) == driver::peerAlreadyEnabled);
static_assert(int(hipErrorCooperativeLaunchTooLarge) == driver::tooManyAtOnce);
static_assert(driver::isFatal(hipErrorECCNotCorrectable) &&
              driver::isFatal(hipErrorIllegalAddress) && driver::isFatal(hipErrorLaunchTimeOut) &&
              driver::isFatal(hipErrorContextIsDestroyed) && driver::isFatal(hipErrorAssert) &&
              driver::isFatal(hipErrorLaunchFailure) && !driver::isFatal(hipErrorNotReady) &&
              !driver::isFatal(hipErrorInvalidValue));
static_assert(int(HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES) == driver::sharedBytes);
static_assert(int(HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES) == driver::localBytes);
static_assert(int(HIP_FUNC_ATTRIBUTE_NUM_REGS) == driver::numRegisters);
static_assert(hipStreamNonBlocking == driver::streamOfItsOwn);
static_assert(hipHostMallocPortable == driver::hostForAllDevices &&
              hipHostMallocMapped == driver::hostMapped);
static_assert(int(hipStreamCaptureModeRelaxed) == driver::captureRelaxed);
static_assert(int(hipStreamCaptureStatusNone) == driver::notCaptured);

//===- The shared functions -----------------------------------------------------------------===//

/// Whether a value goes to a function in the same way under both types.
template <typename Shared, typename Declared>
static constexpr bool goesAs =
    sizeof(Shared) == sizeof(Declared) &&
    std::is_pointer_v<Shared> == std::is_pointer_v<Declared> &&
    (std::is_pointer_v<Declared> || std::is_integral_v<Declared> || std::is_enum_v<Declared>);

template <typename Function>
struct Declaration {};

/// Gives an entry of the table its name, if the function is declared with the entry's parameters.
template <typename... Shared, typename Result, typename... Declared>
static void name(EntryPoint<Shared...> &entry, const char *symbol,
                 Declaration<Result(Declared...)>) {
  static_assert(goesAs<int, Result>);
  static_assert(sizeof...(Shared) == sizeof...(Declared));
  static_assert((goesAs<Shared, Declared> && ...));
  entry.symbol = symbol;
}

static DriverFunctions sharedFunctions() {
  DriverFunctions table{};
#define NAME(entry, function) name(table.entry, #function, Declaration<decltype(function)>())
  NAME(init, hipInit);
  NAME(getVersion, hipDriverGetVersion);
  NAME(getDeviceCount, hipGetDeviceCount);
  NAME(getTotalMemory, hipDeviceTotalMem);
  NAME(moduleUnload, hipModuleUnload);
  NAME(moduleGetFunction, hipModuleGetFunction);
  NAME(functionGetAttribute, hipFuncGetAttribute);
  NAME(launchKernel, hipModuleLaunchKernel);
  NAME(memoryAllocate, hipMalloc);
  NAME(memoryFree, hipFree);
  NAME(memorySet, hipMemsetAsync);
  NAME(streamCreate, hipStreamCreateWithFlags);
  NAME(streamDestroy, hipStreamDestroy);
  NAME(streamSynchronize, hipStreamSynchronize);
  NAME(streamQuery, hipStreamQuery);
  NAME(streamGetCapture, hipStreamGetCaptureInfo);
  NAME(exchangeCaptureMode, hipThreadExchangeStreamCaptureMode);
  NAME(canAccessPeer, hipDeviceCanAccessPeer);
  NAME(getResidentBlocks, hipModuleOccupancyMaxActiveBlocksPerMultiprocessor);
  NAME(hostAllocate, hipHostMalloc);
  NAME(hostFree, hipHostFree);
  NAME(launchHostFunction, hipLaunchHostFunc);
  NAME(synchronizeAll, hipDeviceSynchronize);
#undef NAME
  return table;
}

//===- The library --------------------------------------------------------------------------===//

Library::Library() : DriverLibrary(sharedFunctions()) {}

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
  return {getErrorName(hipError_t(result)), getErrorString(hipError_t(result))};
}

std::string Library::spellVersion(int version) const {
  return std::to_string(version / 10000000) + "." + std::to_string(version / 100000 % 100);
}
