// Devices named "hip:<number>", through AMD's runtime library.
#include "Library.h"
#include "llvm/ADT/StringSwitch.h"

using namespace kiln;
using namespace kiln::hip;
using namespace llvm;

/// DLPack's kDLROCM and kDLROCMHost.
static constexpr int32_t deviceMemory = 10, pinnedMemory = 11;
/// Local memory of a block on a chip that is not among the records.
static constexpr uint64_t defaultSharedBytes = 64 * 1024;

namespace {
class HIPApi : public LibraryApi {
public:
  HIPApi(const Library &library, int number) : LibraryApi(library, number), library(library) {}

  Expected<void *> enter() override {
    int current = 0;
    if (Error error = library.call(library.getDevice, &current))
      return error;
    if (current != number)
      if (Error error = library.call(library.setDevice, number))
        return error;
    return reinterpret_cast<void *>(intptr_t(current));
  }
  void leave(void *previous) override {
    if (int before = int(reinterpret_cast<intptr_t>(previous)); before != number)
      library.setDevice(before);
  }

  /// A code object states its local memory itself (.group_segment_fixed_size), and the library adds
  /// to it what a launch asks for: nothing.
  Expected<Code> load(StringRef code, const std::string &symbol, uint64_t) override {
    OutsideCapture outside(library.functions);
    Code loaded;
    hipModule_t module = nullptr;
    // NOLINTNEXTLINE(bugprone-suspicious-stringview-data-usage): ELF says itself how long it is.
    if (Error error = library.call(library.moduleLoad, &module, code.data()))
      return error;
    loaded.module = module;
    if (Error error = findFunction(loaded, symbol))
      return error;
    return loaded;
  }

  Error copy(void *to, const void *from, uint64_t size, KilnCopyKind kind,
             KilnStream stream) override {
    hipMemcpyKind direction = kind == KILN_COPY_TO_DEVICE     ? hipMemcpyHostToDevice
                              : kind == KILN_COPY_FROM_DEVICE ? hipMemcpyDeviceToHost
                                                              : hipMemcpyDeviceToDevice;
    return library.call(library.memoryCopy, to, from, size, direction,
                        static_cast<hipStream_t>(stream));
  }

  /// The one trait that the library's devices have.
  Error launch(const Launch &launch) override {
    if (LLVM_LIKELY(!launch.traits.cooperative))
      return LibraryApi::launch(launch);
    const unsigned *grid = launch.grid;
    return explainResidency(
        library.call(library.launchCooperative, static_cast<hipFunction_t>(launch.function),
                     grid[0], grid[1], grid[2], launch.block, 1u, 1u, launch.dynamicShared,
                     static_cast<hipStream_t>(launch.stream), launch.parameters),
        launch);
  }

  Error enableAccess(AcceleratorApi &peer) override {
    const auto &entry = library.deviceEnablePeerAccess;
    return checkPeerAccess(entry(static_cast<HIPApi &>(peer).number, 0), entry.name());
  }
  /// The library counts no owners of a device.
  Error renew() override {
    return makeError(KILN_ERROR_UNSUPPORTED,
                     "the driver cannot tell who else in this process uses the device, so it "
                     "cannot be reset; start a new process");
  }

private:
  const Library &library;
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
  if (Error error = library.call(library.getDeviceProperties,
                                 reinterpret_cast<hipDeviceProp_t *>(properties.get()), number))
    return error;
  if (Error error = library.call(library.functions.getTotalMemory, &memory, number))
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
  info.maxSharedBytes = StringSwitch<uint64_t>(arch)
#define KILN_CHIP(name, sharedBytes) .Case(name, sharedBytes)
#include "kiln/Target/AMDGPU/ChipLimits.inc"
                            .Default(defaultSharedBytes);
  auto ask = [&](hipDeviceAttribute_t attribute) {
    int value = 0;
    library.deviceGetAttribute(&value, attribute, number);
    return value;
  };
  info.multiprocessors = ask(hipDeviceAttributeMultiprocessorCount);
  info.abilities.cooperative =
      library.launchCooperative.function && ask(hipDeviceAttributeCooperativeLaunch) != 0;
  info.maxGrid[0] = 0x7fffffff;
  info.maxGrid[1] = info.maxGrid[2] = 65535;
  info.maxThreads = 0xffffffff;
  info.numbers = {{"memory_bytes", memory},
                  {"multiprocessors", info.multiprocessors},
                  {"driver_version", library.version}};
  return makeAccelerator(std::move(info), std::make_unique<HIPApi>(library, number));
}

//===- Driver -------------------------------------------------------------------------------===//

namespace kiln {
std::unique_ptr<Driver> createHIPDriver() {
  return std::make_unique<LibraryDriver<Library>>("hip", std::vector<int32_t>{deviceMemory},
                                                  openNumber);
}
} // namespace kiln
