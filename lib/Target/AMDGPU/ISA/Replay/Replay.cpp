// Replay.h: the numbers that are tried, and how long.
#include "kiln/Target/AMDGPU/Replay.h"
#include "../DescribeInstruction.h"
#include "Block.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace kiln::amdgcn;

/// Instructions that one run may execute, and all runs together; and how many times more if they
/// are to decide what the proof cannot.
static constexpr uint64_t kMostSteps = 60000, kMostOfAll = 360000, kPatience = 4;
/// How many sets of numbers are tried where instructions that matter were not come to.
static constexpr unsigned kMostInstances = 24;

/// Sets of numbers for the arguments. The first ones: the same for all, then of several sizes, by
/// turns; multiples of what tiles are wide, and odd ones. Those behind them are drawn.
static constexpr unsigned kKinds = 9;
static Instance makeInstance(unsigned number) {
  static const Instance first[kKinds] = {{{512}, 0, 1},
                                         {{64}, 0, 4},
                                         {{96, 1024, 288}, 1, 3},
                                         {{1024, 128, 416, 640, 32}, 0, 2},
                                         {{77}, 0, 1},
                                         {{272, 816, 144, 1040}, 0, 1},
                                         {{16}, 0, 1},
                                         {{1, 515, 130, 259}, 0, 2},
                                         {{0}, 0, 1}};
  Instance instance;
  if (number < kKinds) {
    instance = first[number];
  } else {
    constexpr uint32_t kStep = 16, kMost = 48, kNumbers = 7;
    for (uint32_t argument = 0; argument < kNumbers; ++argument)
      instance.numbers.push_back(kStep * (draw(mix(mix(number, 2), argument)) % kMost));
    instance.blocks = 1 + number % 3;
    instance.block = number % instance.blocks;
  }
  instance.seed = mix(number, 1);
  return instance;
}

/// Whether an instruction has to do with the order of waves.
static bool matters(const Instruction &instruction) {
  switch (instruction.kind) {
  case Kind::Barrier:
  case Kind::BarrierSignal:
  case Kind::BarrierWait:
  case Kind::LoadToLDS:
  case Kind::ReadLDS:
  case Kind::WriteLDS:
  case Kind::AtomicLDS:
    return true;
  default:
    return false;
  }
}

ReplayResult kiln::amdgcn::replay(const KernelCode &kernel, ArrayRef<WaitProblem> disputed) {
  ReplayResult result;
  BitVector missed(kernel.code.size());
  for (auto [at, instruction] : enumerate(kernel.code))
    missed[at] = matters(instruction);
  bool isDeclared =
      kernel.protocol && (!kernel.protocol->rings.empty() || !kernel.protocol->counters.empty());
  // A function reaches no LDS (Waits.h), and one wave is ordered by its waits alone: it is run for
  // what it declares.
  if (kernel.isFunction || (kernel.isOneWave() && !isDeclared) || missed.none())
    return result;
  unsigned generation = getGeneration(kernel.chip);
  std::vector<Step> steps;
  steps.reserve(kernel.code.size());
  for (const Instruction &instruction : kernel.code)
    steps.push_back(makeStep(instruction, generation));
  // Where all waves meet it does not matter who comes first.
  bool hasWords = any_of(kernel.code, [](const Instruction &each) { return each.isLook; });
  Disputes disputes(kernel, disputed);
  const uint64_t patience = disputed.empty() ? 1 : kPatience;
  uint64_t left = kMostOfAll * patience;
  // How many instructions it took; nothing if it has found a problem.
  auto tryOne = [&](const Instance &instance, Turns turns,
                    uint64_t budget) -> std::optional<uint64_t> {
    BitVector executed(kernel.code.size());
    Block block(kernel, steps, instance, turns, executed, disputes,
                isDeclared ? &result.touched : nullptr);
    uint64_t took = budget - block.run(budget);
    missed.reset(executed);
    result.steps += took;
    ++result.runs;
    if (block.problem) {
      result.problems.push_back(std::move(*block.problem));
      return std::nullopt;
    }
    if (block.hasEnded())
      disputes.end();
    result.cutShort += !block.hasEnded();
    return took;
  };
  for (unsigned number = 0; number < kMostInstances && left; ++number) {
    const Instance instance = makeInstance(number);
    // The first ones are many kinds of trips; what is drawn is for what these have missed.
    if (number >= kKinds && missed.none() && disputes.areDecided())
      break;
    for (Turns turns : {Turns::Ascending, Turns::Descending}) {
      if (turns == Turns::Descending && !hasWords && number > 0)
        continue;
      std::optional<uint64_t> took = tryOne(instance, turns, std::min(left, kMostSteps * patience));
      if (!took)
        return result;
      left -= *took;
      if (!left)
        break;
    }
  }
  // What is cut short decides nothing. If that was all, one may take as long as they took together.
  if (!disputes.areDecided() && result.cutShort == result.runs)
    if (!tryOne(makeInstance(0), Turns::Ascending, kMostOfAll * patience))
      return result;
  result.missed = missed.count();
  result.undecided = disputes.listOpen();
  return result;
}
