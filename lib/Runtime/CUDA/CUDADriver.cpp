// Devices named "cuda:<number>", through NVIDIA's driver library.
#include "Library.h"
#include "kiln/Runtime/Error.h"

using namespace kiln;
using namespace kiln::cuda;
using namespace llvm;

/// DLPack's kDLCUDA, kDLCUDAHost and kDLCUDAManaged.
static constexpr int32_t deviceMemory = 2, pinnedMemory = 3, managedMemory = 13;

namespace {
class CUDAApi : public AcceleratorApi {
public:
  CUDAApi(const Library &library, void *context) : library(library), context(context) {}

  Expected<void *> enter() override {
    void *current = nullptr;
    if (Error error = library.check(library.contextGetCurrent(&current), "cuCtxGetCurrent"))
      return error;
    if (current != context)
      if (Error error = library.check(library.contextPush(context), "cuCtxPushCurrent"))
        return error;
    return current;
  }
  void leave(void *previous) override {
    void *popped;
    if (previous != context)
      library.contextPop(&popped);
  }

  Expected<Code> load(StringRef code, const std::string &symbol, uint64_t sharedBytes) override;
  void unload(const Code &code) override { library.moduleUnload(code.module); }
  json::Object describe(const Code &code) override;
  Error launch(const Launch &launch) override;

  Expected<void *> allocate(uint64_t size) override {
    uint64_t memory = 0;
    if (Error error = library.check(library.memoryAllocate(&memory, size),
                                    "cuMemAlloc of " + Twine(size) + " bytes"))
      return error;
    return reinterpret_cast<void *>(memory);
  }
  Error free(void *memory) override {
    return library.check(library.memoryFree(reinterpret_cast<uint64_t>(memory)), "cuMemFree");
  }
  Error copy(void *to, const void *from, uint64_t size, KilnCopyKind kind,
             KilnStream stream) override {
    auto address = [](const void *pointer) { return reinterpret_cast<uint64_t>(pointer); };
    if (kind == KILN_COPY_TO_DEVICE)
      return library.check(library.copyToDevice(address(to), from, size, stream), "cuMemcpyHtoD");
    if (kind == KILN_COPY_FROM_DEVICE)
      return library.check(library.copyFromDevice(to, address(from), size, stream), "cuMemcpyDtoH");
    return library.check(library.copyOnDevice(address(to), address(from), size, stream),
                         "cuMemcpyDtoD");
  }
  Error clear(void *memory, uint64_t size, KilnStream stream) override {
    return library.check(library.memorySet(reinterpret_cast<uint64_t>(memory), 0, size, stream),
                         "cuMemsetD8");
  }
  Expected<KilnStream> createStream() override {
    void *stream = nullptr;
    // Flag 1: no implicit ordering with the default stream.
    if (Error error = library.check(library.streamCreate(&stream, 1), "cuStreamCreate"))
      return error;
    return stream;
  }
  Error destroyStream(KilnStream stream) override {
    return library.check(library.streamDestroy(stream), "cuStreamDestroy");
  }
  Error synchronize(KilnStream stream) override {
    return library.check(library.streamSynchronize(stream), "cuStreamSynchronize");
  }

private:
  const Library &library;
  void *const context;
};
} // namespace

Expected<AcceleratorApi::Code> CUDAApi::load(StringRef code, const std::string &symbol,
                                             uint64_t sharedBytes) {
  // PTX is a zero-terminated text: sections of an artifact are.
  char log[8192] = {};
  int options[] = {errorLogBuffer, errorLogBytes};
  void *values[] = {log, reinterpret_cast<void *>(sizeof(log))};
  Code loaded;
  if (Error error = library.check(
          library.moduleLoad(&loaded.module, code.data(), std::size(options), options, values),
          "cuModuleLoadDataEx")) {
    log[sizeof(log) - 1] = 0;
    StringRef said = StringRef(log).rtrim();
    return makeError(KILN_ERROR_DEVICE,
                     toString(std::move(error)) + (said.empty() ? "" : "\n" + said.str()));
  }
  auto fail = [&](Error error) {
    unload(loaded);
    return error;
  };
  if (Error error =
          library.check(library.moduleGetFunction(&loaded.function, loaded.module, symbol.c_str()),
                        "cuModuleGetFunction"))
    return fail(std::move(error));
  // More than 48 KiB of dynamic shared memory must be asked for.
  if (sharedBytes > 48 * 1024)
    if (Error error = library.check(
            library.functionSetAttribute(loaded.function, maxDynamicSharedBytes, sharedBytes),
            "cuFuncSetAttribute"))
      return fail(std::move(error));
  return loaded;
}

json::Object CUDAApi::describe(const Code &code) {
  auto ask = [&](int attribute) -> int64_t {
    int value = 0;
    return library.functionGetAttribute(&value, attribute, code.function) == 0 ? value : -1;
  };
  return json::Object{{"registers", ask(numRegisters)},
                      {"local_bytes", ask(localBytes)},
                      {"static_shared_bytes", ask(staticSharedBytes)}};
}

Error CUDAApi::launch(const Launch &launch) {
  const unsigned *grid = launch.grid, *cluster = launch.cluster;
  if (LLVM_LIKELY(cluster[0] * cluster[1] * cluster[2] == 1))
    return library.check(library.launchKernel(launch.function, grid[0], grid[1], grid[2],
                                              launch.block, 1, 1, launch.sharedBytes, launch.stream,
                                              launch.parameters, nullptr),
                         "cuLaunchKernel");
  if (!library.launchKernelEx)
    return makeError(KILN_ERROR_UNSUPPORTED, "this driver cannot launch clusters");
  if (cluster[0] * cluster[1] * cluster[2] > 8)
    if (Error error =
            library.check(library.functionSetAttribute(launch.function, nonPortableClusters, 1),
                          "cuFuncSetAttribute"))
      return error;
  LaunchAttribute attribute{clusterDimension, {}, {cluster[0], cluster[1], cluster[2]}};
  LaunchConfig config{{grid[0], grid[1], grid[2]},
                      {launch.block, 1, 1},
                      launch.sharedBytes,
                      launch.stream,
                      &attribute,
                      1};
  return library.check(library.launchKernelEx(&config, launch.function, launch.parameters, nullptr),
                       "cuLaunchKernelEx");
}

//===- Driver -------------------------------------------------------------------------------===//

/// The architecture's name; from 9.0 on with its accelerated features.
static std::string architecture(int major, int minor) {
  return "sm_" + std::to_string(major * 10 + minor) + (major >= 9 ? "a" : "");
}

static Expected<std::unique_ptr<Device>> openNumber(const Library &library, int number) {
  int device;
  char name[256] = {};
  size_t memory = 0;
  void *context = nullptr;
  if (Error error = library.check(library.deviceGet(&device, number), "cuDeviceGet"))
    return error;
  if (Error error =
          library.check(library.deviceGetName(name, sizeof(name) - 1, device), "cuDeviceGetName"))
    return error;
  if (Error error = library.check(library.deviceTotalMem(&memory, device), "cuDeviceTotalMem"))
    return error;
  auto ask = [&](DeviceAttribute attribute) {
    int value = 0;
    library.deviceGetAttribute(&value, attribute, device);
    return value;
  };
  std::string arch = architecture(ask(majorCapability), ask(minorCapability));
  if (Error error =
          library.check(library.primaryContextRetain(&context, device), "cuDevicePrimaryCtxRetain"))
    return error;
  AcceleratorInfo info;
  info.name = "cuda:" + std::to_string(number);
  info.target = "nvptx:" + arch;
  info.identity = arch + " driver " + std::to_string(library.version);
  info.description = std::string(name) + ", " + arch + ", " + std::to_string(memory >> 30) + " GiB";
  info.memory = {deviceMemory, number};
  info.reachableTypes = {pinnedMemory, managedMemory};
  info.maxSharedBytes = ask(maxSharedOptIn);
  for (int i = 0; i < 3; ++i)
    info.maxGrid[i] = ask(DeviceAttribute(maxGridX + i));
  info.numbers = {{"memory_bytes", memory},
                  {"multiprocessors", ask(multiprocessors)},
                  {"l2_cache_bytes", ask(l2CacheBytes)},
                  {"driver_version", library.version}};
  return makeAccelerator(std::move(info), std::make_unique<CUDAApi>(library, context));
}

namespace {
class CUDADriver : public Driver {
public:
  StringRef prefix() const override { return "cuda"; }

  Expected<std::unique_ptr<Device>> open(StringRef rest) override {
    Expected<const Library *> library = Library::get();
    if (!library)
      return library.takeError();
    int number = 0, count = 0;
    if (Error error = (*library)->check((*library)->deviceGetCount(&count), "cuDeviceGetCount"))
      return error;
    if ((!rest.empty() && rest.getAsInteger(10, number)) || number < 0 || number >= count)
      return makeError(KILN_ERROR_NOT_FOUND,
                       "no device 'cuda:" + rest + "': expected a number below " + Twine(count));
    return openNumber(**library, number);
  }

  Expected<std::vector<std::string>> names() override {
    Expected<const Library *> library = Library::get();
    if (!library)
      return library.takeError();
    int count = 0;
    if (Error error = (*library)->check((*library)->deviceGetCount(&count), "cuDeviceGetCount"))
      return error;
    if (count == 0)
      return makeError(KILN_ERROR_NOT_FOUND, "the driver has no device");
    std::vector<std::string> all;
    for (int i = 0; i < count; ++i)
      all.push_back("cuda:" + std::to_string(i));
    return all;
  }

  std::string nameOfMemory(MemorySpace memory) const override {
    bool isOurs = memory.type == deviceMemory || memory.type == managedMemory;
    return isOurs ? "cuda:" + std::to_string(memory.id) : "";
  }
};
} // namespace

namespace kiln {
std::unique_ptr<Driver> createCUDADriver() { return std::make_unique<CUDADriver>(); }
} // namespace kiln
