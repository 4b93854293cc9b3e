// The vector unit.
#include "Wave.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;
using namespace kiln::amdgcn;

namespace {
/// The words of an input by lane, with whatever is done to them first.
class Source {
public:
  Source(const Wave &wave, const Input &input, bool isWide) : input(input) {
    if (!input.isVector()) {
      constant = wave.getScalar(input);
      if (!isWide)
        constant = uint32_t(constant);
      return;
    }
    const Registers &run = *input.registers;
    low = &wave.getVector(run.file, run.first);
    if (isWide && run.last > run.first)
      high = &wave.getVector(run.file, run.first + 1);
  }
  bool isUniform() const { return (!low || low->isUniform) && (!high || high->isUniform); }
  uint64_t get(unsigned lane) const {
    uint64_t value = low ? low->get(lane) : constant;
    if (high)
      value |= uint64_t(high->get(lane)) << 32;
    if (input.bits < 32) {
      value = value >> input.shift & maskTrailingOnes<uint64_t>(input.bits);
      if (input.isSigned)
        value = uint32_t(SignExtend64(value, input.bits));
    }
    if (input.isAbsolute)
      value &= ~(uint64_t(1) << 31);
    if (input.isNegated)
      value ^= uint64_t(1) << 31;
    return value;
  }

private:
  const Input &input;
  const Words *low = nullptr, *high = nullptr;
  uint64_t constant = 0;
};
} // namespace

uint64_t Wave::getName(const Part &part, unsigned lane, std::optional<unsigned> from) const {
  auto getInput = [&](size_t at, unsigned word) -> uint64_t {
    if (at == 0)
      return from ? get(part.inputs[at], *from, word) : 0;
    return get(part.inputs[at], lane, word);
  };
  uint64_t name = part.name;
  size_t free = std::min<size_t>(part.interchangeable, part.inputs.size());
  if (free > 1) {
    SmallVector<uint64_t, 3> numbers;
    for (size_t at = 0; at < free; ++at)
      numbers.push_back(getInput(at, 0) | getInput(at, 1) << 32);
    llvm::sort(numbers);
    if (part.isOfSet)
      numbers.erase(llvm::unique(numbers), numbers.end());
    for (uint64_t number : numbers)
      name = mix(name, number);
  }
  for (auto [at, input] : enumerate(part.inputs)) {
    if (free > 1 && at < free)
      continue;
    unsigned words = input.registers ? input.registers->last - input.registers->first + 1 : 1;
    for (unsigned word = 0; word < words; ++word)
      name = mix(name, getInput(at, word));
  }
  return name;
}

void Wave::setResult(const Registers &result, const Words &low, const Words &high) {
  setVector(result, result.first, low);
  if (result.last > result.first)
    setVector(result, result.first + 1, high);
}

/// The lane from which one takes its first operand, by the numbers of DPP's patterns in the ISA
/// manuals.
std::optional<unsigned> Wave::getSource(const Step &step, unsigned lane) const {
  unsigned pattern = *step.pattern, row = lane & ~15u, at = lane & 15, count = pattern & 15;
  unsigned source = lane;
  if (pattern < 0x100)
    source = (lane & ~3u) | (pattern >> (2 * (lane & 3)) & 3);
  else if (pattern > 0x100 && pattern < 0x110 && at + count < 16)
    source = lane + count;
  else if (pattern > 0x110 && pattern < 0x120 && at >= count)
    source = lane - count;
  else if (pattern > 0x120 && pattern < 0x130)
    source = row | ((at - count) & 15);
  else if (pattern == 0x140)
    source = row | (15 - at);
  else if (pattern == 0x141)
    source = lane ^ 7;
  else if (pattern == 0x142 && row)
    source = row - 1;
  else if (pattern == 0x143 && lane >= 32)
    source = 31;
  else if (pattern >= 0x150 && pattern < 0x160)
    source = row | count;
  else if (pattern >= 0x160 && pattern < 0x170)
    source = lane ^ count;
  else
    return std::nullopt;
  return source < lanes && isOn(source) ? std::optional(source) : std::nullopt;
}

/// Whether a lane is of the rows and banks that a pattern is for.
static bool takesPart(const Step &step, unsigned lane) {
  return !step.pattern || ((step.rows >> (lane / 16) & 1) && (step.banks >> (lane / 4 % 4) & 1));
}

/// Numbers that are compared, lane by lane.
void Wave::compareLanes(const Step &step, Cause own) {
  const Part &part = step.first;
  const Instruction &instruction = *step.instruction;
  Cause cause = getCause(part.inputs);
  bool isKnown = part.isKnown && instruction.relations && part.inputs.size() == 2;
  bool isWide = instruction.type.bits == 64;
  uint64_t exec = getExec(), mask = 0;
  if (isKnown) {
    Source a(*this, part.inputs[0], isWide), b(*this, part.inputs[1], isWide);
    for (unsigned lane = 0; lane < lanes; ++lane)
      if (exec >> lane & 1)
        mask |=
            uint64_t(compare(*instruction.relations, instruction.type, a.get(lane), b.get(lane)))
            << lane;
  } else {
    cause = cause ? cause : own;
    for (unsigned lane = 0; lane < lanes; ++lane)
      if (exec >> lane & 1)
        mask |= uint64_t(draw(getName(part, lane, lane)) & 1) << lane;
  }
  for (const Registers &result : step.masks)
    setMask(result, mask, cause);
}

/// What is not computed: each lane's words by what it takes.
void Wave::nameVector(const Step &step, const Part &part, Cause own) {
  bool isUniform = !step.pattern && all_of(part.inputs, [&](const Input &input) {
    if (!input.isVector())
      return true;
    for (unsigned number = input.registers->first; number <= input.registers->last; ++number)
      if (!getVector(input.registers->file, number).isUniform)
        return false;
    return true;
  });
  unsigned count = isUniform ? 1 : lanes;
  std::array<std::optional<uint64_t>, kMostLanes> names;
  for (unsigned lane = 0; lane < count; ++lane) {
    std::optional<unsigned> from = step.pattern ? getSource(step, lane) : lane;
    if (takesPart(step, lane) && (from || step.zeroesOthers))
      names[lane] = getName(part, lane, from);
  }
  Words words;
  setCause(words, part.inputs, own);
  words.isUniform = isUniform;
  for (unsigned number = part.result->first; number <= part.result->last; ++number) {
    const Words &before = getVector(part.result->file, number);
    for (unsigned lane = 0; lane < count; ++lane)
      words.lanes[lane] =
          names[lane] ? draw(*names[lane] + number - part.result->first) : before.get(lane);
    setVector(*part.result, number, words);
  }
  for (const Registers &mask : step.masks)
    setMask(mask, draw(names[0].value_or(0)) & 1 ? getExec() : 0, words.cause);
}

void Wave::computeVector(const Step &step, const Part &part, Cause own) {
  if (!part.result)
    return;
  Cause cause = getCause(part.inputs);
  bool takesMask = part.operation == Operation::SelectLanes ||
                   part.operation == Operation::AddWithCarry ||
                   part.operation == Operation::SubtractWithBorrow ||
                   part.operation == Operation::SubtractWithBorrowReversed;
  uint64_t exec = getExec(), taken = 0;
  if (takesMask) {
    taken = step.mask.registers ? getMask(*step.mask.registers) : step.mask.number;
    if (!cause)
      cause = getCause(step.mask);
  }
  const Arithmetic &arithmetic = part.arithmetic;
  bool selects = part.operation == Operation::SelectLanes && part.inputs.size() >= 2;
  bool isKnown =
      part.isKnown && (selects || (arithmetic.compute && !(arithmetic.isOfFloats && cause)));
  if (!isKnown)
    return nameVector(step, part, own);
  SmallVector<Source, 3> sources;
  bool isUniform = !step.pattern && (!takesMask || taken == 0 || (~taken & exec) == 0);
  unsigned count = selects ? 2 : arithmetic.inputs;
  for (unsigned i = 0; i < count; ++i) {
    sources.emplace_back(*this, part.inputs[i], arithmetic.wideInputs >> i & 1);
    isUniform &= sources.back().isUniform();
  }
  const Words &before = getVector(part.result->file, part.result->first);
  Words low, high;
  setCause(low, part.inputs);
  if (takesMask && getCause(step.mask) && !low.cause)
    low.cause = cause, low.named = ~uint64_t(0);
  const uint32_t written = maskTrailingOnes<uint32_t>(part.bits) << part.shift;
  low.namedBits = low.cause ? written : 0;
  if (part.keepsOthers) {
    isUniform &= before.isUniform;
    if (uint32_t kept = before.cause ? before.namedBits & ~written : 0) {
      low.cause = low.cause ? low.cause : before.cause;
      low.named |= before.named;
      low.namedBits |= kept;
    }
  }
  high.cause = low.cause;
  high.named = low.named;
  low.isUniform = high.isUniform = isUniform;
  uint64_t carries = 0, untouched = 0;
  for (unsigned lane = 0; lane < (isUniform ? 1 : lanes); ++lane) {
    uint64_t in[4] = {};
    std::optional<unsigned> from = step.pattern ? getSource(step, lane) : lane;
    if (!takesPart(step, lane) || (!from && !step.zeroesOthers)) {
      untouched |= uint64_t(1) << lane;
      continue;
    }
    for (unsigned i = 0; i < count; ++i)
      in[i] = i == 0 && !from ? 0 : sources[i].get(i == 0 ? *from : lane);
    unsigned first = isUniform ? getFirstLane() : lane;
    in[3] = takesMask ? taken >> first & 1 : step.table;
    uint64_t value = selects ? in[in[3] ? 1 : 0] : arithmetic.compute(in);
    if (part.bits < 32) {
      uint64_t kept = part.keepsOthers ? before.get(first) & ~written : 0;
      value = (value << part.shift & written) | kept;
    }
    low.lanes[lane] = uint32_t(value);
    high.lanes[lane] = uint32_t(value >> 32);
    if (!arithmetic.isWide && value >> 32)
      carries |= isUniform ? exec : uint64_t(1) << lane;
  }
  if (untouched) {
    for (unsigned lane = 0; lane < lanes; ++lane)
      if (untouched >> lane & 1)
        low.lanes[lane] = before.get(lane);
  }
  setResult(*part.result, low, high);
  for (const Registers &mask : step.masks)
    setMask(mask, carries & exec, cause);
}

/// All lanes take part, whichever are on; what comes out has one name for all.
void Wave::computeMatrix(const Step &step, Cause own) {
  uint64_t name = step.first.name;
  for (const Input &input : step.first.inputs) {
    if (!input.registers) {
      name = mix(name, input.number);
      continue;
    }
    for (unsigned number = input.registers->first; number <= input.registers->last; ++number) {
      if (!input.isVector()) {
        name = mix(name, scalars[number]);
        continue;
      }
      const Words &words = getVector(input.registers->file, number);
      for (unsigned lane = 0; lane < (words.isUniform ? 1 : lanes); ++lane)
        name = mix(name, words.lanes[lane]);
    }
  }
  Cause cause = getCause(step.first.inputs);
  if (step.first.result)
    nameAll(*step.first.result, name, cause ? cause : own);
}

//===- Between lanes ------------------------------------------------------------------------===//

/// Numbers that lanes take from other rows of 16, by the ISA manuals: the first input's, or where
/// two registers change places.
void Wave::permuteRows(const Step &step) {
  const Part &part = step.first;
  Words words;
  words.isUniform = false;
  words.cause = getCause(part.inputs);
  if (part.operation == Operation::SwapRows || part.operation == Operation::SwapHalves) {
    // Odd rows of the first and even ones of the second, or its upper half and that one's lower.
    unsigned bit = part.operation == Operation::SwapRows ? 16 : 32;
    const Registers &second = step.secondResult;
    Words first = getVector(part.result->file, part.result->first), other = words;
    Words from = getVector(second.file, second.first);
    other.cause = words.cause = first.cause ? first.cause : from.cause;
    for (unsigned lane = 0; lane < lanes; ++lane) {
      bool isUpper = lane & bit;
      words.lanes[lane] = isUpper ? from.get(lane ^ bit) : first.get(lane);
      other.lanes[lane] = isUpper ? from.get(lane) : first.get(lane ^ bit);
    }
    setVector(second, second.first, other);
    return setVector(*part.result, part.result->first, words);
  }
  // Of waves of 32 lanes, which have no halves, this does nothing.
  if (part.operation == Operation::PermuteHalves && lanes == 32)
    return;
  const Words &before = getVector(part.result->file, part.result->first);
  bool isByLane = part.inputs.size() > 1 && part.inputs[1].isVector();
  for (unsigned lane = 0; lane < lanes; ++lane) {
    unsigned source = lane ^ 32;
    bool takes = true;
    if (part.operation != Operation::PermuteHalves) {
      uint64_t chosen = isByLane ? get(part.inputs[1], lane)
                                 : getScalar(part.inputs[lane & 8 ? 2 : 1]) >> (4 * (lane & 7));
      source = ((lane & ~15u) | (chosen & 15)) ^ (part.operation == Operation::PermuteRow ? 0 : 16);
      // The first bit has lanes give that are off; the second zeroes what these would have given.
      takes = isOn(source) || (step.table & 1);
    }
    words.lanes[lane] = takes            ? uint32_t(get(part.inputs[0], source))
                        : step.table & 2 ? 0
                                         : before.get(lane);
  }
  setVector(*part.result, part.result->first, words);
}

/// What is taken from lanes, and put there, whichever are on.
bool Wave::computeSpecial(const Step &step, Cause own) {
  const Part &part = step.first;
  const Instruction &instruction = *step.instruction;
  auto getLane = [&](const Input &input) { return unsigned(getScalar(input)) % lanes; };
  switch (part.operation) {
  case Operation::FirstLane:
  case Operation::ReadLane: {
    unsigned lane =
        part.operation == Operation::ReadLane ? getLane(part.inputs[1]) : getFirstLane();
    // Other lanes may hold names, and those that are off too.
    const Input &from = part.inputs[0];
    Cause cause = getCause(from);
    if (from.isVector()) {
      const Words &words = getVector(from.registers->file, from.registers->first);
      cause = words.named >> lane & 1 ? words.cause : 0;
    }
    setScalar(part.result->first, uint32_t(get(from, lane)), cause);
    return true;
  }
  case Operation::WriteLane: {
    Words words = getVector(part.result->file, part.result->first);
    if (words.isUniform)
      std::fill(words.lanes.begin() + 1, words.lanes.end(), words.lanes[0]);
    words.isUniform = false;
    unsigned lane = getLane(part.inputs[1]);
    words.lanes[lane] = uint32_t(getScalar(part.inputs[0]));
    uint64_t bit = uint64_t(1) << lane, kept = words.cause ? words.named & ~bit : 0;
    Cause cause = getCause(part.inputs[0]);
    words.cause = cause ? cause : kept ? words.cause : 0;
    words.named = cause ? kept | bit : kept;
    words.namedBits = UINT32_MAX;
    setVector(*part.result, part.result->first, words, /*inAll=*/true);
    return true;
  }
  case Operation::CountLanesLow:
  case Operation::CountLanesHigh: {
    Words words;
    words.isUniform = false;
    words.cause = getCause(part.inputs);
    bool isHigh = part.operation == Operation::CountLanesHigh;
    for (unsigned lane = 0; lane < lanes; ++lane) {
      unsigned in = isHigh ? (lane < 32 ? 0 : lane - 32) : std::min(lane, 32u);
      uint32_t before = uint32_t((uint64_t(1) << in) - 1);
      words.lanes[lane] = llvm::popcount(uint32_t(get(part.inputs[0], lane)) & before) +
                          uint32_t(get(part.inputs[1], lane));
    }
    setVector(*part.result, part.result->first, words);
    return true;
  }
  case Operation::PermuteRow:
  case Operation::PermuteAcrossRows:
  case Operation::PermuteHalves:
  case Operation::SwapRows:
  case Operation::SwapHalves:
    permuteRows(step);
    return true;
  default:
    if (!instruction.relations && !(part.operation == Operation::None && !step.masks.empty() &&
                                    (!part.result || part.result->file == 's')))
      return false;
    compareLanes(step, own);
    return true;
  }
}

void Wave::compute(const Step &step, unsigned at) {
  Cause own = at + 1;
  const Instruction &instruction = *step.instruction;
  if (instruction.kind == Kind::Matrix)
    return computeMatrix(step, own);
  if (step.first.operation == Operation::Nothing || step.first.operation == Operation::Sleep ||
      (instruction.writes.empty() && !instruction.writesCondition))
    return;
  if (instruction.isScalar)
    return computeScalar(step, step.first, own);
  if (computeSpecial(step, own))
    return;
  if (!step.second)
    return computeVector(step, step.first, own);
  // Both read before either writes.
  Words before, after;
  const Part *parts[] = {&step.first, &*step.second};
  const std::optional<Registers> &first = step.first.result;
  if (first)
    before = getVector(first->file, first->first);
  computeVector(step, *parts[0], own);
  if (!first)
    return computeVector(step, *parts[1], own);
  after = getVector(first->file, first->first);
  setVector(*first, first->first, before, /*inAll=*/true);
  computeVector(step, *parts[1], own);
  setVector(*first, first->first, after, /*inAll=*/true);
}
