// Opening NVIDIA's driver library.
#include "Library.h"
#include "kiln/Runtime/Error.h"

using namespace kiln;
using namespace kiln::cuda;
using namespace llvm;

Error Library::check(Result result, const Twine &doing) const {
  if (LLVM_LIKELY(result == 0))
    return Error::success();
  const char *name = nullptr, *text = nullptr;
  getErrorName(result, &name);
  getErrorString(result, &text);
  return makeError(result == outOfMemory ? KILN_ERROR_OUT_OF_MEMORY : KILN_ERROR_DEVICE,
                   doing + " failed: " + (name ? name : "unknown error") + " (" +
                       (text ? text : "no description") + ")");
}

static Expected<Library> open() {
  Expected<DriverLibrary> opened =
      DriverLibrary::open({"libcuda.so.1", "libcuda.so"}, "KILN_CUDA_LIBRARY");
  if (!opened)
    return opened.takeError();
  Library library{};
  opened->find(library.init, {"cuInit"});
  opened->find(library.driverGetVersion, {"cuDriverGetVersion"});
  opened->find(library.getErrorName, {"cuGetErrorName"});
  opened->find(library.getErrorString, {"cuGetErrorString"});
  opened->find(library.deviceGetCount, {"cuDeviceGetCount"});
  opened->find(library.deviceGet, {"cuDeviceGet"});
  opened->find(library.deviceGetName, {"cuDeviceGetName"});
  opened->find(library.deviceTotalMem, {"cuDeviceTotalMem_v2"});
  opened->find(library.deviceGetAttribute, {"cuDeviceGetAttribute"});
  opened->find(library.primaryContextRetain, {"cuDevicePrimaryCtxRetain"});
  opened->find(library.contextGetCurrent, {"cuCtxGetCurrent"});
  opened->find(library.contextPush, {"cuCtxPushCurrent_v2"});
  opened->find(library.contextPop, {"cuCtxPopCurrent_v2"});
  opened->find(library.moduleLoad, {"cuModuleLoadDataEx"});
  opened->find(library.moduleUnload, {"cuModuleUnload"});
  opened->find(library.moduleGetFunction, {"cuModuleGetFunction"});
  opened->find(library.functionGetAttribute, {"cuFuncGetAttribute"});
  opened->find(library.functionSetAttribute, {"cuFuncSetAttribute"});
  opened->find(library.launchKernel, {"cuLaunchKernel"});
  opened->find(library.memoryAllocate, {"cuMemAlloc_v2"});
  opened->find(library.memoryFree, {"cuMemFree_v2"});
  opened->find(library.copyToDevice, {"cuMemcpyHtoDAsync_v2"});
  opened->find(library.copyFromDevice, {"cuMemcpyDtoHAsync_v2"});
  opened->find(library.copyOnDevice, {"cuMemcpyDtoDAsync_v2"});
  opened->find(library.memorySet, {"cuMemsetD8Async"});
  opened->find(library.streamCreate, {"cuStreamCreate"});
  opened->find(library.streamDestroy, {"cuStreamDestroy_v2"});
  opened->find(library.streamSynchronize, {"cuStreamSynchronize"});
  if (Error error = opened->checkComplete())
    return error;
  opened->find(library.launchKernelEx, {"cuLaunchKernelEx"});
  opened->find(library.tensorMapEncode, {"cuTensorMapEncodeTiled"});
  if (Error error = library.check(library.init(0), "cuInit"))
    return makeError(KILN_ERROR_DEVICE, "the driver in '" + opened->name() +
                                            "' does not start: " + toString(std::move(error)));
  if (Error error = library.check(library.driverGetVersion(&library.version), "cuDriverGetVersion"))
    return error;
  if (library.version < 11080)
    return makeError(KILN_ERROR_UNSUPPORTED, "the driver in '" + opened->name() +
                                                 "' is too old: expected version 11.8 or later, "
                                                 "got " +
                                                 Twine(library.version / 1000) + "." +
                                                 Twine(library.version % 1000 / 10));
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
