// Intervals through the integer instructions that addresses are made of.
#include "Ranges.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;
using namespace kiln::amdgcn;

Range Ranges::get(char file, unsigned number) const {
  auto found = known.find({file, number});
  return found == known.end() ? Range() : found->second;
}

Range Ranges::get(const Operand &operand) const {
  if (operand.number)
    return getConstant(uint32_t(*operand.number));
  if (operand.registers && operand.registers->first == operand.registers->last)
    return get(operand.registers->file, operand.registers->first);
  return {};
}

/// What scalar registers were put by into lanes of a vector register is known of each lane.
static constexpr char kLaneFile = 'l';
static constexpr unsigned kMostLanes = 64;
/// So is what words of a lane's own memory hold, where the instruction says which.
static constexpr char kScratchFile = 'p';
static constexpr unsigned kWordBytes = 4;

void Ranges::set(const Registers &registers, Range range) {
  forgetConditions(registers);
  for (unsigned number = registers.first; number <= registers.last; ++number) {
    if (registers.file == 'v')
      known.erase(known.lower_bound({kLaneFile, number * kMostLanes}),
                  known.lower_bound({kLaneFile, (number + 1) * kMostLanes}));
    if (range.isAll() || registers.first != registers.last)
      known.erase({registers.file, number});
    else
      known[{registers.file, number}] = range;
  }
}

void Ranges::setAll(const Registers &registers, Range range) {
  for (unsigned number = registers.first; number <= registers.last; ++number)
    set({registers.file, number, number}, range);
}

uint64_t kiln::amdgcn::fill(uint64_t high) { return high ? NextPowerOf2(high) - 1 : 0; }

/// The least of these bounds that a range is within; all numbers if there is none.
static Range widenTo(Range range, ArrayRef<uint64_t> bounds) {
  const auto *bound = find_if(bounds, [&](uint64_t each) { return each >= range.high; });
  return bound == bounds.end() ? Range() : Range{0, *bound, range.zeros, fill(*bound)};
}

bool Ranges::join(const Ranges &other, bool widen, ArrayRef<uint64_t> bounds) {
  bool changed = joinConditions(other);
  for (auto it = known.begin(); it != known.end();) {
    Range theirs = other.get(it->first.first, it->first.second);
    Range both{std::min(it->second.low, theirs.low), std::max(it->second.high, theirs.high),
               std::min(it->second.zeros, theirs.zeros), it->second.ones | theirs.ones};
    if (widen && !(both == it->second))
      both = widenTo(both, bounds);
    if (both == it->second) {
      ++it;
      continue;
    }
    changed = true;
    if (both.isAll())
      it = known.erase(it);
    else
      (it++)->second = both;
  }
  return changed;
}

static uint64_t getOnes(Range range) { return range.ones & fill(range.high); }

static Range multiply(Range a, Range b) {
  if (a.high && b.high > UINT32_MAX / a.high)
    return {};
  Range product{a.low * b.low, a.high * b.high, std::min(32u, a.zeros + b.zeros)};
  // By one bit, if at all.
  for (auto [bit, other] : {std::pair(a, b), std::pair(b, a)})
    if (llvm::popcount(getOnes(bit)) == 1)
      product.ones = getOnes(other) << llvm::countr_zero(getOnes(bit));
  return product;
}
/// Of the lower 24 bits of numbers that have no others.
static Range multiply24(Range a, Range b) {
  constexpr uint64_t kMost = 0xffffff;
  return a.high <= kMost && b.high <= kMost ? multiply(a, b) : Range();
}
static Range shiftLeft(Range value, Range by) {
  if (by.low != by.high)
    return {};
  Range shifted = multiply(value, getConstant(uint32_t(1) << (by.low & 31)));
  if (!shifted.isAll())
    shifted.ones = getOnes(value) << (by.low & 31);
  return shifted;
}
static Range shiftRight(Range value, Range by) {
  if (by.low != by.high)
    return {0, value.high};
  unsigned count = by.low & 31;
  return {value.low >> count, value.high >> count, 0, getOnes(value) >> count};
}
static Range bitAnd(Range a, Range b) {
  if (a.low == a.high && b.low == b.high)
    return getConstant(a.low & b.low);
  uint64_t ones = getOnes(a) & getOnes(b);
  // A mask of all bits that there are.
  for (auto [value, mask] : {std::pair(a, b), std::pair(b, a)})
    if (mask.low == mask.high && ones == getOnes(value))
      return value;
  return {0, std::min({a.high, b.high, ones}), std::max(a.zeros, b.zeros), ones};
}
/// Bits of either: no more than the sum, either.
static Range join(Range a, Range b, uint64_t low) {
  uint64_t ones = getOnes(a) | getOnes(b);
  return {low, std::min(ones, a.high + b.high), std::min(a.zeros, b.zeros), ones};
}
/// Numbers that have no bit in common are added.
static Range bitOr(Range a, Range b) {
  bool isApart = !(getOnes(a) & getOnes(b));
  return join(a, b, isApart ? a.low + b.low : std::max(a.low, b.low));
}
/// Numbers that have bits in common may carry.
static Range add(Range a, Range b) {
  if (!(getOnes(a) & getOnes(b)))
    return bitOr(a, b);
  Range sum{a.low + b.low, a.high + b.high, std::min(a.zeros, b.zeros)};
  // All of them wrap, as where a negative number is added.
  if (sum.low > UINT32_MAX)
    return {sum.low - UINT32_MAX - 1, sum.high - UINT32_MAX - 1, sum.zeros};
  return sum.high > UINT32_MAX ? Range() : sum;
}
static Range bitXor(Range a, Range b) { return join(a, b, 0); }
/// The bits of a number that a known one lacks, and no bits but the number's.
static Range bitAndNot(Range a, Range b) {
  if (b.low == b.high)
    return bitAnd(a, getConstant(~uint32_t(b.low)));
  return {0, a.high, a.zeros, getOnes(a)};
}
/// One of them.
static Range either(Range a, Range b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high), std::min(a.zeros, b.zeros),
          getOnes(a) | getOnes(b)};
}
static Range extract(Range value, Range from, Range width) {
  if (width.low != width.high || width.high >= 32)
    return {};
  uint64_t most = (uint64_t(1) << width.low) - 1;
  Range shifted = shiftRight(value, from);
  if (shifted.high <= most)
    return shifted;
  return {0, most, 0, getOnes(shifted) & most};
}

/// Any function of three bits, by a table: bit 4 a + 2 b + c of it is the result.
static Range bitByTable(Range a, Range b, Range c, unsigned table) {
  uint64_t ever = 0, always = 0;
  for (unsigned bit = 0; bit < 32; ++bit) {
    // What the operands' bits may be: of two numbers the table's entries that fit.
    unsigned entries = 0xff;
    for (auto [range, ones] : {std::pair(a, 0xf0u), {b, 0xccu}, {c, 0xaau}}) {
      bool isKnown = range.low == range.high || bit < range.zeros || !(getOnes(range) >> bit & 1);
      if (isKnown)
        entries &= range.low == range.high && (range.low >> bit & 1) ? ones : ~ones;
    }
    if (table & entries)
      ever |= uint64_t(1) << bit;
    if ((table & entries) == entries)
      always |= uint64_t(1) << bit;
  }
  return {always, ever, countZeros(ever), ever};
}

SmallVector<Operand> kiln::amdgcn::getInputs(const Instruction &instruction) {
  SmallVector<Operand> inputs;
  bool isShort = none_of(instruction.operands, [](const Operand &operand) {
    return !operand.isResult && !operand.isTied && !operand.isModifier;
  });
  for (const Operand &operand : instruction.operands)
    if (!operand.isResult && (isShort || !operand.isModifier))
      inputs.push_back(operand);
  return inputs;
}

/// Of one operand.
static Range evaluateOne(Operation operation, Range a) {
  switch (operation) {
  case Operation::Move:
  case Operation::FirstLane:
    return a;
  // Sixteen bits, of which the first one counts as negative.
  case Operation::MoveShort:
    return a.high < 0x8000 ? a : Range();
  default:
    return {};
  }
}

/// Of two operands.
static Range evaluateTwo(Operation operation, Range a, Range b) {
  switch (operation) {
  case Operation::AddShort:
    return b.high < 0x8000 ? add(a, b) : Range();
  case Operation::MultiplyShort:
    return b.high < 0x8000 ? multiply(a, b) : Range();
  case Operation::Add:
    return add(a, b);
  case Operation::Multiply:
    return multiply(a, b);
  case Operation::Multiply24:
    return multiply24(a, b);
  case Operation::And:
    return bitAnd(a, b);
  case Operation::AndNot:
    return bitAndNot(a, b);
  case Operation::Or:
    return bitOr(a, b);
  case Operation::Xor:
    return bitXor(a, b);
  case Operation::ShiftLeft:
    return shiftLeft(a, b);
  case Operation::ShiftLeftReversed:
    return shiftLeft(b, a);
  case Operation::ShiftRight:
    return shiftRight(a, b);
  case Operation::ShiftRightReversed:
    return shiftRight(b, a);
  case Operation::ShiftLeft1Add:
    return add(shiftLeft(a, getConstant(1)), b);
  case Operation::ShiftLeft2Add:
    return add(shiftLeft(a, getConstant(2)), b);
  case Operation::ShiftLeft3Add:
    return add(shiftLeft(a, getConstant(3)), b);
  case Operation::ShiftLeft4Add:
    return add(shiftLeft(a, getConstant(4)), b);
  // The number of a bit, and what it is set or cleared in.
  case Operation::SetBit:
    return bitOr(b, shiftLeft(getConstant(1), a));
  case Operation::ClearBit:
    return bitAndNot(b, shiftLeft(getConstant(1), a));
  // The scalar form has both numbers in one operand: the first bit, and 16 bits above how many.
  case Operation::ExtractBits: {
    if (b.low != b.high)
      return {};
    uint64_t from = b.low & 31, width = b.low >> 16 & 127;
    return extract(a, {from, from}, {width, width});
  }
  // A lane of a constant choice is one of its operands.
  case Operation::SelectLanes:
  case Operation::Select:
  case Operation::Minimum:
  case Operation::Maximum:
    return either(a, b);
  default:
    return {};
  }
}

/// Of three operands; which function of their bits it is, `table` says where it is one by a table.
static Range evaluateThree(Operation operation, Range a, Range b, Range c, unsigned table) {
  switch (operation) {
  case Operation::SelectLanes:
    return either(a, b);
  case Operation::ShiftLeftOr:
    return bitOr(shiftLeft(a, b), c);
  case Operation::ShiftLeftAdd:
    return add(shiftLeft(a, b), c);
  case Operation::AddShiftLeft:
    return shiftLeft(add(a, b), c);
  case Operation::AndOr:
    return bitOr(bitAnd(a, b), c);
  case Operation::Or3:
    return bitOr(bitOr(a, b), c);
  case Operation::ByTable:
    return bitByTable(a, b, c, table);
  case Operation::Xor3:
    return bitXor(bitXor(a, b), c);
  case Operation::Add3:
    return add(add(a, b), c);
  case Operation::XorAdd:
    return add(bitXor(a, b), c);
  case Operation::MultiplyAdd24:
    return add(multiply24(a, b), c);
  case Operation::ExtractBits:
    return extract(a, b, c);
  // Bits of the second operand where the first has ones, of the third elsewhere.
  case Operation::InsertBits:
    return bitOr(bitAnd(a, b), {0, c.high});
  default:
    return {};
  }
}

/// Of what one half of a pair computes, or all of an instruction.
static Range evaluate(Operation operation, ArrayRef<Operand> inputs, const Instruction &instruction,
                      const Ranges &ranges) {
  SmallVector<Range> in;
  for (const Operand &operand : inputs)
    in.push_back(ranges.get(operand));
  if (in.size() == 1)
    return evaluateOne(operation, in[0]);
  if (in.size() == 2)
    return evaluateTwo(operation, in[0], in[1]);
  if (in.size() == 3)
    return evaluateThree(operation, in[0], in[1], in[2],
                         unsigned(instruction.operands.back().number.value_or(0)));
  return {};
}

bool Ranges::applyLane(const Instruction &instruction) {
  bool isWrite = instruction.operation == Operation::WriteLane;
  ArrayRef<Operand> operands = instruction.operands;
  if ((!isWrite && instruction.operation != Operation::ReadLane) || operands.size() < 3 ||
      !operands[2].number)
    return false;
  const std::optional<Registers> &vector = operands[isWrite ? 0 : 1].registers;
  if (!vector || vector->file != 'v' || !operands[0].registers)
    return false;
  unsigned lane = vector->first * kMostLanes + unsigned(*operands[2].number) % kMostLanes;
  if (isWrite) {
    set({kLaneFile, lane, lane}, get(operands[1]));
    known.erase({'v', vector->first});
  } else {
    set(*operands[0].registers, get(kLaneFile, lane));
  }
  return true;
}

bool Ranges::applyScratch(const Instruction &instruction) {
  if (!instruction.isScratch || instruction.offsets.size() != 1)
    return false;
  SmallVector<Registers, 2> others;
  for (const Operand &operand : instruction.operands)
    if (!operand.isResult && !operand.isTied && operand.registers)
      others.push_back(*operand.registers);
  bool isStore = instruction.kind == Kind::StoreGlobal;
  bool isKnown = others.size() == isStore && instruction.bytes >= kWordBytes &&
                 instruction.offsets.front() % kWordBytes == 0 &&
                 (isStore || (instruction.result && !instruction.keepsHalf));
  if (!isKnown) {
    // Registers may say where it is; part of a word may be written.
    if (isStore)
      known.erase(known.lower_bound({kScratchFile, 0}), known.upper_bound({kScratchFile, ~0u}));
    return false;
  }
  const Registers registers = isStore ? others.front() : *instruction.result;
  unsigned word = instruction.offsets.front() / kWordBytes;
  for (unsigned number = registers.first; number <= registers.last; ++number, ++word) {
    Range range = isStore ? get(registers.file, number) : get(kScratchFile, word);
    if (isStore)
      set({kScratchFile, word, word}, range);
    else
      set({registers.file, number, number}, range);
  }
  return true;
}

std::pair<SmallVector<Operand>, SmallVector<Operand>>
kiln::amdgcn::getDualInputs(const Instruction &instruction) {
  SmallVector<Operand> inputs = getInputs(instruction);
  auto take = [&](Operation operation, bool isFirst) {
    size_t count = std::min<size_t>(operation == Operation::Move ? 1 : 2, inputs.size());
    ArrayRef<Operand> own = inputs;
    return SmallVector<Operand>(isFirst ? own.take_front(count) : own.take_back(count));
  };
  return {take(instruction.operation, true), take(instruction.secondOperation, false)};
}

/// Both read before either writes.
static std::pair<Range, Range> evaluateDual(const Instruction &instruction, const Ranges &ranges) {
  auto [first, second] = getDualInputs(instruction);
  return {evaluate(instruction.operation, first, instruction, ranges),
          evaluate(instruction.secondOperation, second, instruction, ranges)};
}

void Ranges::apply(const Instruction &instruction) {
  if (applyLane(instruction) || applyScratch(instruction))
    return;
  // Parts of registers, other lanes, and numbers that are negated or clamped first are not
  // followed: their modifiers are not zero, but for the table that is one.
  auto isChanged = [&](const Operand &operand) {
    return operand.isModifier && operand.number.value_or(0) && !operand.isResult;
  };
  bool isFollowed = instruction.kind == Kind::Other && !instruction.writes.empty() &&
                    !instruction.operands.empty() && instruction.operands.front().isResult &&
                    !instruction.permutesLanes && !instruction.isSubDword &&
                    (instruction.isScalar || instruction.operation == Operation::ByTable ||
                     none_of(instruction.operands, isChanged));
  SmallVector<Range, 2> results;
  std::optional<Comparison> asked = findAsked(instruction);
  if (isFollowed && instruction.isDual) {
    auto [first, second] = evaluateDual(instruction, *this);
    results = {first, second};
  } else if (isFollowed && instruction.operation == Operation::Select && comparison) {
    results = {select(getInputs(instruction))};
  } else if (isFollowed) {
    results = {evaluate(instruction.operation, getInputs(instruction), instruction, *this)};
  }
  for (const Registers &written : instruction.writes)
    set(written, {});
  for (auto [at, range] : enumerate(results)) {
    range.zeros = std::max(range.zeros, countZeros(getOnes(range)));
    if (const std::optional<Registers> &result = instruction.operands[at].registers)
      set(*result, range);
  }
  applyWide(instruction);
  applyComparison(instruction, asked);
}

//===- Places -------------------------------------------------------------------------------===//

/// The bytes from one offset behind a base to so many from another one. Addresses wrap: what goes
/// beyond the last one may be anywhere.
static Range getPlaces(Range base, uint64_t first, uint64_t last, uint64_t bytes) {
  Range begin = add(base, getConstant(first)), end = add(base, getConstant(last));
  uint64_t high = (end.high >> end.zeros << end.zeros) + bytes - 1;
  return begin.isAll() || high > UINT32_MAX ? Range() : Range{begin.low, high};
}

Range kiln::amdgcn::getPlace(const Instruction &access, const Ranges &ranges, unsigned waveSize) {
  uint64_t bytes = access.bytes ? access.bytes : 16;
  // Lanes of a load that passes the registers by fill words one behind another.
  if (access.kind == Kind::LoadToLDS)
    bytes = std::max<uint64_t>(bytes, 4) * waveSize;
  Range base = access.address ? ranges.get(*access.address) : Range();
  if (base.isAll())
    return base;
  if (access.offsets.size() == 2) {
    auto [first, last] = std::minmax(access.offsets[0], access.offsets[1]);
    return getPlaces(base, first, last, bytes / 2);
  }
  unsigned offset = access.offsets.empty() ? 0 : access.offsets.front();
  return getPlaces(base, offset, offset, bytes);
}
