// Devices on top of a vendor's driver library.
#include "kiln/Runtime/Device/Accelerator.h"
#include "TensorMaps.h"
#include "kiln/Runtime/Error.h"
#include "kiln/Runtime/Host/LoadedObject.h"
#include "kiln/Runtime/Host/Services.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Alignment.h"
#include <alloca.h>
#include <map>
#include <mutex>

using namespace kiln;
using namespace llvm;

namespace {
class AcceleratorDevice : public Device {
public:
  AcceleratorDevice(AcceleratorInfo given, std::unique_ptr<AcceleratorApi> api)
      : Device(given.name, given.target, given.identity, given.memory), info(std::move(given)),
        api(std::move(api)) {}

  json::Object properties() const override {
    json::Object object{{"max_shared_bytes", int64_t(info.maxSharedBytes)}};
    for (auto &[name, value] : info.numbers)
      object[name] = value;
    return object;
  }
  std::string description() const override { return info.description; }
  bool reaches(MemorySpace other) const override {
    return (other.type == memory.type && other.id == memory.id) ||
           is_contained(info.reachableTypes, other.type);
  }

  Expected<ExecutablePtr> load(const Artifact &artifact) override;
  Expected<void *> allocate(uint64_t size) override;
  Error free(void *pointer) override;
  Error copy(void *to, const void *from, uint64_t size, KilnCopyKind kind,
             KilnStream stream) override;
  Expected<KilnStream> createStream() override;
  Error destroyStream(KilnStream stream) override;
  Error synchronize(KilnStream stream) override;
  Expected<void *> hiddenMemory(unsigned slot, uint64_t size, bool zeroed,
                                KilnStream stream) override;

  const AcceleratorInfo info;
  const std::unique_ptr<AcceleratorApi> api;

private:
  struct Hidden {
    void *memory = nullptr;
    uint64_t size = 0;
  };
  std::mutex mutex;
  /// Launches on one stream run in order, so they share their hidden memory.
  std::map<std::pair<KilnStream, unsigned>, Hidden> hidden;
};

/// The device is the calling thread's for as long as this lives.
class Entered {
public:
  explicit Entered(AcceleratorApi &api) : api(api), previous(api.enter()) {}
  ~Entered() {
    if (previous)
      api.leave(*previous);
  }
  Error failed() { return previous ? Error::success() : previous.takeError(); }

private:
  AcceleratorApi &api;
  Expected<void *> previous;
};

class AcceleratorExecutable : public Executable {
public:
  AcceleratorExecutable(AcceleratorDevice &device, Artifact artifact, LaunchPlan plan,
                        AcceleratorApi::Code code, std::unique_ptr<LoadedObject> host)
      : Executable(device, std::move(artifact), std::move(plan)), owner(device), code(code),
        host(std::move(host)),
        grid(this->host ? this->host->find<HostGrid>("kiln_grid") : nullptr) {}
  ~AcceleratorExecutable() override {
    Entered entered(*owner.api);
    if (Error error = entered.failed())
      consumeError(std::move(error)); // the driver is going down and takes the code with it
    else
      owner.api->unload(code);
  }

  void computeGrid(const uint64_t *slots, int64_t out[3]) override { grid(slots, out); }
  json::Object describe() const override {
    Entered entered(*owner.api);
    if (Error error = entered.failed()) {
      consumeError(std::move(error));
      return {};
    }
    return owner.api->describe(code);
  }
  Error launch(const uint64_t *slots, const int64_t shape[3],
               const LaunchContext &context) override;

private:
  AcceleratorDevice &owner;
  const AcceleratorApi::Code code;
  const std::unique_ptr<LoadedObject> host;
  const HostGrid grid;
  TensorMaps maps;
};
} // namespace

//===- Kernels ------------------------------------------------------------------------------===//

Error AcceleratorExecutable::launch(const uint64_t *slots, const int64_t shape[3],
                                    const LaunchContext &context) {
  AcceleratorApi::Launch launch{};
  for (int i = 0; i < 3; ++i) {
    if (LLVM_UNLIKELY(uint64_t(shape[i]) > owner.info.maxGrid[i]))
      return makeError(KILN_ERROR_INVALID_ARGUMENT,
                       "kernel '" + plan.kernel + "': expected at most " +
                           Twine(owner.info.maxGrid[i]) + " programs along axis " + Twine(i) +
                           " on '" + device.name + "', got " + Twine(shape[i]));
    launch.grid[i] = shape[i];
    launch.cluster[i] = plan.cluster[i];
  }
  auto **parameters = static_cast<void **>(alloca((plan.slots.size() + 1) * sizeof(void *)));
  for (size_t i = 0; i < plan.slots.size(); ++i)
    parameters[i] = const_cast<uint64_t *>(slots + i);
  if (plan.persistent) {
    int64_t programs = owner.info.multiprocessors * plan.persistent;
    programs = std::max(programs / plan.cluster[0], int64_t(1)) * plan.cluster[0];
    launch.grid[0] = std::min<int64_t>(launch.grid[0], programs);
  }
  auto *encoded = static_cast<char *>(alloca((plan.maps.size() + 1) * sizeof(EncodedMap)));
  encoded = reinterpret_cast<char *>(alignAddr(encoded, Align(alignof(EncodedMap))));
  launch.function = code.function;
  launch.parameters = parameters;
  launch.block = plan.warps * plan.warpSize;
  launch.sharedBytes = plan.sharedBytes;
  launch.stream = context.stream;
  Entered entered(*owner.api);
  if (Error error = entered.failed())
    return error;
  for (size_t i = 0; i < (plan.maps.empty() ? 0 : plan.slots.size()); ++i) {
    const LaunchPlan::Slot &slot = plan.slots[i];
    if (slot.kind != LaunchPlan::Kind::TensorMap)
      continue;
    auto *map = reinterpret_cast<EncodedMap *>(encoded) + slot.map;
    if (Error error = maps.get(*owner.api, plan, slot.map, slots, *map))
      return error;
    parameters[i] = map;
  }
  if (Error error = owner.api->launch(launch))
    return makeError(KILN_ERROR_DEVICE,
                     "kernel '" + plan.kernel + "': " + toString(std::move(error)));
  return Error::success();
}

Expected<ExecutablePtr> AcceleratorDevice::load(const Artifact &artifact) {
  Expected<LaunchPlan> plan = LaunchPlan::parse(artifact);
  if (!plan)
    return plan.takeError();
  if (artifact.metadataString("target") != target)
    return makeError(KILN_ERROR_INVALID_ARGUMENT,
                     "kernel '" + plan->kernel + "': expected an artifact for target '" + target +
                         "', got one for '" + artifact.metadataString("target") + "'");
  if (plan->sharedBytes > info.maxSharedBytes)
    return makeError(KILN_ERROR_UNSUPPORTED, "kernel '" + plan->kernel + "': expected at most " +
                                                 Twine(info.maxSharedBytes) +
                                                 " bytes of shared memory on '" + name + "', got " +
                                                 Twine(plan->sharedBytes));
  // Without a binary the driver compiles the text itself.
  std::optional<StringRef> code = artifact.section("binary");
  if (!code)
    code = artifact.section("asm");
  if (!code)
    return makeError(KILN_ERROR_CORRUPT, "the artifact of kernel '" + plan->kernel +
                                             "' has neither section 'binary' nor 'asm'");
  std::unique_ptr<LoadedObject> host;
  if (plan->hasGrid) {
    std::optional<StringRef> object = artifact.section("host");
    if (!object)
      return makeError(KILN_ERROR_CORRUPT,
                       "the artifact of kernel '" + plan->kernel + "' has no section 'host'");
    Expected<std::unique_ptr<LoadedObject>> loaded = LoadedObject::load(*object, plan->kernel);
    if (!loaded)
      return loaded.takeError();
    host = std::move(*loaded);
    if (!host->find<HostGrid>("kiln_grid"))
      return makeError(KILN_ERROR_CORRUPT, "the host code of kernel '" + plan->kernel +
                                               "' does not define 'kiln_grid'");
  }
  StringRef symbol = artifact.metadataString("symbol");
  Entered entered(*api);
  if (Error error = entered.failed())
    return error;
  Expected<AcceleratorApi::Code> loaded =
      api->load(*code, symbol.empty() ? plan->kernel : symbol.str(), plan->sharedBytes);
  if (!loaded)
    return makeError(KILN_ERROR_DEVICE, "cannot load kernel '" + plan->kernel + "' on '" + name +
                                            "': " + toString(loaded.takeError()));
  return ExecutablePtr(
      new AcceleratorExecutable(*this, artifact, std::move(*plan), *loaded, std::move(host)));
}

//===- Memory and streams -------------------------------------------------------------------===//

Expected<void *> AcceleratorDevice::allocate(uint64_t size) {
  if (size == 0)
    return nullptr;
  Entered entered(*api);
  if (Error error = entered.failed())
    return error;
  return api->allocate(size);
}

Error AcceleratorDevice::free(void *pointer) {
  if (!pointer)
    return Error::success();
  Entered entered(*api);
  if (Error error = entered.failed())
    return error;
  return api->free(pointer);
}

Error AcceleratorDevice::copy(void *to, const void *from, uint64_t size, KilnCopyKind kind,
                              KilnStream stream) {
  if (size == 0)
    return Error::success();
  Entered entered(*api);
  if (Error error = entered.failed())
    return error;
  return api->copy(to, from, size, kind, stream);
}

Expected<KilnStream> AcceleratorDevice::createStream() {
  Entered entered(*api);
  if (Error error = entered.failed())
    return error;
  return api->createStream();
}

Error AcceleratorDevice::destroyStream(KilnStream stream) {
  Entered entered(*api);
  if (Error error = entered.failed())
    return error;
  // A later stream may get the same handle, so hidden memory must not outlive this one.
  std::lock_guard<std::mutex> lock(mutex);
  bool waited = false;
  for (auto it = hidden.lower_bound({stream, 0}); it != hidden.end() && it->first.first == stream;
       it = hidden.erase(it)) {
    if (!waited)
      if (Error error = api->synchronize(stream))
        return error;
    waited = true;
    if (Error error = api->free(it->second.memory))
      return error;
  }
  return api->destroyStream(stream);
}

Error AcceleratorDevice::synchronize(KilnStream stream) {
  Entered entered(*api);
  if (Error error = entered.failed())
    return error;
  return api->synchronize(stream);
}

Expected<void *> AcceleratorDevice::hiddenMemory(unsigned slot, uint64_t size, bool zeroed,
                                                 KilnStream stream) {
  Entered entered(*api);
  if (Error error = entered.failed())
    return error;
  std::lock_guard<std::mutex> lock(mutex);
  Hidden &have = hidden[{stream, slot}];
  if (have.size < size) {
    // What runs may still use the old memory.
    if (have.memory) {
      if (Error error = api->synchronize(stream))
        return error;
      if (Error error = api->free(have.memory))
        return error;
      have = {};
    }
    Expected<void *> memory = api->allocate(size);
    if (!memory)
      return memory.takeError();
    have = {*memory, size};
  }
  if (zeroed && size)
    if (Error error = api->clear(have.memory, size, stream))
      return error;
  return have.memory;
}

std::unique_ptr<Device> kiln::makeAccelerator(AcceleratorInfo info,
                                              std::unique_ptr<AcceleratorApi> api) {
  return std::make_unique<AcceleratorDevice>(std::move(info), std::move(api));
}
