// Turns of the waves, barriers and branches.
#include "Block.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;
using namespace kiln::amdgcn;

/// A wave that never waits lets others go on after so many instructions.
static constexpr uint64_t kTurn = 20000;

static unsigned getBytes(const KernelCode &kernel) {
  auto found = kernel.metadata.find("group_segment_fixed_size");
  return found == kernel.metadata.end() ? 0 : alignTo(unsigned(found->second), 4);
}

/// Words, unless anything of LDS is smaller.
static unsigned getCellBytes(const KernelCode &kernel) {
  auto isPart = [](const Instruction &each) {
    bool isOfLDS = each.kind == Kind::ReadLDS || each.kind == Kind::WriteLDS;
    return isOfLDS && each.bytes < 4;
  };
  return any_of(kernel.code, isPart) ? 1 : 4;
}

Block::Block(const KernelCode &kernel, ArrayRef<Step> steps, const Instance &instance, Turns turns,
             BitVector &executed, Disputes &disputes, Touched *touched)
    : kernel(kernel), steps(steps), executed(executed), disputes(disputes), touched(touched),
      ldsBytes(getBytes(kernel)), cellBytes(getCellBytes(kernel)), memory(kernel, instance),
      order(kernel, divideCeil(kernel.getThreads(), kernel.getWaveSize()), ldsBytes / cellBytes,
            cellBytes),
      live(divideCeil(kernel.getThreads(), kernel.getWaveSize())),
      isSame(new bool[ldsBytes / cellBytes + 1]()) {
  memory.lds.resize(ldsBytes / 4);
  disputes.begin(live);
  for (unsigned number = 0; number < live; ++number) {
    runners.emplace_back(Wave(kernel, number));
    memory.start(runners.back().wave);
    this->turns.push_back(turns == Turns::Ascending ? number : live - 1 - number);
  }
}

void Block::fail(unsigned at, std::string text) {
  if (!problem)
    problem = WaitProblem{at, std::move(text)};
}

//===- Turns --------------------------------------------------------------------------------===//

bool Block::canGoOn(const Runner &runner) const {
  switch (runner.state) {
  case Runner::Running:
    return true;
  case Runner::AtBarrier:
    return runner.signalled <= phase;
  case Runner::Asleep:
    return runner.looked != changes;
  case Runner::Ended:
    return false;
  }
  return false;
}

/// All waves that have not ended have come to the barrier.
void Block::endPhase() {
  if (live && all_of(runners, [&](const Runner &runner) {
        return runner.state == Runner::Ended || runner.signalled > phase;
      }))
    ++phase;
}

uint64_t Block::run(uint64_t budget) {
  while (live && budget && !problem) {
    auto next = find_if(turns, [&](unsigned number) { return canGoOn(runners[number]); });
    if (next == turns.end()) {
      failAll();
      break;
    }
    Runner &runner = runners[*next];
    if (runner.state == Runner::AtBarrier)
      order.pass(runner.wave.number, runner.signalled - 1);
    runner.state = Runner::Running;
    run(runner, budget);
    // Whoever has had a long turn stands behind the others.
    if (runner.state == Runner::Running)
      std::rotate(next, next + 1, turns.end());
  }
  return budget;
}

void Block::run(Runner &runner, uint64_t &budget) {
  for (uint64_t turn = 0; turn < kTurn && budget && !problem; ++turn, --budget)
    if (!step(runner))
      return;
}

void Block::failAll() {
  std::string text = "no wave can go on:";
  std::optional<unsigned> first;
  for (const Runner &runner : runners) {
    unsigned number = runner.wave.number;
    if (runner.state == Runner::AtBarrier) {
      unsigned at = runner.wave.at - 1;
      text += formatv(" wave {0} waits at the barrier of line {1},", number, kernel.code[at].line);
      first = first.value_or(at);
    } else if (runner.state == Runner::Asleep) {
      unsigned at = runner.lookedAt;
      text += formatv(" wave {0} looks in line {1},", number, kernel.code[at].line);
      first = first.value_or(at);
    } else {
      text += formatv(" wave {0} has ended,", number);
    }
  }
  text.pop_back();
  fail(first.value_or(0), text);
}

//===- Steps --------------------------------------------------------------------------------===//

bool Block::checkCause(const Wave &wave, Cause cause, StringRef what) {
  if (!cause)
    return true;
  const Instruction &origin = kernel.code[cause - 1];
  fail(wave.at, formatv("expected {0} that follows from numbers that are known, got one by '{1}' "
                        "of line {2}",
                        what, origin.mnemonic, origin.line));
  return false;
}

bool kiln::amdgcn::isOfData(const Instruction &instruction) {
  return instruction.kind != Kind::Other || instruction.type.kind == 'f' ||
         StringRef(instruction.mnemonic).contains("_f");
}

bool Block::branch(Runner &runner, const Step &step) {
  const Instruction &instruction = *step.instruction;
  Cause cause = runner.wave.getCause(step);
  if (cause && !isOfData(kernel.code[cause - 1]))
    return checkCause(runner.wave, cause, "a branch");
  // What the reader of the text has found out of the lanes.
  bool isTaken = instruction.target && (!instruction.fallsThrough || runner.wave.isTaken(step));
  runner.wave.at = isTaken ? *instruction.target : runner.wave.at + 1;
  return true;
}

bool Block::step(Runner &runner) {
  Wave &wave = runner.wave;
  if (wave.at >= steps.size()) {
    runner.state = Runner::Ended;
    --live;
    endPhase();
    return false;
  }
  const Step &step = steps[wave.at];
  executed.set(wave.at);
  disputes.step(wave.number, wave.at);
  const Instruction &instruction = *step.instruction;
  switch (instruction.kind) {
  case Kind::Branch:
    return branch(runner, step);
  case Kind::End:
    wave.at = steps.size();
    return true;
  case Kind::Other:
  case Kind::Matrix:
    wave.compute(step, wave.at);
    break;
  case Kind::Wait:
    for (unsigned counter = 0; counter < kNumCounters; ++counter)
      if (instruction.waits[counter])
        order.wait(wave.number, Counter(counter), *instruction.waits[counter]);
    break;
  case Kind::Barrier:
  case Kind::BarrierSignal:
  case Kind::BarrierWait: {
    ++wave.at;
    if (kernel.isOneWave())
      return true;
    runner.attempts.clear();
    if (instruction.kind != Kind::BarrierWait) {
      order.signal(wave.number, runner.signalled++);
      if (instruction.writesCondition)
        wave.setCondition(none_of(runners, [&](const Runner &other) {
          return &other != &runner && other.signalled >= runner.signalled;
        }));
      endPhase();
    }
    if (instruction.kind == Kind::BarrierSignal)
      return true;
    runner.state = Runner::AtBarrier;
    return false;
  }
  case Kind::Call:
    call(wave, step);
    break;
  case Kind::Return:
    fail(wave.at, "expected no return from a kernel");
    return false;
  default:
    accessMemory(runner, step);
    if (problem)
      return false;
    break;
  }
  ++wave.at;
  if (instruction.operation != Operation::Sleep || !runner.hasLooked)
    return true;
  runner.hasLooked = false;
  runner.state = Runner::Asleep;
  return false;
}
