// Opening AMD's runtime library.
#include "Library.h"
#include "kiln/Runtime/Error.h"

using namespace kiln;
using namespace kiln::hip;
using namespace llvm;

Error Library::check(Result result, const Twine &doing) const {
  if (LLVM_LIKELY(result == 0))
    return Error::success();
  const char *name = getErrorName(result), *text = getErrorString(result);
  return makeError(result == outOfMemory ? KILN_ERROR_OUT_OF_MEMORY : KILN_ERROR_DEVICE,
                   doing + " failed: " + (name ? name : "unknown error") + " (" +
                       (text ? text : "no description") + ")");
}

static Expected<Library> open() {
  Expected<DriverLibrary> opened = DriverLibrary::open(
      {"libamdhip64.so", "libamdhip64.so.7", "libamdhip64.so.6"}, "KILN_HIP_LIBRARY");
  if (!opened)
    return opened.takeError();
  Library library{};
  opened->find(library.init, {"hipInit"});
  opened->find(library.driverGetVersion, {"hipDriverGetVersion"});
  opened->find(library.getErrorName, {"hipGetErrorName"});
  opened->find(library.getErrorString, {"hipGetErrorString"});
  opened->find(library.getDeviceCount, {"hipGetDeviceCount"});
  opened->find(library.getDeviceProperties,
               {"hipGetDevicePropertiesR0600", "hipGetDeviceProperties"});
  opened->find(library.deviceTotalMem, {"hipDeviceTotalMem"});
  opened->find(library.getDevice, {"hipGetDevice"});
  opened->find(library.setDevice, {"hipSetDevice"});
  opened->find(library.moduleLoad, {"hipModuleLoadData"});
  opened->find(library.moduleUnload, {"hipModuleUnload"});
  opened->find(library.moduleGetFunction, {"hipModuleGetFunction"});
  opened->find(library.functionGetAttribute, {"hipFuncGetAttribute"});
  opened->find(library.launchKernel, {"hipModuleLaunchKernel"});
  opened->find(library.memoryAllocate, {"hipMalloc"});
  opened->find(library.memoryFree, {"hipFree"});
  opened->find(library.memoryCopy, {"hipMemcpyAsync"});
  opened->find(library.memorySet, {"hipMemsetAsync"});
  opened->find(library.streamCreate, {"hipStreamCreateWithFlags"});
  opened->find(library.streamDestroy, {"hipStreamDestroy"});
  opened->find(library.streamSynchronize, {"hipStreamSynchronize"});
  if (Error error = opened->checkComplete())
    return error;
  if (Error error = library.check(library.init(0), "hipInit"))
    return makeError(KILN_ERROR_DEVICE, "the driver in '" + opened->name() +
                                            "' does not start: " + toString(std::move(error)));
  if (Error error =
          library.check(library.driverGetVersion(&library.version), "hipDriverGetVersion"))
    return error;
  if (library.version < 50000000)
    return makeError(KILN_ERROR_UNSUPPORTED, "the driver in '" + opened->name() +
                                                 "' is too old: expected version 5.0 or later, "
                                                 "got " +
                                                 Twine(library.version / 10000000) + "." +
                                                 Twine(library.version / 100000 % 100));
  return library;
}

Expected<const Library *> Library::get() {
  struct Opened {
    Library library{};
    KilnErrorCode code = KILN_OK;
    std::string why;
  };
  static const Opened *once = [] {
    auto *result = new Opened;
    Expected<Library> opened = open();
    if (opened)
      result->library = *opened;
    else
      handleAllErrors(opened.takeError(), [&](const RuntimeError &error) {
        result->code = error.code;
        result->why = error.text;
      });
    return result;
  }();
  if (once->code != KILN_OK)
    return makeError(once->code, once->why);
  return &once->library;
}
