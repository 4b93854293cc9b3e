// Which branches go by the numbers of threads: to a fixed point over a kernel's blocks.
#include "Paths.h"
#include "llvm/ADT/STLExtras.h"
#include <deque>
#include <set>

using namespace llvm;
using namespace kiln::amdgcn;

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

namespace {
/// What is known in front of a block.
struct Known {
  Numbers numbers;
  Ranges ranges;
};

class BranchFinder {
public:
  BranchFinder(const KernelCode &kernel, const Blocks &blocks)
      : kernel(kernel), blocks(blocks), edges(blocks.size()), before(blocks.size()),
        visits(blocks.size()), parted(blocks.size()), branches(kernel.code.size()) {
    for (unsigned block = 0; block < blocks.size(); ++block)
      edges[block] = blocks.getNext(block);
    meetings = findMeetings(edges);
  }
  BitVector run();

private:
  void pass(Known &known, unsigned block) const;
  unsigned follow(Known &known, unsigned block) const;
  void arrive(unsigned block, Known known);
  void part(unsigned block);
  void add(unsigned block) {
    if (!is_contained(work, block))
      work.push_back(block);
  }

  const KernelCode &kernel;
  const Blocks &blocks;
  const std::vector<uint64_t> bounds = findBounds(kernel);
  Edges edges;
  std::vector<unsigned> meetings;
  std::vector<std::optional<Known>> before;
  std::vector<unsigned> visits;
  BitVector parted; ///< blocks to which only some threads come
  BitVector branches;
  std::deque<unsigned> work;
};
} // namespace

void BranchFinder::pass(Known &known, unsigned block) const {
  for (unsigned at = blocks.getFirst(block); at <= blocks.getLast(block); ++at) {
    const Instruction &instruction = kernel.code[at];
    known.numbers.apply(instruction, parted.test(block));
    if (instruction.kind == Kind::Call)
      known.ranges = {};
    else
      known.ranges.apply(instruction);
  }
}

/// Through short blocks whose branch goes by a constant of this path: LLVM has paths meet and part
/// again that have nothing to do with one another, and what other paths hold would decide there.
unsigned BranchFinder::follow(Known &known, unsigned block) const {
  constexpr unsigned kMostHops = 16, kShort = 24;
  Known there = known;
  for (unsigned hop = 0, at = block; hop < kMostHops && at != blocks.getEnd(); ++hop) {
    const Instruction &last = kernel.code[blocks.getLast(at)];
    if (blocks.getLast(at) - blocks.getFirst(at) >= kShort || edges[at].empty())
      break;
    pass(there, at);
    if (edges[at].size() == 1) {
      at = edges[at].front();
      continue;
    }
    std::optional<bool> isTaken = there.ranges.isTaken(last);
    if (!isTaken)
      break;
    at = *isTaken ? blocks.of(*last.target) : at + 1;
    known = there;
    block = at;
  }
  return block;
}

void BranchFinder::arrive(unsigned block, Known known) {
  constexpr unsigned kPatience = 4;
  block = follow(known, block);
  if (!before[block]) {
    before[block] = std::move(known);
    add(block);
    return;
  }
  bool isMore = before[block]->numbers.join(known.numbers);
  isMore |= before[block]->ranges.join(known.ranges, ++visits[block] > kPatience, bounds);
  if (isMore)
    add(block);
}

/// Threads go several ways from a block, up to where all ways meet.
void BranchFinder::part(unsigned block) {
  BitVector between = findBetween(edges, block, meetings[block]);
  between.reset(parted);
  if (between.none())
    return;
  parted |= between;
  // What passed through one of them on its way to others passes again.
  for (unsigned other = 0; other < blocks.size(); ++other)
    if (before[other])
      add(other);
}

BitVector BranchFinder::run() {
  before[0].emplace(Known{Numbers(kernel.getWaveSize()), {}});
  before[0]->ranges.setThreads(0, kernel.getThreads() - 1);
  work.push_back(0);
  while (!work.empty()) {
    unsigned block = work.front();
    work.pop_front();
    if (block == blocks.getEnd())
      continue;
    Known known = *before[block];
    pass(known, block);
    unsigned last = blocks.getLast(block);
    if (edges[block].size() > 1 && !branches.test(last) &&
        known.numbers.decide(kernel.code[last])) {
      branches.set(last);
      part(block);
    }
    for (unsigned next : edges[block])
      arrive(next, known);
  }
  return branches;
}

BitVector kiln::amdgcn::findBranchesByThread(const KernelCode &kernel, const Blocks &blocks) {
  return BranchFinder(kernel, blocks).run();
}
