// Devices named "cuda:<number>", through NVIDIA's driver library.
#include "Library.h"
#include "llvm/ADT/StringSwitch.h"
#include <atomic>

using namespace kiln;
using namespace kiln::cuda;
using namespace llvm;

/// DLPack's kDLCUDA, kDLCUDAHost and kDLCUDAManaged.
static constexpr int32_t deviceMemory = 2, pinnedMemory = 3, managedMemory = 13;

/// Clusters of more programs must be asked for, and not every chip has them.
static constexpr int64_t portableCluster = 8;

namespace {
class CUDAApi : public LibraryApi {
public:
  CUDAApi(const Library &library, int number, int device, void *context)
      : LibraryApi(library, number), library(library), device(device), context(context) {}

  Expected<void *> enter() override {
    void *current = nullptr, *ours = context.load(std::memory_order_relaxed);
    if (Error error = library.call(library.contextGetCurrent, &current))
      return error;
    if (current != ours)
      if (Error error = library.call(library.contextPush, ours))
        return error;
    return current;
  }
  void leave(void *previous) override {
    void *popped;
    if (previous != context.load(std::memory_order_relaxed))
      library.contextPop(&popped);
  }

  Expected<Code> load(StringRef code, const std::string &symbol, uint64_t sharedBytes) override;
  Error launch(const Launch &launch) override;
  Error encode(const TensorMap &view, void *out) override;

  Error copy(void *to, const void *from, uint64_t size, KilnCopyKind kind,
             KilnStream stream) override {
    const auto &entry = kind == KILN_COPY_TO_DEVICE     ? library.copyToDevice
                        : kind == KILN_COPY_FROM_DEVICE ? library.copyFromDevice
                                                        : library.copyOnDevice;
    return library.call(entry, to, from, size, stream);
  }

  Error enableAccess(AcceleratorApi &peer) override {
    const auto &entry = library.contextEnablePeerAccess;
    return checkPeerAccess(entry(static_cast<CUDAApi &>(peer).context.load(), 0), entry.name());
  }
  Error renew() override;

private:
  const Library &library;
  const int device;
  std::atomic<void *> context;
};
} // namespace

/// What a driver that is older than the kernel's text says of it; empty if that is not what is
/// wrong.
static std::string whyTooOld(StringRef code, StringRef said) {
  if (!said.contains("UNSUPPORTED_PTX_VERSION") && !said.contains("Unsupported .version"))
    return "";
  StringRef version = code.split(".version ").second.split('\n').first.trim();
  return ("expected a driver that reads PTX " + version +
          ", got an older one; update it, or name an assembler that does by KILN_ASSEMBLER")
      .str();
}

Expected<AcceleratorApi::Code> CUDAApi::load(StringRef code, const std::string &symbol,
                                             uint64_t sharedBytes) {
  OutsideCapture outside(library.functions);
  // PTX is a zero-terminated text: sections of an artifact are.
  char log[8192] = {};
  int options[] = {errorLogBuffer, errorLogBytes};
  void *values[] = {log, reinterpret_cast<void *>(sizeof(log))};
  Code loaded;
  // NOLINTNEXTLINE(bugprone-suspicious-stringview-data-usage): see above.
  if (Error error = library.call(library.moduleLoad, &loaded.module, code.data(),
                                 std::size(options), options, values)) {
    log[sizeof(log) - 1] = 0;
    std::string text = toString(std::move(error));
    if (StringRef said = StringRef(log).rtrim(); !said.empty())
      text += "\n" + said.str();
    if (std::string why = whyTooOld(code, text); !why.empty())
      return makeError(KILN_ERROR_UNSUPPORTED, why + "\n" + text);
    return makeError(KILN_ERROR_DEVICE, text);
  }
  if (Error error = findFunction(loaded, symbol))
    return error;
  loaded.dynamicShared = sharedBytes;
  // More than 48 KiB of dynamic shared memory must be asked for.
  if (sharedBytes > 48 * 1024)
    if (Error error = library.call(library.functionSetAttribute, loaded.function,
                                   maxDynamicSharedBytes, sharedBytes)) {
      unload(loaded);
      return error;
    }
  return loaded;
}

Error CUDAApi::launch(const Launch &launch) {
  const LaunchTraits &traits = launch.traits;
  if (LLVM_LIKELY(traits.isPlain()))
    return LibraryApi::launch(launch);
  LaunchAttribute attributes[4] = {};
  unsigned count = 0;
  auto add = [&](LaunchAttributeId id, unsigned x, unsigned y = 0, unsigned z = 0) {
    attributes[count++] = {id, {}, {x, y, z}};
  };
  if (traits.hasClusters()) {
    const int64_t *cluster = traits.cluster;
    add(clusterDimension, cluster[0], cluster[1], cluster[2]);
    if (cluster[0] * cluster[1] * cluster[2] > portableCluster)
      if (Error error =
              library.call(library.functionSetAttribute, launch.function, nonPortableClusters, 1))
        return error;
  }
  if (traits.cooperative)
    add(cooperativeLaunch, 1);
  if (traits.overlap)
    add(programmaticSerialization, 1);
  if (traits.hasPriority)
    add(launchPriority, traits.priority);
  LaunchConfig config{{launch.grid[0], launch.grid[1], launch.grid[2]},
                      {launch.block, 1, 1},
                      launch.dynamicShared,
                      launch.stream,
                      attributes,
                      count};
  return explainResidency(library.call(library.launchKernelEx, &config, launch.function,
                                       launch.parameters, static_cast<void **>(nullptr)),
                          launch);
}

/// The context dies with its last owner; if it is still there, another owner holds it. After
/// some failures drivers make no other one for the process.
Error CUDAApi::renew() {
  unsigned flags = 0;
  int active = 0;
  // Of a context that is lost, this reports the loss; it is released all the same.
  library.primaryContextRelease(device);
  Error asked = library.call(library.primaryContextGetState, device, &flags, &active);
  void *made = nullptr;
  if (Error error = library.call(library.primaryContextRetain, &made, device)) {
    consumeError(std::move(asked));
    return makeError(KILN_ERROR_DEVICE, "the driver makes no new context after such a failure (" +
                                            toString(std::move(error)) + "); start a new process");
  }
  context = made;
  if (asked)
    return asked;
  if (active)
    return makeError(KILN_ERROR_UNSUPPORTED,
                     "another library in this process has the device's context too, so it cannot "
                     "be reset; start a new process");
  return Error::success();
}

//===- Tensor maps --------------------------------------------------------------------------===//

/// The driver's number for a type, and its bits; narrow floats are bytes to the copy engine.
static std::optional<std::pair<int, int64_t>> tensorMapType(StringRef type) {
  using Number = std::pair<int, int64_t>;
  return StringSwitch<std::optional<Number>>(type)
      .Case("f64", Number{mapF64, 64})
      .Case("f32", Number{mapF32, 32})
      .Case("f16", Number{mapF16, 16})
      .Case("bf16", Number{mapBF16, 16})
      .Case("i64", Number{mapI64, 64})
      .Case("i32", Number{mapI32, 32})
      .Case("i16", Number{mapU16, 16})
      .Cases({"i8", "f8E4M3FN", "f8E5M2", "f8E8M0FNU"}, Number{mapU8, 8})
      .Default(std::nullopt);
}

Error CUDAApi::encode(const TensorMap &view, void *out) {
  auto fail = [](const Twine &text) { return makeError(KILN_ERROR_INVALID_ARGUMENT, text); };
  if (!library.tensorMapEncode.function)
    return makeError(KILN_ERROR_UNSUPPORTED, "expected a driver of version 12.0 or later, which "
                                             "encodes tensor maps");
  auto type = tensorMapType(view.map.type);
  if (!type)
    return fail("expected elements that a tensor map can hold, got " + view.map.type);
  if (view.address % 16)
    return fail("expected an address that is a multiple of 16 bytes for a tensor map, got 0x" +
                Twine::utohexstr(view.address));
  int rank = view.map.box.size();
  uint64_t extents[5], strides[5];
  uint32_t box[5], steps[5];
  for (int i = 0; i < rank; ++i) {
    int dim = rank - 1 - i;
    int64_t bytes = view.strides[dim] * (type->second / 8);
    if (view.shape[dim] > int64_t(1) << 32)
      return fail("expected an extent of at most 2^32 for a tensor map, got " +
                  Twine(view.shape[dim]) + " along dimension " + Twine(dim));
    // Where there is one element, no step is ever taken.
    if (view.shape[dim] == 1)
      bytes = i == 0 ? type->second / 8 : 16;
    if (i == 0 && bytes != type->second / 8)
      return fail("expected a stride of 1 along dimension " + Twine(dim) +
                  " for a tensor map, got " + Twine(view.strides[dim]));
    if (i > 0 && (bytes % 16 || bytes < 0 || bytes >= int64_t(1) << 40))
      return fail("expected a stride that is a multiple of 16 bytes along dimension " + Twine(dim) +
                  " for a tensor map, got " + Twine(view.strides[dim]) + " elements");
    extents[i] = view.shape[dim];
    strides[i] = bytes;
    box[i] = view.map.box[dim];
    steps[i] = 1;
  }
  int swizzle = view.map.swizzle == 128  ? 3
                : view.map.swizzle == 64 ? 2
                : view.map.swizzle == 32 ? 1
                                         : 0;
  return library.call(library.tensorMapEncode, out, type->first, rank,
                      reinterpret_cast<void *>(view.address), extents, strides + 1, box, steps, 0,
                      swizzle, promote128Bytes, /*padding with zeros*/ 0);
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
  if (Error error = library.call(library.deviceGet, &device, number))
    return error;
  if (Error error = library.call(library.deviceGetName, name, sizeof(name) - 1, device))
    return error;
  if (Error error = library.call(library.functions.getTotalMemory, &memory, device))
    return error;
  auto ask = [&](DeviceAttribute attribute) {
    int value = 0;
    library.deviceGetAttribute(&value, attribute, device);
    return value;
  };
  std::string arch = architecture(ask(majorCapability), ask(minorCapability));
  if (Error error = library.call(library.primaryContextRetain, &context, device))
    return error;
  AcceleratorInfo info;
  info.name = "cuda:" + std::to_string(number);
  info.target = "nvptx:" + arch;
  info.identity = arch + " driver " + std::to_string(library.version);
  info.description = std::string(name) + ", " + arch + ", " + std::to_string(memory >> 30) + " GiB";
  info.memory = {deviceMemory, number};
  info.reachableTypes = {pinnedMemory, managedMemory};
  info.maxSharedBytes = ask(maxSharedOptIn);
  info.multiprocessors = ask(multiprocessors);
  info.abilities = {ask(clusterLaunches) != 0, ask(cooperativeLaunches) != 0,
                    /*overlap=*/ask(majorCapability) >= 9, /*priority=*/true};
  for (int i = 0; i < 3; ++i)
    info.maxGrid[i] = ask(DeviceAttribute(maxGridX + i));
  info.numbers = {{"memory_bytes", memory},
                  {"multiprocessors", info.multiprocessors},
                  {"l2_cache_bytes", ask(l2CacheBytes)},
                  {"driver_version", library.version}};
  return makeAccelerator(std::move(info),
                         std::make_unique<CUDAApi>(library, number, device, context));
}

namespace kiln {
std::unique_ptr<Driver> createCUDADriver() {
  return std::make_unique<LibraryDriver<Library>>(
      "cuda", std::vector<int32_t>{deviceMemory, managedMemory}, openNumber);
}
} // namespace kiln
