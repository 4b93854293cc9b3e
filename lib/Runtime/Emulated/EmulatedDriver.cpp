// Devices named "emu:<chip>": programs of a chip, run thread by thread on the host.
//
// Memory is the host's own, so that arrays need not be copied; a launch ends before it returns.
#include "Calls.h"
#include "Grid.h"
#include "kiln/Runtime/Error.h"
#include "kiln/Runtime/Host/CancelWatch.h"
#include "kiln/Runtime/Host/HostMemoryDevice.h"
#include "kiln/Runtime/Host/LoadedObject.h"
#include "kiln/Runtime/Host/Processor.h"
#include "kiln/Runtime/Host/Services.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/TargetParser/Host.h"
#include <array>
#include <cstdlib>
#include <limits>
#include <mutex>

using namespace kiln;
using namespace kiln::emulated;
using namespace llvm;

/// DLPack's kDLExtDev: no framework has tensors there.
static constexpr MemorySpace emulatedMemory{12, 0};

/// A number of the environment, if it is set.
static Error readNumber(const char *name, uint64_t &number, uint64_t least = 0,
                        uint64_t most = UINT64_MAX) {
  const char *set = std::getenv(name);
  if (!set)
    return Error::success();
  if (StringRef(set).getAsInteger(10, number))
    return makeError(KILN_ERROR_INVALID_ARGUMENT,
                     "expected a number in " + Twine(name) + ", got '" + Twine(set) + "'");
  if (number < least || number > most)
    return makeError(KILN_ERROR_INVALID_ARGUMENT, "expected a number from " + Twine(least) +
                                                      " to " + Twine(most) + " in " + name +
                                                      ", got " + Twine(number));
  return Error::success();
}

namespace {
/// What the object says of the module's own global memory.
struct GlobalRange {
  const void *address;
  uint64_t size;
};

class EmulatedExecutable : public Executable {
public:
  using Executable::Executable;
  void computeGrid(const uint64_t *slots, int64_t out[3]) override { grid(slots, out); }
  Error launch(const uint64_t *slots, const int64_t shape[3],
               const LaunchContext &context) override;

  std::unique_ptr<LoadedObject> code, host;
  void (*kernel)(const uint64_t *slots) = nullptr;
  int64_t stackBytes = 0; ///< of a thread, as the compiler says
  const GlobalRange *globals = nullptr;
  HostGrid grid = nullptr;
  Names names;
  unsigned sites = 0;
  Profile::Phases reads, writes;
  /// What a core of the chip holds, as the artifact says: blocks, threads, bytes of shared memory.
  std::array<uint64_t, 3> coreHolds = {1, 0, 0};
  bool hasBareBarriers = false, blockFencesWait = true;

  /// Of the last launch, if it was asked for.
  json::Object describe() const override {
    std::lock_guard<std::mutex> lock(mutex);
    json::Object told;
    if (profile)
      told["profile"] = profile->describe(names);
    if (watch)
      told["watched"] = json::Object{{"sites", int64_t(watch->sites.size())},
                                     {"orders", int64_t(watch->orders)},
                                     {"uses", int64_t(watch->uses)}};
    return told;
  }

private:
  void findRanges(const uint64_t *slots, ArrayRef<uint64_t> memoryBytes,
                  emulated::Launch &launch) const;
  uint64_t countPerCore() const;
  bool leavesCounters(const uint64_t *slots, ArrayRef<uint64_t> memoryBytes) const;
  TensorMap makeMap(const LaunchPlan::TensorMap &map, const uint64_t *slots) const;
  mutable std::mutex mutex; ///< one launch at a time
  std::unique_ptr<Profile> profile;
  std::shared_ptr<analysis::Watch> watch;
};

class EmulatedDevice : public HostMemoryDevice {
public:
  EmulatedDevice(StringRef chip, uint64_t count)
      : HostMemoryDevice("emu:" + chip.str(), "emu:" + chip.str(),
                         ("emulated " + chip + " on " + sys::getHostCPUName()).str(),
                         emulatedMemory) {
    abilities.clusters = true;
    abilities.overlap = true; // launches run one by one: what a kernel waits for has ended
    cores = count;
  }

  json::Object properties() const override {
    return json::Object{{"max_shared_bytes", int64_t(SharedMemory::capacity)}};
  }
  std::string description() const override { return "emulated on the host"; }
  bool reaches(MemorySpace other) const override {
    return other.type == 1 || other.type == emulatedMemory.type;
  }
  Expected<ExecutablePtr> load(const Artifact &artifact) override;
};

class EmulatedDriver : public Driver {
public:
  StringRef prefix() const override { return "emu"; }
  Expected<std::unique_ptr<Device>> open(StringRef rest) override {
    if (rest.empty())
      return makeError(KILN_ERROR_NOT_FOUND, "expected a chip to emulate, as in 'emu:<chip>'");
    if (std::string why = whyUnknownTarget(("emu:" + rest).str()); !why.empty())
      return makeError(KILN_ERROR_NOT_FOUND, why);
    uint64_t cores = 3; // few, so that a program of a small persistent grid runs several tiles
    if (Error error = readNumber("KILN_EMULATED_CORES", cores, 1, 1024))
      return std::move(error);
    return std::make_unique<EmulatedDevice>(rest, cores);
  }
  Expected<std::vector<std::string>> names() override {
    return makeError(KILN_ERROR_NOT_FOUND, "any chip of the targets, by its name: 'emu:<chip>'");
  }
  std::string nameOfMemory(MemorySpace) const override { return ""; }
};
} // namespace

//===- Launching ----------------------------------------------------------------------------===//

/// Of an element, as its type is spelt.
static unsigned getBits(StringRef type) {
  unsigned bits = 0;
  type.drop_until(isDigit).take_while(isDigit).getAsInteger(10, bits);
  return bits;
}

/// What the copy engine is told of a view. An empty one has no element inside.
TensorMap EmulatedExecutable::makeMap(const LaunchPlan::TensorMap &map,
                                      const uint64_t *slots) const {
  TensorMap made;
  made.address = slots[map.pointerSlot];
  made.rank = map.box.size();
  made.elementBytes = getBits(map.type) / 8;
  made.swizzle = map.swizzle;
  for (unsigned i = 0; i < made.rank; ++i) {
    unsigned dim = made.rank - 1 - i;
    made.extents[i] = map.getExtent(dim, slots);
    made.strides[i] = map.getStride(dim, slots) * made.elementBytes;
    made.box[i] = map.box[dim];
  }
  return made;
}

/// The bytes that a view's extents and strides cover. Bare pointers may reach anything.
void EmulatedExecutable::findRanges(const uint64_t *slots, ArrayRef<uint64_t> memoryBytes,
                                    emulated::Launch &launch) const {
  launch.checksGlobal = !plan.anyMemory;
  for (const GlobalRange *range = globals; range && range->address; ++range) {
    auto first = reinterpret_cast<uint64_t>(range->address);
    launch.ranges.push_back({first, first + range->size, "", /*isWritten=*/false});
  }
  using Kind = LaunchPlan::Kind;
  for (auto [i, slot] : enumerate(plan.slots)) {
    if (slot.kind == Kind::Workspace || slot.kind == Kind::Counter)
      launch.ranges.push_back({slots[i], slots[i] + memoryBytes[slot.number]});
    if (slot.kind == Kind::Messages)
      launch.ranges.push_back(
          {slots[i], slots[i] + MessageBuffer::defaultBytes, "", /*isWritten=*/false});
    if (slot.kind != Kind::Pointer)
      continue;
    const LaunchPlan::Argument &argument = plan.arguments[slot.arg];
    if (argument.kind != KILN_ARG_TENSOR) {
      launch.checksGlobal = false;
      continue;
    }
    std::vector<int64_t> extents = argument.shape, strides = argument.strides;
    for (auto [j, other] : enumerate(plan.slots)) {
      if (other.arg != slot.arg)
        continue;
      if (other.kind == Kind::Extent)
        extents[other.dim] = slots[j];
      if (other.kind == Kind::Stride)
        strides[other.dim] = slots[j];
    }
    unsigned bits = getBits(argument.type);
    int64_t low = 0, high = 0;
    bool isEmpty = false;
    for (auto [extent, stride] : zip(extents, strides)) {
      isEmpty |= extent <= 0;
      (stride < 0 ? low : high) += (extent - 1) * stride;
    }
    if (isEmpty)
      continue;
    launch.ranges.push_back({slots[i] + low * int64_t(bits) / 8,
                             slots[i] + ((high + 1) * int64_t(bits) + 7) / 8, argument.name,
                             argument.written});
  }
}

/// Programs that a core of the chip keeps at once.
uint64_t EmulatedExecutable::countPerCore() const {
  uint64_t count = coreHolds[0];
  for (auto [held, asked] : {std::pair(coreHolds[1], uint64_t(plan.warps * plan.warpSize)),
                             std::pair(coreHolds[2], plan.sharedBytes)})
    if (held && asked)
      count = std::min(count, held / asked);
  return std::max<uint64_t>(count, 1);
}

/// Whether all counters are zero again, as a device's next launch finds them.
bool EmulatedExecutable::leavesCounters(const uint64_t *slots,
                                        ArrayRef<uint64_t> memoryBytes) const {
  for (auto [i, slot] : enumerate(plan.slots))
    if (slot.kind == LaunchPlan::Kind::Counter)
      for (uint8_t byte :
           ArrayRef(reinterpret_cast<const uint8_t *>(slots[i]), memoryBytes[slot.number]))
        if (byte)
          return false;
  return true;
}

Error EmulatedExecutable::launch(const uint64_t *slots, const int64_t shape[3],
                                 const LaunchContext &context) {
  std::lock_guard<std::mutex> lock(mutex);
  emulated::Launch launch;
  std::vector<TensorMap> maps;
  maps.reserve(plan.maps.size());
  for (const LaunchPlan::TensorMap &map : plan.maps)
    maps.push_back(makeMap(map, slots));
  std::vector<uint64_t> all(slots, slots + plan.slots.size());
  for (auto [i, slot] : enumerate(plan.slots))
    if (slot.kind == LaunchPlan::Kind::TensorMap)
      all[i] = reinterpret_cast<uint64_t>(&maps[slot.number]);
  launch.kernel = kernel;
  launch.stackBytes = stackBytes;
  launch.slots = all.data();
  launch.threads = plan.warps * plan.warpSize;
  launch.warpSize = plan.warpSize;
  launch.chip = StringRef(device.name).split(':').second.data();
  launch.sharedBytes = plan.sharedBytes;
  launch.names = names;
  auto clashes = std::make_shared<Clashes>();
  if (Error error = readNumber("KILN_EMULATED_CLASHES", clashes->most, 1))
    return error;
  if (clashes->most > 1)
    launch.names.clashes = clashes;
  profile.reset();
  if (std::getenv("KILN_EMULATED_PROFILE"))
    profile = std::make_unique<Profile>(sites, plan.warpSize, reads, writes);
  launch.profile = profile.get();
  uint64_t line = 0;
  if (Error error = readNumber("KILN_EMULATED_WATCH", line))
    return error;
  watch = line ? std::make_shared<analysis::Watch>() : nullptr;
  for (unsigned site = 0; watch && site < sites; ++site)
    if (names.sites[site].line == line)
      watch->sites.insert(site);
  launch.watch = watch;
  if (Error error = readNumber("KILN_EMULATED_STEPS", launch.mostSteps))
    return error;
  if (Error error = readNumber("KILN_EMULATED_SEED", launch.seed))
    return error;
  auto fail = [&](KilnErrorCode code, const Twine &what) {
    return makeError(code, "kernel '" + plan.kernel + "': " + what);
  };
  for (int i = 0; i < 3; ++i) {
    if (shape[i] > std::numeric_limits<int32_t>::max())
      return fail(KILN_ERROR_INVALID_ARGUMENT, "expected fewer than 2^31 programs along axis " +
                                                   Twine(i) + " on '" + device.name + "', got " +
                                                   Twine(shape[i]));
    launch.grid[i] = shape[i];
  }
  findRanges(slots, context.memoryBytes, launch);
  const LaunchTraits &traits = traitsOf(context);
  // Whether the chip has clusters, its compiler knows.
  if (traits.hasClusters() && !plan.traits.hasClusters())
    return fail(KILN_ERROR_UNSUPPORTED, "expected a kernel that is compiled for clusters on '" +
                                            device.name + "', got one that is not");
  const int64_t *cluster = traits.cluster;
  launch.hasBareBarriers = hasBareBarriers;
  launch.blockFencesWait = blockFencesWait;
  launch.overlaps = plan.traits.overlap;
  launch.cores = device.cores;
  launch.blocksPerCore = countPerCore();
  Grid grid(launch, cluster);
  CancelWatch watch(context.cancelled);
  while (grid.advance()) {
    if (context.messages) {
      Messages said = context.messages->buffer.take(*plan.messages);
      writeMessages(*plan.messages, said);
      if (!said.failure.empty())
        return fail(KILN_ERROR_ASSERT, said.failure);
    }
    if (std::string wrong = clashes->told + grid.getError(); !wrong.empty())
      return fail(grid.lacksMemory() ? KILN_ERROR_OUT_OF_MEMORY : KILN_ERROR_DEVICE, wrong);
    if (watch.poll())
      return fail(KILN_ERROR_CANCELLED, "the launch was cancelled");
  }
  if (!leavesCounters(slots, context.memoryBytes))
    return fail(KILN_ERROR_DEVICE, "the kernel leaves a counter that is not zero");
  return Error::success();
}

/// How shared memory serves lanes, by what each asks for; as far as the artifact says it.
static Profile::Phases readPhases(const json::Value &value) {
  Profile::Phases phases;
  const json::Array *sizes = value.getAsArray();
  for (size_t i = 0; sizes && i < std::min(sizes->size(), phases.size()); ++i) {
    const json::Array *numbers = (*sizes)[i].getAsArray();
    for (size_t j = 0; numbers && j < numbers->size(); ++j) {
      constexpr int64_t most = 1024;
      auto number =
          unsigned(std::clamp<int64_t>((*numbers)[j].getAsInteger().value_or(0), 0, most));
      if (j == 0)
        phases[i].banks = std::max(number, 1u);
      else if (j <= 6)
        phases[i].lanes.push_back(number);
    }
  }
  return phases;
}

Expected<ExecutablePtr> EmulatedDevice::load(const Artifact &artifact) {
  Expected<LaunchPlan> plan = LaunchPlan::parse(artifact);
  if (!plan)
    return plan.takeError();
  std::string kernel = plan->kernel;
  auto fail = [&](KilnErrorCode code, const Twine &what) {
    return makeError(code, "kernel '" + kernel + "': " + what);
  };
  if (artifact.metadataString("target") != target)
    return fail(KILN_ERROR_INVALID_ARGUMENT, "expected an artifact for target '" + target +
                                                 "', got one for '" +
                                                 artifact.metadataString("target") + "'");
  if (Error error = checkProcessor(artifact, kernel))
    return std::move(error);
  if (plan->sharedBytes > SharedMemory::capacity)
    return fail(KILN_ERROR_UNSUPPORTED, "expected at most " + Twine(SharedMemory::capacity) +
                                            " bytes of shared memory, got " +
                                            Twine(plan->sharedBytes));
  if (plan->warpSize > 64)
    return fail(KILN_ERROR_CORRUPT,
                "expected at most 64 lanes in a warp, got " + Twine(plan->warpSize));
  bool hasGrid = plan->hasGrid;
  std::optional<StringRef> code = artifact.section("binary"), host = artifact.section("host");
  if (!code || (hasGrid && !host))
    return fail(KILN_ERROR_CORRUPT, "the artifact lacks the section 'binary' or 'host'");
  IntrusiveRefCntPtr<EmulatedExecutable> executable(
      new EmulatedExecutable(*this, artifact, std::move(*plan)));
  StringMap<void *> functions{
      {"kiln_emulated_shared", reinterpret_cast<void *>(kiln_emulated_shared)},
      {"kiln_emulated_register", reinterpret_cast<void *>(kiln_emulated_register)},
      {"kiln_emulated_barrier", reinterpret_cast<void *>(kiln_emulated_barrier)},
      {"kiln_emulated_instruction", reinterpret_cast<void *>(kiln_emulated_instruction)},
      {"kiln_emulated_access", reinterpret_cast<void *>(kiln_emulated_access)},
      {"kiln_emulated_row", reinterpret_cast<void *>(kiln_emulated_row)},
      {"kiln_emulated_fence", reinterpret_cast<void *>(kiln_emulated_fence)},
      {"kiln_emulated_trip", reinterpret_cast<void *>(kiln_emulated_trip)},
      {"kiln_emulated_arrival", reinterpret_cast<void *>(kiln_emulated_arrival)}};
  if (Error error = LoadedObject::load(*code, kernel, functions).moveInto(executable->code))
    return error;
  if (hasGrid)
    if (Error error = LoadedObject::load(*host, kernel).moveInto(executable->host))
      return error;
  executable->stackBytes = artifact.metadata().getInteger("stack_bytes").value_or(-1);
  if (executable->stackBytes < 0)
    return fail(KILN_ERROR_CORRUPT,
                "the artifact lacks 'stack_bytes', what a thread's stack takes");
  executable->kernel = executable->code->find<void (*)(const uint64_t *)>("kiln_emulated_kernel");
  executable->globals = executable->code->find<const GlobalRange *>("kiln_emulated_globals");
  executable->names.sites = executable->code->find<const Site *>("kiln_emulated_sites");
  executable->names.text = executable->code->find<const char *>("kiln_emulated_names");
  const auto *count = executable->code->find<const uint32_t *>("kiln_emulated_site_count");
  if (!executable->names.sites || !executable->names.text || !count)
    return fail(KILN_ERROR_CORRUPT, "its code does not define the table of its sites");
  executable->sites = *count;
  if (const json::Array *phases = artifact.metadata().getArray("shared_phases");
      phases && phases->size() == 2) {
    executable->reads = readPhases((*phases)[0]);
    executable->writes = readPhases((*phases)[1]);
  }
  executable->hasBareBarriers = artifact.metadata().getBoolean("bare_barriers").value_or(false);
  executable->blockFencesWait = artifact.metadata().getBoolean("block_fences_wait").value_or(true);
  if (const json::Array *holds = artifact.metadata().getArray("core_holds"))
    for (size_t i = 0; i < std::min(holds->size(), executable->coreHolds.size()); ++i)
      executable->coreHolds[i] = std::max<int64_t>((*holds)[i].getAsInteger().value_or(0), 0);
  executable->names.threads = executable->plan.warps * executable->plan.warpSize;
  executable->names.warpSize = executable->plan.warpSize;
  if (const json::Array *roles = artifact.metadata().getArray("roles"))
    for (const json::Value &role : *roles) {
      const json::Object *members = role.getAsObject();
      unsigned warps = members ? members->getInteger("warps").value_or(0) : 0;
      StringRef name = members ? members->getString("name").value_or("") : "";
      std::vector<Names::Role> &all = executable->names.roles;
      unsigned first = all.empty() ? 0 : all.back().firstWarp + all.back().warps;
      all.push_back({name.str(), first, warps});
    }
  executable->grid = hasGrid ? executable->host->find<HostGrid>("kiln_grid") : nullptr;
  if (!executable->kernel || (hasGrid && !executable->grid))
    return fail(KILN_ERROR_CORRUPT,
                "its code does not define 'kiln_emulated_kernel' or 'kiln_grid'");
  return ExecutablePtr(executable);
}

namespace kiln {
std::unique_ptr<Driver> createEmulatedDriver() { return std::make_unique<EmulatedDriver>(); }
} // namespace kiln
