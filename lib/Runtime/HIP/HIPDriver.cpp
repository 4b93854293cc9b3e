// Devices named "hip:<number>", through AMD's runtime library.
#include "Library.h"
#include "kiln/Runtime/Error.h"

using namespace kiln;
using namespace kiln::hip;
using namespace llvm;

/// DLPack's kDLROCM and kDLROCMHost.
static constexpr int32_t deviceMemory = 10, pinnedMemory = 11;
/// Local memory of a block on every chip that is supported.
static constexpr uint64_t defaultSharedBytes = 64 * 1024;
static constexpr uint64_t gfx950SharedBytes = 160 * 1024;

namespace {
class HIPApi : public AcceleratorApi {
public:
  HIPApi(const Library &library, int number) : library(library), number(number) {}

  Expected<void *> enter() override {
    int current = 0;
    if (Error error = library.check(library.getDevice(&current), "hipGetDevice"))
      return error;
    if (current != number)
      if (Error error = library.check(library.setDevice(number), "hipSetDevice"))
        return error;
    return reinterpret_cast<void *>(intptr_t(current));
  }
  void leave(void *previous) override {
    if (int before = int(reinterpret_cast<intptr_t>(previous)); before != number)
      library.setDevice(before);
  }

  Expected<Code> load(StringRef code, const std::string &symbol, uint64_t) override {
    Code loaded;
    if (Error error =
            library.check(library.moduleLoad(&loaded.module, code.data()), "hipModuleLoadData"))
      return error;
    if (Error error = library.check(
            library.moduleGetFunction(&loaded.function, loaded.module, symbol.c_str()),
            "hipModuleGetFunction")) {
      unload(loaded);
      return error;
    }
    return loaded;
  }
  void unload(const Code &code) override { library.moduleUnload(code.module); }

  json::Object describe(const Code &code) override {
    auto ask = [&](int attribute) -> int64_t {
      int value = 0;
      return library.functionGetAttribute(&value, attribute, code.function) == 0 ? value : -1;
    };
    return json::Object{{"registers", ask(numRegisters)},
                        {"local_bytes", ask(localBytes)},
                        {"static_shared_bytes", ask(sharedBytes)}};
  }

  Error launch(const Launch &launch) override {
    const unsigned *grid = launch.grid, *cluster = launch.cluster;
    if (cluster[0] * cluster[1] * cluster[2] != 1)
      return makeError(KILN_ERROR_UNSUPPORTED, "this driver cannot launch clusters");
    return library.check(library.launchKernel(launch.function, grid[0], grid[1], grid[2],
                                              launch.block, 1, 1, launch.sharedBytes, launch.stream,
                                              launch.parameters, nullptr),
                         "hipModuleLaunchKernel");
  }

  Expected<void *> allocate(uint64_t size) override {
    void *memory = nullptr;
    if (Error error = library.check(library.memoryAllocate(&memory, size),
                                    "hipMalloc of " + Twine(size) + " bytes"))
      return error;
    return memory;
  }
  Error free(void *memory) override { return library.check(library.memoryFree(memory), "hipFree"); }
  Error copy(void *to, const void *from, uint64_t size, KilnCopyKind kind,
             KilnStream stream) override {
    CopyKind direction = kind == KILN_COPY_TO_DEVICE     ? hostToDevice
                         : kind == KILN_COPY_FROM_DEVICE ? deviceToHost
                                                         : deviceToDevice;
    return library.check(library.memoryCopy(to, from, size, direction, stream), "hipMemcpyAsync");
  }
  Error clear(void *memory, uint64_t size, KilnStream stream) override {
    return library.check(library.memorySet(memory, 0, size, stream), "hipMemsetAsync");
  }
  Expected<KilnStream> createStream() override {
    void *stream = nullptr;
    // Flag 1: no implicit ordering with the default stream.
    if (Error error = library.check(library.streamCreate(&stream, 1), "hipStreamCreateWithFlags"))
      return error;
    return stream;
  }
  Error destroyStream(KilnStream stream) override {
    return library.check(library.streamDestroy(stream), "hipStreamDestroy");
  }
  Error synchronize(KilnStream stream) override {
    return library.check(library.streamSynchronize(stream), "hipStreamSynchronize");
  }

private:
  const Library &library;
  const int number;
};
} // namespace

/// "gfx942" out of the properties; the features that may follow it after a colon are left out.
static std::string architecture(const DeviceProperties &properties) {
  StringRef all(properties.bytes, sizeof(properties.bytes));
  StringRef name = all.substr(all.find("gfx"));
  return name.take_until([](char c) { return c == ':' || c == '\0'; }).str();
}

static Expected<std::unique_ptr<Device>> openNumber(const Library &library, int number) {
  auto properties = std::make_unique<DeviceProperties>();
  size_t memory = 0;
  if (Error error = library.check(library.getDeviceProperties(properties.get(), number),
                                  "hipGetDeviceProperties"))
    return error;
  if (Error error = library.check(library.deviceTotalMem(&memory, number), "hipDeviceTotalMem"))
    return error;
  std::string arch = architecture(*properties);
  if (!StringRef(arch).starts_with("gfx"))
    return makeError(KILN_ERROR_DEVICE,
                     "device 'hip:" + Twine(number) + "' does not say which architecture it has");
  properties->bytes[255] = 0; // the structure begins with the device's name
  AcceleratorInfo info;
  info.name = "hip:" + std::to_string(number);
  info.target = "amdgpu:" + arch;
  info.identity = arch + " driver " + std::to_string(library.version);
  info.description =
      std::string(properties->bytes) + ", " + arch + ", " + std::to_string(memory >> 30) + " GiB";
  info.memory = {deviceMemory, number};
  info.reachableTypes = {pinnedMemory};
  info.maxSharedBytes = arch == "gfx950" ? gfx950SharedBytes : defaultSharedBytes;
  info.maxGrid[0] = 0x7fffffff;
  info.maxGrid[1] = info.maxGrid[2] = 65535;
  info.numbers = {{"memory_bytes", memory}, {"driver_version", library.version}};
  return makeAccelerator(std::move(info), std::make_unique<HIPApi>(library, number));
}

//===- Driver -------------------------------------------------------------------------------===//

namespace {
class HIPDriver : public Driver {
public:
  StringRef prefix() const override { return "hip"; }

  Expected<std::unique_ptr<Device>> open(StringRef rest) override {
    Expected<const Library *> library = Library::get();
    if (!library)
      return library.takeError();
    int number = 0, count = 0;
    if (Error error = (*library)->check((*library)->getDeviceCount(&count), "hipGetDeviceCount"))
      return error;
    if ((!rest.empty() && rest.getAsInteger(10, number)) || number < 0 || number >= count)
      return makeError(KILN_ERROR_NOT_FOUND,
                       "no device 'hip:" + rest + "': expected a number below " + Twine(count));
    return openNumber(**library, number);
  }

  Expected<std::vector<std::string>> names() override {
    Expected<const Library *> library = Library::get();
    if (!library)
      return library.takeError();
    int count = 0;
    if (Error error = (*library)->check((*library)->getDeviceCount(&count), "hipGetDeviceCount"))
      return error;
    if (count == 0)
      return makeError(KILN_ERROR_NOT_FOUND, "the driver has no device");
    std::vector<std::string> all;
    for (int i = 0; i < count; ++i)
      all.push_back("hip:" + std::to_string(i));
    return all;
  }

  std::string nameOfMemory(MemorySpace memory) const override {
    return memory.type == deviceMemory ? "hip:" + std::to_string(memory.id) : "";
  }
};
} // namespace

namespace kiln {
std::unique_ptr<Driver> createHIPDriver() { return std::make_unique<HIPDriver>(); }
} // namespace kiln
