// What every executable does before its device launches it: grids and hidden parameters.
#include "kiln/Runtime/Device/Device.h"
#include "kiln/Runtime/Error.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace kiln;
using namespace llvm;

//===- Launching ----------------------------------------------------------------------------===//

/// Whether the device can make such a launch, and the grid is one of whole clusters.
Error Executable::checkTraits(const int64_t grid[3], const LaunchTraits &traits) const {
  auto fail = [&](KilnErrorCode code, const Twine &what) {
    return makeError(code, "kernel '" + plan.kernel + "': " + what);
  };
  const LaunchAbilities &can = device.abilities;
  StringRef lacks = traits.hasClusters() && !can.clusters    ? "clusters"
                    : traits.cooperative && !can.cooperative ? "cooperative launches"
                    : traits.overlap && !can.overlap         ? "launches that overlap"
                    : traits.hasPriority && !can.priority    ? "launches with a priority"
                                                             : "";
  if (!lacks.empty())
    return fail(KILN_ERROR_UNSUPPORTED,
                "expected a device that has " + lacks + ", got '" + device.name + "'");
  // Its own code must wait for what it overlaps.
  if (traits.overlap && !plan.traits.overlap)
    return fail(KILN_ERROR_INVALID_ARGUMENT, "expected a kernel that is compiled to overlap what "
                                             "precedes it, got one that is not");
  auto spell = [](const int64_t *n) {
    return std::to_string(n[0]) + " x " + std::to_string(n[1]) + " x " + std::to_string(n[2]);
  };
  const int64_t *cluster = traits.cluster;
  for (int i = 0; i < 3; ++i)
    if (grid[i] % cluster[i])
      return fail(KILN_ERROR_INVALID_ARGUMENT, "expected a grid of whole clusters of " +
                                                   spell(cluster) + " programs, got " +
                                                   spell(grid));
  return Error::success();
}

static int64_t countCluster(const LaunchTraits &traits) {
  return traits.cluster[0] * traits.cluster[1] * traits.cluster[2];
}

int64_t Executable::countPrograms(int64_t tiles, const LaunchTraits &traits) const {
  int64_t most = plan.programs;
  int64_t cluster = plan.ownCluster ? countCluster(traits) : traits.cluster[0];
  if (plan.programsPerCore && device.cores)
    most = std::max(device.cores * plan.programsPerCore / cluster, int64_t(1)) * cluster;
  if (most == 0) // nobody counts cores: each tile has a program
    return tiles;
  if (plan.streams)
    return most;
  if (!plan.evenPrograms || tiles <= most)
    return std::min(tiles, most);
  int64_t rounds = llvm::divideCeil(tiles, most);
  return llvm::alignTo(llvm::divideCeil(tiles, rounds), cluster);
}

Error Executable::run(uint64_t *slots, const int64_t grid[3], const LaunchContext &context) {
  if (grid[0] <= 0 || grid[1] <= 0 || grid[2] <= 0)
    return Error::success();
  int64_t programs;
  if (__builtin_mul_overflow(grid[0], grid[1], &programs) ||
      __builtin_mul_overflow(programs, grid[2], &programs))
    return makeError(KILN_ERROR_INVALID_ARGUMENT,
                     "kernel '" + plan.kernel +
                         "': expected a grid of fewer than 2^63 programs, "
                         "got " +
                         Twine(grid[0]) + " x " + Twine(grid[1]) + " x " + Twine(grid[2]));
  const LaunchTraits &traits = traitsOf(context);
  int64_t launched[3] = {countPrograms(grid[0], traits), grid[1], grid[2]};
  if (LLVM_UNLIKELY(plan.ownCluster && (plan.programs || plan.programsPerCore))) {
    // Clusters lie behind one another along x, and take clusters of tiles in turn.
    if (Error error = checkTraits(grid, traits))
      return error;
    int64_t clusters = countPrograms(programs, traits) / countCluster(traits);
    llvm::copy(traits.cluster, launched);
    launched[0] *= clusters;
  }
  if (plan.programsPerBlock > 1) {
    if (!traits.isPlain())
      if (Error error = checkTraits(grid, traits))
        return error;
    slots[plan.gridExtentSlot] = grid[0];
    launched[0] = llvm::divideCeil(grid[0], plan.programsPerBlock);
    // Blocks without programs do nothing.
    launched[0] = llvm::alignTo(launched[0], traits.cluster[0]);
  }
  // Such a grid lies along x alone.
  if (plan.streams)
    programs = launched[0];
  if (LLVM_UNLIKELY(!traits.isPlain()))
    if (Error error = checkTraits(launched, traits))
      return error;
  if (LLVM_LIKELY(!plan.hasHidden))
    return launch(slots, launched, context);
  LaunchContext filled = context;
  SmallVector<uint64_t, 4> sizes(plan.memories.size());
  if (Error error = fillHidden(slots, programs, sizes, filled))
    return error;
  filled.memoryBytes = sizes;
  return launch(slots, launched, filled);
}

Error Executable::fillHidden(uint64_t *slots, int64_t programs, MutableArrayRef<uint64_t> sizes,
                             LaunchContext &context) {
  for (auto [i, slot] : enumerate(plan.slots)) {
    if (slot.kind == LaunchPlan::Kind::Messages) {
      Expected<StreamMessages *> messages = device.streamMessages(context.stream);
      if (!messages)
        return messages.takeError();
      context.messages = *messages;
      slots[i] = reinterpret_cast<uint64_t>(context.messages->buffer.getMemory());
    }
    bool isCounter = slot.kind == LaunchPlan::Kind::Counter;
    if (!isCounter && slot.kind != LaunchPlan::Kind::Workspace)
      continue;
    const LaunchPlan::HiddenMemory &asked = plan.memories[slot.number];
    uint64_t size;
    if (__builtin_mul_overflow(asked.bytesPerProgram, uint64_t(programs), &size) ||
        __builtin_add_overflow(size, asked.bytes, &size))
      return makeError(KILN_ERROR_OUT_OF_MEMORY, "kernel '" + plan.kernel + "': a workspace for " +
                                                     Twine(programs) +
                                                     " programs exceeds the address space");
    Expected<void *> memory = device.hiddenMemory(i, size, isCounter, context.stream);
    if (!memory)
      return memory.takeError();
    slots[i] = reinterpret_cast<uint64_t>(*memory);
    sizes[slot.number] = size;
  }
  return Error::success();
}

//===- What most devices cannot do ----------------------------------------------------------===//

Expected<bool> Device::canAccessPeer(Device &peer) { return &peer == this; }

Error Device::enablePeerAccess(Device &peer) {
  if (&peer == this)
    return Error::success();
  return makeError(KILN_ERROR_UNSUPPORTED,
                   "device '" + name + "' cannot reach the memory of '" + peer.name + "'");
}

Error Device::reset() {
  return makeError(KILN_ERROR_UNSUPPORTED, "device '" + name + "' cannot be reset");
}

json::Object kiln::describeDevice(const Device &device) {
  return json::Object{{"name", device.name},
                      {"available", true},
                      {"target", device.target},
                      {"identity", device.identity},
                      {"description", device.description()},
                      {"properties", device.properties()}};
}
