// Kernels on a device on top of a vendor's driver: loading their code, and launches.
#include "AcceleratorDevice.h"
#include "TensorMaps.h"
#include "kiln/Runtime/Error.h"
#include "kiln/Runtime/Host/LoadedObject.h"
#include "kiln/Runtime/Host/Services.h"
#include "llvm/Support/Alignment.h"
#include <alloca.h>

using namespace kiln;
using namespace llvm;

namespace {
class AcceleratorExecutable : public Executable {
public:
  AcceleratorExecutable(AcceleratorDevice &device, Artifact artifact, LaunchPlan plan,
                        std::unique_ptr<LoadedObject> host)
      : Executable(device, artifact, std::move(plan)), owner(device), artifact(std::move(artifact)),
        host(std::move(host)), grid(this->host ? this->host->find<HostGrid>("kiln_grid") : nullptr),
        name(device.health.intern(this->plan)),
        threads(unsigned(this->plan.warps * this->plan.warpSize)),
        mostPrograms(std::min(device.info.maxGrid[0],
                              device.info.maxThreads / std::max(this->threads, 1u))) {}
  ~AcceleratorExecutable() override;

  void computeGrid(const uint64_t *slots, int64_t out[3]) override { grid(slots, out); }
  json::Object describe() const override;
  bool settle() override;
  Error launch(const uint64_t *slots, const int64_t shape[3],
               const LaunchContext &context) override;

  /// Loads the code for the device as it is now. Entered by the caller.
  Error loadCode();

private:
  /// Code and the generation of the device that it was loaded for.
  struct Loaded {
    AcceleratorApi::Code code;
    uint64_t generation;
  };
  /// What is loaded now; null if the device has been made anew since.
  const Loaded *current() const {
    const Loaded *now = loaded.load(std::memory_order_acquire);
    bool isCurrent = now && now->generation == owner.generation.load(std::memory_order_acquire);
    return LLVM_LIKELY(isCurrent) ? now : nullptr;
  }
  Error launchEntered(const uint64_t *slots, AcceleratorApi::Launch &launch);
  Error explain(Error error) const;
  /// Notes a launch that a graph records: the graph runs the code whenever it likes.
  Error noteCapture(KilnStream stream);

  AcceleratorDevice &owner;
  const Artifact artifact; ///< of which a device that was made anew loads the code again
  const std::unique_ptr<LoadedObject> host;
  const HostGrid grid;
  const std::string *const name;
  const unsigned threads;      ///< of a program
  const uint64_t mostPrograms; ///< along the first axis, on which threads lie
  TensorMaps maps;
  std::mutex mutex;
  std::atomic<const Loaded *> loaded{nullptr};
  std::vector<std::unique_ptr<Loaded>> all; ///< the last is the current one
  std::atomic<bool> isInGraph{false};
};
} // namespace

//===- Code ---------------------------------------------------------------------------------===//

AcceleratorExecutable::~AcceleratorExecutable() {
  const Loaded *now = current();
  if (!now || owner.health.isLost() || isInGraph)
    return;
  Entered entered(*owner.api);
  if (Error error = entered.failed())
    consumeError(std::move(error)); // the driver is going down and takes the code with it
  else
    owner.api->unload(now->code);
}

bool AcceleratorExecutable::settle() {
  if (isInGraph)
    return false;
  if (!current() || owner.health.isLost())
    return true;
  Entered entered(*owner.api);
  Error error = entered.failed();
  if (!error)
    error = owner.health.report(owner.api->synchronizeAll());
  bool isDone = !error;
  consumeError(std::move(error));
  return isDone;
}

/// The default stream is never recorded.
Error AcceleratorExecutable::noteCapture(KilnStream stream) {
  if (LLVM_LIKELY(!stream) || isInGraph.load(std::memory_order_relaxed))
    return Error::success();
  Expected<uint64_t> capture = owner.api->captureOf(stream);
  if (!capture)
    return capture.takeError();
  if (*capture)
    isInGraph = true;
  return Error::success();
}

json::Object AcceleratorExecutable::describe() const {
  const Loaded *now = current();
  if (!now || owner.health.isLost())
    return {};
  Entered entered(*owner.api);
  if (Error error = entered.failed()) {
    consumeError(std::move(error));
    return {};
  }
  return owner.api->describe(now->code);
}

Error AcceleratorExecutable::loadCode() {
  std::lock_guard<std::mutex> lock(mutex);
  if (current())
    return Error::success();
  uint64_t generation = owner.generation.load(std::memory_order_acquire);
  Expected<AcceleratorApi::Code> code = owner.loadCode(artifact, plan);
  if (!code)
    return code.takeError();
  all.push_back(std::make_unique<Loaded>(Loaded{*code, generation}));
  loaded.store(all.back().get(), std::memory_order_release);
  return Error::success();
}

Expected<AcceleratorApi::Code> AcceleratorDevice::loadCode(const Artifact &artifact,
                                                           const LaunchPlan &plan) {
  // Without a binary the driver compiles the text itself.
  std::optional<StringRef> code = artifact.section("binary");
  if (!code)
    code = artifact.section("asm");
  if (!code)
    return makeError(KILN_ERROR_CORRUPT, "the artifact of kernel '" + plan.kernel +
                                             "' has neither section 'binary' nor 'asm'");
  StringRef symbol = artifact.metadataString("symbol");
  Expected<AcceleratorApi::Code> loaded = health.report(
      api->load(*code, symbol.empty() ? plan.kernel : symbol.str(), plan.sharedBytes));
  if (!loaded)
    return makeError(KILN_ERROR_DEVICE, "cannot load kernel '" + plan.kernel + "' on '" + name +
                                            "': " + toString(loaded.takeError()));
  return loaded;
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
  IntrusiveRefCntPtr<AcceleratorExecutable> executable(
      new AcceleratorExecutable(*this, artifact, std::move(*plan), std::move(host)));
  if (Error error = on([&] { return executable->loadCode(); }))
    return error;
  return ExecutablePtr(executable);
}

//===- Launching ----------------------------------------------------------------------------===//

Error AcceleratorExecutable::launch(const uint64_t *slots, const int64_t shape[3],
                                    const LaunchContext &context) {
  const LaunchTraits &traits = traitsOf(context);
  KilnStream stream = context.stream;
  auto **parameters = static_cast<void **>(alloca((plan.slots.size() + 1) * sizeof(void *)));
  for (size_t i = 0; i < plan.slots.size(); ++i)
    parameters[i] = const_cast<uint64_t *>(slots + i);
  AcceleratorApi::Launch launch{nullptr, parameters, {}, threads, /*dynamicShared=*/0,
                                stream,  traits};
  for (int i = 0; i < 3; ++i) {
    uint64_t most = i == 0 ? mostPrograms : owner.info.maxGrid[i];
    if (LLVM_UNLIKELY(uint64_t(shape[i]) > most))
      return makeError(KILN_ERROR_INVALID_ARGUMENT,
                       "kernel '" + plan.kernel + "': expected at most " + Twine(most) +
                           " programs along axis " + Twine(i) + " on '" + device.name + "', got " +
                           Twine(shape[i]));
    launch.grid[i] = shape[i];
  }
  if (LLVM_UNLIKELY(owner.health.isLost()))
    return explain(owner.health.answer());
  // Of a kernel that was launched before.
  if (Error error = owner.messages.takeFailure())
    return error;
  Entered entered(*owner.api);
  if (Error error = entered.failed())
    return explain(owner.health.report(std::move(error)));
  if (Error error = noteCapture(stream))
    return explain(owner.health.report(std::move(error)));
  auto launchNow = [&] { return launchEntered(slots, launch); };
  if (Error error = LLVM_LIKELY(!context.messages)
                        ? launchNow()
                        : owner.messages.launch(*owner.api, *context.messages, plan.messages,
                                                stream, launchNow))
    return owner.health.report(std::move(error));
  owner.health.launched(name, stream);
  if (LLVM_LIKELY(!owner.isBlocking))
    return Error::success();
  Expected<uint64_t> capture = owner.api->captureOf(stream);
  if (!capture)
    return explain(capture.takeError());
  if (*capture == 0)
    if (Error error = owner.api->synchronize(stream))
      return owner.health.report(std::move(error));
  owner.health.ended(stream);
  return owner.messages.takeFailure();
}

Error AcceleratorExecutable::launchEntered(const uint64_t *slots, AcceleratorApi::Launch &launch) {
  const Loaded *now = current();
  if (LLVM_UNLIKELY(!now)) {
    if (Error error = loadCode())
      return error;
    now = current();
    if (!now)
      return makeError(KILN_ERROR_DEVICE, "kernel '" + plan.kernel + "': expected device '" +
                                              owner.name +
                                              "' to stay as it is during a launch, "
                                              "got a reset");
  }
  launch.function = now->code.function;
  launch.dynamicShared = now->code.dynamicShared;
  if (LLVM_LIKELY(plan.maps.empty()))
    return explain(owner.health.report(owner.api->launch(launch)));
  // The driver copies the maps when it queues the kernel, or records it into a graph.
  auto *encoded = static_cast<char *>(alloca((plan.maps.size() + 1) * sizeof(EncodedMap)));
  encoded = reinterpret_cast<char *>(alignAddr(encoded, Align(alignof(EncodedMap))));
  for (size_t i = 0; i < plan.slots.size(); ++i) {
    const LaunchPlan::Slot &slot = plan.slots[i];
    if (slot.kind != LaunchPlan::Kind::TensorMap)
      continue;
    auto *map = reinterpret_cast<EncodedMap *>(encoded) + slot.number;
    if (Error error = maps.get(*owner.api, plan, slot.number, slots, *map))
      return error;
    launch.parameters[i] = map;
  }
  return explain(owner.health.report(owner.api->launch(launch)));
}

/// Says which kernel was not launched.
Error AcceleratorExecutable::explain(Error error) const {
  if (LLVM_LIKELY(!error))
    return Error::success();
  return makeError(KILN_ERROR_DEVICE,
                   "kernel '" + plan.kernel + "': " + toString(std::move(error)));
}
