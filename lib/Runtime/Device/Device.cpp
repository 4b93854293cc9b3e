// What every executable does before its device launches it: grids and hidden parameters.
#include "kiln/Runtime/Device/Device.h"
#include "kiln/Runtime/Error.h"
#include "llvm/ADT/StringExtras.h"

using namespace kiln;
using namespace llvm;

//===- Launching ----------------------------------------------------------------------------===//

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
  if (LLVM_UNLIKELY(plan.hasHidden))
    for (auto [i, slot] : enumerate(plan.slots)) {
      bool isCounter = slot.kind == LaunchPlan::Kind::Counter;
      if (!isCounter && slot.kind != LaunchPlan::Kind::Workspace)
        continue;
      uint64_t size;
      if (__builtin_mul_overflow(slot.bytesPerProgram, uint64_t(programs), &size) ||
          __builtin_add_overflow(size, slot.bytes, &size))
        return makeError(KILN_ERROR_OUT_OF_MEMORY, "kernel '" + plan.kernel +
                                                       "': a workspace for " + Twine(programs) +
                                                       " programs exceeds the address space");
      Expected<void *> memory = device.hiddenMemory(i, size, isCounter, context.stream);
      if (!memory)
        return memory.takeError();
      slots[i] = reinterpret_cast<uint64_t>(*memory);
    }
  return launch(slots, grid, context);
}

json::Object kiln::describeDevice(const Device &device) {
  return json::Object{{"name", device.name},
                      {"available", true},
                      {"target", device.target},
                      {"identity", device.identity},
                      {"description", device.description()},
                      {"properties", device.properties()}};
}
