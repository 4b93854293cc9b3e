// Intervals through the integer instructions that addresses are made of.
#include "Ranges.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;
using namespace kiln::amdgcn;

static unsigned countZeros(uint64_t constant) {
  return constant ? llvm::countr_zero(constant) : 32;
}

static Range getConstant(uint32_t value) { return {value, value, countZeros(value), value}; }

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

void Ranges::set(const Registers &registers, Range range) {
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

bool Ranges::join(const Ranges &other, bool widen) {
  bool changed = false;
  for (auto it = known.begin(); it != known.end();) {
    Range theirs = other.get(it->first.first, it->first.second);
    Range both{std::min(it->second.low, theirs.low), std::max(it->second.high, theirs.high),
               std::min(it->second.zeros, theirs.zeros), it->second.ones | theirs.ones};
    if (both == it->second) {
      ++it;
      continue;
    }
    changed = true;
    if (widen || both.isAll())
      it = known.erase(it);
    else
      (it++)->second = both;
  }
  return changed;
}

/// All numbers that have no bit above those of `high`.
static uint64_t fill(uint64_t high) { return high ? NextPowerOf2(high) - 1 : 0; }
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
  return {0, std::min(shifted.high, most), 0, getOnes(shifted) & most};
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

/// A mnemonic without its vector or scalar prefix and its encoding: v_add_u32_e32 is add_u32.
static StringRef getOperation(StringRef name) {
  if (!name.consume_front("v_") && !name.consume_front("s_"))
    return "";
  for (StringRef encoding : {"_e32", "_e64", "_sdwa", "_dpp"})
    if (name.consume_back(encoding))
      return encoding.size() == 4 && encoding != "_dpp" ? name : StringRef();
  return name;
}

/// What an instruction computes with: registers and numbers in place of one, and of scalar
/// instructions with 16 bits inside them, these.
static SmallVector<Operand> getInputs(const Instruction &instruction) {
  SmallVector<Operand> inputs;
  bool isShort = none_of(instruction.operands, [](const Operand &operand) {
    return !operand.isResult && !operand.isTied && !operand.isModifier;
  });
  for (const Operand &operand : instruction.operands)
    if (!operand.isResult && (isShort || !operand.isModifier))
      inputs.push_back(operand);
  return inputs;
}

/// Of what one half of a pair computes, or all of an instruction.
static Range evaluate(StringRef mnemonic, ArrayRef<Operand> inputs, const Instruction &instruction,
                      const Ranges &ranges) {
  StringRef operation = getOperation(mnemonic);
  SmallVector<Range> in;
  for (const Operand &operand : inputs)
    in.push_back(ranges.get(operand));
  if (in.empty())
    return {};
  // The reversed forms name the amount first.
  if (in.size() == 2 && (operation.contains("shlrev") || operation.contains("shrrev")))
    std::swap(in[0], in[1]);
  auto is = [&](std::initializer_list<StringRef> names) { return is_contained(names, operation); };
  // Accumulators hold what other registers have no room for.
  if (in.size() == 1 && is({"mov_b32", "readfirstlane_b32", "accvgpr_read_b32", "accvgpr_write_b32",
                            "accvgpr_mov_b32"}))
    return in[0];
  // Sixteen bits, of which the first one counts as negative; what is changed stands before them.
  if (is({"movk_i32", "mulk_i32", "addk_i32"})) {
    if (in.back().high >= 0x8000)
      return {};
    return operation == "movk_i32"   ? in.back()
           : operation == "mulk_i32" ? multiply(in.front(), in.back())
                                     : add(in.front(), in.back());
  }
  if (in.size() == 2) {
    // The number of a bit, and what it is set or cleared in.
    if (is({"bitset1_b32"}))
      return bitOr(in[1], shiftLeft(getConstant(1), in[0]));
    if (is({"bitset0_b32"}))
      return bitAndNot(in[1], shiftLeft(getConstant(1), in[0]));
    if (is({"and_b32"}))
      return bitAnd(in[0], in[1]);
    if (is({"andn2_b32", "and_not1_b32"}))
      return bitAndNot(in[0], in[1]);
    for (unsigned bits : {1, 2, 3, 4})
      if (operation == ("lshl" + Twine(bits) + "_add_u32").str())
        return add(shiftLeft(in[0], getConstant(bits)), in[1]);
    if (is({"or_b32"}))
      return bitOr(in[0], in[1]);
    if (is({"xor_b32"}))
      return bitXor(in[0], in[1]);
    if (is({"add_u32", "add_nc_u32", "add_i32", "add_co_u32", "add_co_i32"}))
      return add(in[0], in[1]);
    if (is({"lshlrev_b32", "lshl_b32"}))
      return shiftLeft(in[0], in[1]);
    if (is({"lshrrev_b32", "lshr_b32"}))
      return shiftRight(in[0], in[1]);
    if (is({"mul_u32_u24", "mul_i32", "mul_lo_u32"}))
      return multiply(in[0], in[1]);
    // The scalar form has both numbers in one operand: the first bit, and 16 bits above how many.
    if (is({"bfe_u32"}) && in[1].low == in[1].high) {
      uint64_t from = in[1].low & 31, width = in[1].low >> 16 & 127;
      return extract(in[0], {from, from}, {width, width});
    }
    // A lane of a constant choice is one of its operands.
    if (is({"cndmask_b32", "cselect_b32", "min_u32", "max_u32"}))
      return either(in[0], in[1]);
  }
  if (in.size() == 3) {
    if (is({"cndmask_b32"}))
      return either(in[0], in[1]);
    if (is({"lshl_or_b32"}))
      return bitOr(shiftLeft(in[0], in[1]), in[2]);
    if (is({"lshl_add_u32"}))
      return add(shiftLeft(in[0], in[1]), in[2]);
    if (is({"add_lshl_u32"}))
      return shiftLeft(add(in[0], in[1]), in[2]);
    if (is({"and_or_b32"}))
      return bitOr(bitAnd(in[0], in[1]), in[2]);
    if (is({"or3_b32"}))
      return bitOr(bitOr(in[0], in[1]), in[2]);
    if (is({"bitop3_b32"})) {
      const Operand &table = instruction.operands.back();
      return bitByTable(in[0], in[1], in[2], unsigned(table.number.value_or(0)));
    }
    if (is({"xor3_b32"}))
      return bitXor(bitXor(in[0], in[1]), in[2]);
    if (is({"add3_u32"}))
      return add(add(in[0], in[1]), in[2]);
    if (is({"xad_u32"}))
      return add(bitXor(in[0], in[1]), in[2]);
    if (is({"mad_u32_u24"}))
      return add(multiply(in[0], in[1]), in[2]);
    if (is({"bfe_u32"}))
      return extract(in[0], in[1], in[2]);
    // Bits of the second operand where the first has ones, of the third elsewhere.
    if (is({"bfi_b32"}))
      return bitOr(bitAnd(in[0], in[1]), {0, in[2].high});
  }
  return {};
}

bool Ranges::applyLane(const Instruction &instruction) {
  StringRef name = instruction.mnemonic;
  bool isWrite = name == "v_writelane_b32";
  ArrayRef<Operand> operands = instruction.operands;
  if ((!isWrite && name != "v_readlane_b32") || operands.size() < 3 || !operands[2].number)
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

/// Of two instructions in one, as gfx11 and gfx12 have them: both read before either writes. The
/// inputs of the first come first; a move has one, and what else is followed two.
static std::pair<Range, Range> evaluateDual(const Instruction &instruction, const Ranges &ranges) {
  StringRef first = instruction.mnemonic, second = instruction.secondMnemonic;
  SmallVector<Operand> inputs = getInputs(instruction);
  auto evaluateHalf = [&](StringRef name, bool isFirst) {
    name.consume_front("v_dual_");
    size_t count = std::min<size_t>(name == "mov_b32" ? 1 : 2, inputs.size());
    ArrayRef<Operand> own = inputs;
    own = isFirst ? own.take_front(count) : own.take_back(count);
    return evaluate(("v_" + name).str(), own, instruction, ranges);
  };
  return {evaluateHalf(first, true), evaluateHalf(second, false)};
}

void Ranges::apply(const Instruction &instruction) {
  if (applyLane(instruction))
    return;
  // Parts of registers, other lanes, and numbers that are negated or clamped first are not
  // followed: their modifiers are not zero, but for the table that is one.
  auto isChanged = [&](const Operand &operand) {
    return operand.isModifier && operand.number.value_or(0) && !operand.isResult;
  };
  StringRef name = instruction.mnemonic;
  bool isShort = name.starts_with("s_");
  bool isFollowed =
      instruction.kind == Kind::Other && !instruction.writes.empty() &&
      !instruction.operands.empty() && instruction.operands.front().isResult &&
      !instruction.permutesLanes && !instruction.isSubDword &&
      (isShort || name.starts_with("v_bitop3") || none_of(instruction.operands, isChanged));
  SmallVector<Range, 2> results;
  if (isFollowed && !instruction.secondMnemonic.empty()) {
    auto [first, second] = evaluateDual(instruction, *this);
    results = {first, second};
  } else if (isFollowed) {
    results = {evaluate(name, getInputs(instruction), instruction, *this)};
  }
  for (const Registers &written : instruction.writes)
    set(written, {});
  for (auto [at, range] : enumerate(results)) {
    range.zeros = std::max(range.zeros, countZeros(getOnes(range)));
    if (const std::optional<Registers> &result = instruction.operands[at].registers)
      set(*result, range);
  }
}

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
    // Two places, at multiples of the element, or of 64 of them.
    uint64_t element = bytes / 2;
    StringRef name = access.mnemonic;
    if (name.contains("st64") || name.contains("stride64"))
      element *= 64;
    auto [first, last] = std::minmax(access.offsets[0], access.offsets[1]);
    return getPlaces(base, first * element, last * element, bytes / 2);
  }
  unsigned offset = access.offsets.empty() ? 0 : access.offsets.front();
  return getPlaces(base, offset, offset, bytes);
}
