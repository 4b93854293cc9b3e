// Replay.h: the numbers that are tried, and how long.
#include "kiln/Target/AMDGPU/Replay.h"
#include "Block.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace kiln::amdgcn;

/// Instructions that one run may execute, and all runs together.
static constexpr uint64_t kMostSteps = 400000, kMostOfAll = 3000000;

/// Sets of numbers for the arguments: the same for all, then of several sizes, by turns; multiples
/// of what tiles are wide, and odd ones.
static std::vector<Instance> makeInstances() {
  std::vector<Instance> instances;
  auto add = [&](std::vector<uint32_t> numbers, unsigned block, unsigned blocks) {
    uint64_t seed = mix(instances.size(), 1);
    instances.push_back({std::move(numbers), block, blocks, seed});
  };
  add({512}, 0, 1);
  add({64}, 0, 4);
  add({96, 1024, 288}, 1, 3);
  add({1024, 128, 416, 640, 32}, 0, 2);
  add({77}, 0, 1);
  add({272, 816, 144, 1040}, 0, 1);
  add({16}, 0, 1);
  add({1, 515, 130, 259}, 0, 2);
  add({0}, 0, 1);
  return instances;
}

ReplayResult kiln::amdgcn::replay(const KernelCode &kernel) {
  ReplayResult result;
  if (kernel.isFunction)
    return result;
  std::vector<Step> steps;
  steps.reserve(kernel.code.size());
  for (const Instruction &instruction : kernel.code)
    steps.push_back(makeStep(instruction));
  std::vector<Instance> instances = makeInstances();
  uint64_t left = kMostOfAll;
  for (const Instance &instance : instances)
    for (Turns turns : {Turns::Ascending, Turns::Descending}) {
      uint64_t budget = std::min(left, kMostSteps);
      if (!budget)
        return result;
      Block block(kernel, steps, instance, turns);
      uint64_t unused = block.run(budget);
      left -= budget - unused;
      result.steps += budget - unused;
      ++result.runs;
      if (block.problem) {
        result.problems.push_back(std::move(*block.problem));
        return result;
      }
      result.cutShort += !block.hasEnded();
    }
  return result;
}
