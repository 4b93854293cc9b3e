// The host as a device: kernels are objects in this process, grids run over the thread pool.
#include "Arena.h"
#include "ForeignFunctions.h"
#include "LaunchServices.h"
#include "kiln/Runtime/Error.h"
#include "kiln/Runtime/Host/HostMemoryDevice.h"
#include "kiln/Runtime/Host/LoadedObject.h"
#include "kiln/Runtime/Host/Processor.h"
#include "kiln/Runtime/Host/ThreadPool.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/TargetParser/Host.h"
#include <atomic>
#include <cstring>

using namespace kiln;
using namespace llvm;

/// DLPack's kDLCPU.
static constexpr MemorySpace hostMemory{1, 0};

static Arena &scratchArena() {
  static thread_local Arena arena;
  return arena;
}

//===- Executable ---------------------------------------------------------------------------===//

namespace {
class HostExecutable : public Executable {
public:
  HostExecutable(Device &device, const Artifact &artifact, LaunchPlan plan,
                 ForeignFunctions foreign, std::unique_ptr<LoadedObject> object, HostEntry entry,
                 HostGrid grid)
      : Executable(device, artifact, std::move(plan)), foreign(std::move(foreign)),
        object(std::move(object)), entry(entry), grid(grid) {}

  void computeGrid(const uint64_t *slots, int64_t out[3]) override { grid(slots, out); }
  Error launch(const uint64_t *slots, const int64_t shape[3],
               const LaunchContext &context) override;

private:
  ForeignFunctions foreign;
  std::unique_ptr<LoadedObject> object;
  HostEntry entry;
  HostGrid grid;
};
} // namespace

Error HostExecutable::launch(const uint64_t *slots, const int64_t shape[3],
                             const LaunchContext &context) {
  int64_t programs = shape[0] * shape[1] * shape[2];
  AssertReport report;
  std::atomic<bool> failed{false}, outOfMemory{false};
  auto body = [&](int64_t first, int64_t last) {
    LaunchServices services(report);
    void *scratch = scratchArena().get(plan.scratchBytes);
    if (LLVM_UNLIKELY(!scratch)) {
      outOfMemory = true;
      return false;
    }
    if (LLVM_LIKELY(entry(slots, first, last, shape, scratch, &services) == 0))
      return true;
    failed = true;
    return false;
  };
  // The pool is not even made for a single program.
  bool cancelled = false;
  if (programs == 1)
    body(0, 1);
  else
    cancelled = !ThreadPool::get().run(programs, body, context.cancelled);
  if (LLVM_UNLIKELY(outOfMemory.load(std::memory_order_relaxed)))
    return makeError(KILN_ERROR_OUT_OF_MEMORY, "kernel '" + plan.kernel + "': cannot allocate " +
                                                   Twine(plan.scratchBytes) +
                                                   " bytes of scratch memory a thread");
  if (LLVM_UNLIKELY(failed.load(std::memory_order_relaxed)))
    return makeError(KILN_ERROR_ASSERT,
                     "kernel '" + plan.kernel +
                         "': " + (report.text.empty() ? "a program failed" : report.text));
  if (LLVM_UNLIKELY(cancelled))
    return makeError(KILN_ERROR_CANCELLED,
                     "kernel '" + plan.kernel + "': the launch was cancelled");
  return Error::success();
}

//===- Device -------------------------------------------------------------------------------===//

/// Sorted, so that equal machines get equal identities.
static std::string hostFeatures() {
  std::vector<std::string> on;
  for (auto &feature : sys::getHostCPUFeatures())
    if (feature.second)
      on.push_back(feature.first().str());
  llvm::sort(on);
  return join(on, ",");
}

namespace {
class HostDevice : public HostMemoryDevice {
public:
  HostDevice(const std::string &features)
      : HostMemoryDevice("cpu", "cpu", (sys::getHostCPUName() + " " + features).str(), hostMemory),
        features(features) {}

  json::Object properties() const override {
    return json::Object{{"processor", sys::getHostCPUName()},
                        {"features", features},
                        {"threads", ThreadPool::get().numThreads()}};
  }
  std::string description() const override {
    return (sys::getHostCPUName() + ", " + Twine(ThreadPool::get().numThreads()) + " threads")
        .str();
  }

  /// The host's own, and what DLPack says that drivers pin (3, 11) or manage (13).
  bool reaches(MemorySpace other) const override {
    return other.type == 1 || other.type == 3 || other.type == 11 || other.type == 13;
  }

  Expected<ExecutablePtr> load(const Artifact &artifact) override;

private:
  std::string features;
};
} // namespace

/// What cannot be loaded of a kernel with inline assembly comes from there: the compiler's own code
/// refers to nothing that the runtime does not have. The error then names the kernel and the lines.
static Error blameAssembly(Error error, const Artifact &artifact, StringRef kernel) {
  std::string places;
  if (const json::Array *entries = artifact.metadata().getArray("assembly"))
    for (const json::Value &entry : *entries)
      if (std::optional<StringRef> place = entry.getAsString(); place && !place->empty())
        places += place->str() + ": ";
  if (places.empty())
    return error;
  return makeError(KILN_ERROR_UNSUPPORTED, "kernel '" + kernel + "': " + places +
                                               "inline assembly: " + toString(std::move(error)));
}

Expected<ExecutablePtr> HostDevice::load(const Artifact &given) {
  StringRef kernel = given.metadataString("kernel"), made = given.metadataString("target");
  if (made.take_until([](char c) { return c == ':' || c == ','; }) != target)
    return makeError(KILN_ERROR_INVALID_ARGUMENT, "kernel '" + kernel +
                                                      "': expected an artifact for target 'cpu', "
                                                      "got one for '" +
                                                      made + "'");
  Expected<Artifact> chosen = chooseVersion(given, kernel);
  if (!chosen)
    return chosen.takeError();
  const Artifact &artifact = *chosen;
  Expected<LaunchPlan> plan = LaunchPlan::parse(artifact);
  if (!plan)
    return plan.takeError();
  if (Error error = checkProcessor(artifact, plan->kernel))
    return std::move(error);
  std::optional<StringRef> code = artifact.section("binary");
  if (!code)
    return makeError(KILN_ERROR_CORRUPT,
                     "the artifact of kernel '" + plan->kernel + "' has no section 'binary'");
  Expected<ForeignFunctions> foreign = ForeignFunctions::find(artifact, plan->kernel);
  if (!foreign)
    return foreign.takeError();
  Expected<std::unique_ptr<LoadedObject>> object =
      LoadedObject::load(*code, plan->kernel, foreign->addresses);
  if (!object)
    return blameAssembly(object.takeError(), artifact, plan->kernel);
  auto entry = (*object)->find<HostEntry>("kiln_entry");
  auto grid = (*object)->find<HostGrid>("kiln_grid");
  if (!entry || (plan->hasGrid && !grid))
    return makeError(KILN_ERROR_CORRUPT, "the host code of kernel '" + plan->kernel +
                                             "' does not define '" +
                                             (entry ? "kiln_grid" : "kiln_entry") + "'");
  return ExecutablePtr(new HostExecutable(*this, artifact, std::move(*plan), std::move(*foreign),
                                          std::move(*object), entry, grid));
}

//===- Driver -------------------------------------------------------------------------------===//

namespace {
class HostDriver : public Driver {
public:
  StringRef prefix() const override { return "cpu"; }
  Expected<std::unique_ptr<Device>> open(StringRef rest) override {
    if (!rest.empty())
      return makeError(KILN_ERROR_NOT_FOUND, "expected the host's device to be called 'cpu', got "
                                             "'cpu:" +
                                                 rest + "'");
    return std::make_unique<HostDevice>(hostFeatures());
  }
  Expected<std::vector<std::string>> names() override { return std::vector<std::string>{"cpu"}; }
  std::string nameOfMemory(MemorySpace memory) const override {
    return memory.type == hostMemory.type ? "cpu" : "";
  }
};
} // namespace

namespace kiln {
std::unique_ptr<Driver> createHostDriver() { return std::make_unique<HostDriver>(); }
} // namespace kiln
