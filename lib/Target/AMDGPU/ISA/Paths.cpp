// Paths.h: blocks, and to a fixed point over them what is known of the registers of some waves.
#include "Paths.h"
#include "llvm/ADT/STLExtras.h"
#include <deque>
#include <set>

using namespace llvm;
using namespace kiln::amdgcn;

//===- Blocks -------------------------------------------------------------------------------===//

Blocks::Blocks(const KernelCode &kernel) : kernel(kernel) {
  std::vector<bool> begins = kernel.getBlockStarts();
  begins.back() = true;
  for (auto [at, isStart] : enumerate(begins)) {
    if (isStart)
      starts.push_back(at);
    blockOf.push_back(starts.size() - 1);
  }
}

SmallVector<unsigned, 2> Blocks::getNext(unsigned block) const {
  SmallVector<unsigned, 2> next;
  if (block == getEnd())
    return next;
  const Instruction &last = kernel.code[getLast(block)];
  if (last.target)
    next.push_back(of(*last.target));
  if (last.fallsThrough && !is_contained(next, block + 1))
    next.push_back(block + 1);
  if (next.empty())
    next.push_back(getEnd());
  return next;
}

/// Those that all ways from a block to the end come to, its own among them.
static std::vector<BitVector> findSurelyPassed(const Edges &edges) {
  unsigned end = edges.size() - 1;
  std::vector<BitVector> passed(edges.size(), BitVector(edges.size(), true));
  passed[end].reset();
  passed[end].set(end);
  for (bool changed = true; changed;) {
    changed = false;
    for (unsigned block = end; block-- > 0;) {
      if (edges[block].empty())
        continue;
      BitVector all(edges.size(), true);
      for (unsigned next : edges[block])
        all &= passed[next];
      all.set(block);
      changed |= all != passed[block];
      passed[block] = std::move(all);
    }
  }
  return passed;
}

std::vector<unsigned> kiln::amdgcn::findMeetings(const Edges &edges) {
  std::vector<BitVector> passed = findSurelyPassed(edges);
  unsigned end = edges.size() - 1;
  std::vector<unsigned> meetings(edges.size(), end), counts;
  for (const BitVector &each : passed)
    counts.push_back(each.count());
  // Of those that are passed, the first is the one from which all others are.
  for (unsigned block = 0; block < end; ++block)
    for (unsigned other : passed[block].set_bits())
      if (other != block && !edges[block].empty() && counts[other] > counts[meetings[block]] &&
          counts[other] < edges.size())
        meetings[block] = other;
  return meetings;
}

BitVector kiln::amdgcn::findBetween(const Edges &edges, unsigned from, unsigned to) {
  BitVector between(edges.size());
  SmallVector<unsigned> work(edges[from].begin(), edges[from].end());
  while (!work.empty()) {
    unsigned block = work.pop_back_val();
    if (block == to || between.test(block))
      continue;
    between.set(block);
    work.append(edges[block].begin(), edges[block].end());
  }
  return between;
}

//===- Ways of some waves -------------------------------------------------------------------===//

static Range getBoth(Range a, Range b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high)};
}

/// What is counted to: the last of the numbers that an instruction takes.
static Range getBound(const Instruction &arrival, const Ranges &ranges) {
  for (const Operand &operand : reverse(arrival.operands))
    if (operand.registers && !operand.isResult && !operand.isModifier && !operand.isTied)
      return ranges.get(operand);
  return {};
}

static bool isOfLDS(Kind kind) {
  return kind == Kind::LoadToLDS || kind == Kind::ReadLDS || kind == Kind::WriteLDS ||
         kind == Kind::AtomicLDS;
}

Paths kiln::amdgcn::followPaths(const KernelCode &kernel, const Blocks &blocks, unsigned firstWave,
                                unsigned lastWave) {
  constexpr unsigned kPatience = 4;
  const std::vector<uint64_t> bounds = findBounds(kernel);
  const unsigned waveSize = kernel.getWaveSize();
  Paths paths;
  paths.edges.resize(blocks.size());
  std::vector<std::optional<Ranges>> before(blocks.size());
  std::vector<unsigned> visits(blocks.size(), 0);
  before[0].emplace();
  before[0]->setThreads(firstWave * waveSize, (lastWave + 1) * waveSize - 1);
  std::deque<unsigned> work{0};
  auto arrive = [&](unsigned from, unsigned to, const Ranges &ranges) {
    if (!is_contained(paths.edges[from], to))
      paths.edges[from].push_back(to);
    if (!before[to])
      before[to] = ranges;
    else if (!before[to]->join(ranges, ++visits[to] > kPatience, bounds))
      return;
    if (to != blocks.getEnd() && !is_contained(work, to))
      work.push_back(to);
  };
  while (!work.empty()) {
    unsigned block = work.front();
    work.pop_front();
    Ranges ranges = *before[block];
    const Instruction &last = kernel.code[blocks.getLast(block)];
    for (unsigned at = blocks.getFirst(block); at <= blocks.getLast(block); ++at) {
      const Instruction &instruction = kernel.code[at];
      if (isOfLDS(instruction.kind)) {
        Range place = getPlace(instruction, ranges, waveSize);
        auto known = paths.places.try_emplace(at, place).first;
        known->second = getBoth(known->second, place);
      }
      if (instruction.isArrival) {
        Range bound = getBound(instruction, ranges);
        auto known = paths.bounds.try_emplace(at, bound).first;
        known->second = getBoth(known->second, bound);
      }
      if (instruction.kind == Kind::Call)
        ranges = {};
      else
        ranges.apply(instruction);
    }
    std::optional<bool> isTaken = last.target ? ranges.isTaken(last) : std::nullopt;
    if (last.target && isTaken.value_or(true)) {
      Ranges taken = ranges;
      taken.refine(last, true);
      arrive(block, blocks.of(*last.target), taken);
    }
    if (last.fallsThrough && !isTaken.value_or(false)) {
      ranges.refine(last, false);
      arrive(block, block + 1, ranges);
    }
    if (!last.target && !last.fallsThrough)
      arrive(block, blocks.getEnd(), ranges);
  }
  return paths;
}

//===- Numbers of threads -------------------------------------------------------------------===//

static constexpr Registers kMet{'s', 106, 107}, kLanes{'s', 126, 127};
static constexpr unsigned kMaskLanes = 32;
static constexpr char kLaneFile = 'l';
static constexpr unsigned kMostLanes = 64;

namespace {
/// Registers, and the scalar unit's condition, that hold what is computed with such a number.
class Numbers {
public:
  /// In waves of 32 lanes masks are one register.
  explicit Numbers(unsigned waveSize)
      : met{'s', kMet.first, kMet.first + waveSize / kMaskLanes - 1},
        lanes{'s', kLanes.first, kLanes.first + waveSize / kMaskLanes - 1} {
    registers.insert({'v', 0});
  }
  void apply(const Instruction &instruction, bool isByThread);
  bool decide(const Instruction &branch) const;
  bool join(const Numbers &other) {
    size_t count = registers.size();
    registers.insert(other.registers.begin(), other.registers.end());
    size_t apart = putBy.size();
    for (auto it = putBy.begin(); it != putBy.end();)
      it = other.hasLane(*it) ? putBy.erase(it) : std::next(it);
    bool changed =
        registers.size() != count || putBy.size() != apart || condition < other.condition;
    condition |= other.condition;
    return changed;
  }

private:
  void set(const Registers &run, bool isOfThread) {
    for (unsigned number = run.first; number <= run.last; ++number) {
      if (run.file == 'v') {
        unsigned lane = number * kMostLanes, next = lane + kMostLanes;
        registers.erase(registers.lower_bound({kLaneFile, lane}),
                        registers.lower_bound({kLaneFile, next}));
        putBy.erase(putBy.lower_bound(lane), putBy.lower_bound(next));
      }
      if (isOfThread)
        registers.insert({run.file, number});
      else
        registers.erase({run.file, number});
    }
  }
  bool applyLane(const Instruction &instruction, bool isByThread);
  /// Of one lane of a vector register.
  bool hasLane(unsigned lane) const {
    return !putBy.count(lane) &&
           (registers.count({kLaneFile, lane}) || registers.count({'v', lane / kMostLanes}));
  }
  bool has(const Registers &run) const {
    auto found = registers.lower_bound({run.file, run.first});
    return found != registers.end() && found->first == run.file && found->second <= run.last;
  }
  std::set<std::pair<char, unsigned>> registers;
  /// Lanes into which others were put by, whatever the rest of the register holds.
  std::set<unsigned> putBy;
  Registers met, lanes;
  bool condition = false;
};
} // namespace

/// A scalar put by into a lane, or taken back; false if it is neither.
bool Numbers::applyLane(const Instruction &instruction, bool isByThread) {
  bool isWrite = instruction.operation == Operation::WriteLane;
  ArrayRef<Operand> operands = instruction.operands;
  if ((!isWrite && instruction.operation != Operation::ReadLane) || operands.size() < 3 ||
      !operands[2].number || !operands[0].registers)
    return false;
  const std::optional<Registers> &vector = operands[isWrite ? 0 : 1].registers;
  if (!vector || vector->file != 'v')
    return false;
  unsigned lane = vector->first * kMostLanes + unsigned(*operands[2].number) % kMostLanes;
  if (!isWrite) {
    set(*operands[0].registers, isByThread || hasLane(lane));
  } else if (isByThread || (operands[1].registers && has(*operands[1].registers))) {
    registers.insert({kLaneFile, lane});
    putBy.erase(lane);
  } else {
    putBy.insert(lane);
  }
  return true;
}

void Numbers::apply(const Instruction &instruction, bool isByThread) {
  if (applyLane(instruction, isByThread))
    return;
  bool computes = instruction.kind == Kind::Other || instruction.kind == Kind::PermuteLanes;
  // Which lanes are on is asked by branches on that alone. What puts lanes on again takes them from
  // where they were put by.
  auto isRead = [&](const Registers &run) { return !run.overlaps(kLanes) && has(run); };
  bool areLanes = has(lanes), saves = savesLanes(instruction.operation);
  bool turnsOn =
      instruction.operation == Operation::Or || instruction.operation == Operation::OrWide ||
      instruction.operation == Operation::Move || instruction.operation == Operation::MoveWide;
  bool isOfThread = isByThread || (computes && (any_of(instruction.reads, isRead) ||
                                                (instruction.operation == Operation::Select &&
                                                 instruction.isScalar && condition)));
  if (instruction.isDual && !isByThread) {
    auto [first, second] = getDualInputs(instruction);
    auto isSo = [&](ArrayRef<Operand> inputs) {
      return any_of(inputs, [&](const Operand &operand) {
        return operand.registers && has(*operand.registers);
      });
    };
    bool results[] = {isSo(first), isSo(second)};
    for (bool number : {false, true})
      if (const std::optional<Registers> &run = instruction.operands[number].registers)
        set(*run, results[number]);
    return;
  }
  for (const Registers &run : instruction.writes) {
    bool isMask = run.overlaps(kLanes);
    bool isSo = isOfThread;
    if (isMask && !turnsOn)
      isSo |= areLanes;
    if (saves && !isMask && !isByThread)
      isSo = areLanes;
    set(run, isSo);
  }
  if (instruction.writesCondition)
    condition = isOfThread;
}

bool Numbers::decide(const Instruction &branch) const {
  switch (branch.operation) {
  case Operation::BranchIf:
  case Operation::BranchIfNot:
    return condition;
  case Operation::BranchIfNoneMeet:
  case Operation::BranchIfAnyMeet:
    return has(met);
  case Operation::BranchIfNoLane:
  case Operation::BranchIfAnyLane:
    return has(lanes);
  default:
    return false;
  }
}

BitVector kiln::amdgcn::findBranchesByThread(const KernelCode &kernel, const Blocks &blocks) {
  Edges edges(blocks.size());
  for (unsigned block = 0; block < blocks.size(); ++block)
    edges[block] = blocks.getNext(block);
  std::vector<unsigned> meetings = findMeetings(edges);
  BitVector branches(kernel.code.size());
  // Blocks to which only some threads come.
  BitVector parted(blocks.size());
  std::vector<std::optional<Numbers>> before(blocks.size());
  before[0].emplace(kernel.getWaveSize());
  std::deque<unsigned> work{0};
  while (!work.empty()) {
    unsigned block = work.front();
    work.pop_front();
    if (block == blocks.getEnd())
      continue;
    Numbers numbers = *before[block];
    for (unsigned at = blocks.getFirst(block); at <= blocks.getLast(block); ++at)
      numbers.apply(kernel.code[at], parted.test(block));
    unsigned last = blocks.getLast(block);
    if (edges[block].size() > 1 && numbers.decide(kernel.code[last]) && !branches.test(last)) {
      branches.set(last);
      BitVector between = findBetween(edges, block, meetings[block]);
      between.reset(parted);
      parted |= between;
      for (unsigned other : between.set_bits())
        if (before[other] && !is_contained(work, other))
          work.push_back(other);
    }
    for (unsigned next : edges[block]) {
      bool isNew = !before[next];
      if (isNew)
        before[next] = numbers;
      if ((isNew || before[next]->join(numbers)) && !is_contained(work, next))
        work.push_back(next);
    }
  }
  return branches;
}
