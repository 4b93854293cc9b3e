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

Range Ranges::get(StringRef operand) const {
  uint64_t constant;
  int64_t negative;
  if (!operand.getAsInteger(0, constant))
    return getConstant(uint32_t(constant));
  if (!operand.getAsInteger(0, negative))
    return getConstant(uint32_t(negative));
  if (operand == "m0")
    return get('m', 0);
  unsigned number;
  if (operand.size() > 1 && !operand.drop_front().getAsInteger(10, number))
    return get(operand.front(), number);
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

static Range evaluate(const Instruction &instruction, const Ranges &ranges) {
  StringRef operation = getOperation(instruction.mnemonic);
  SmallVector<Range> in;
  for (StringRef operand : ArrayRef(instruction.operands).drop_front())
    // The carry that some additions give stands between result and operands.
    if (operand != "vcc" && operand != "vcc_lo")
      in.push_back(ranges.get(operand));
  // The reversed forms name the amount first.
  if (operation.contains("shlrev") || operation.contains("shrrev"))
    std::swap(in[0], in[1]);
  auto is = [&](std::initializer_list<StringRef> names) { return is_contained(names, operation); };
  if (in.size() == 1 && is({"mov_b32", "readfirstlane_b32"}))
    return in[0];
  // Sixteen bits, of which the first one counts as negative.
  if (in.size() == 1 && is({"movk_i32", "mulk_i32", "addk_i32"})) {
    if (in[0].high >= 0x8000)
      return {};
    // What the last two change is their first operand too.
    Range changed = ranges.get(instruction.operands.front());
    return operation == "movk_i32"   ? in[0]
           : operation == "mulk_i32" ? multiply(changed, in[0])
                                     : add(changed, in[0]);
  }
  if (in.size() == 2) {
    if (is({"and_b32"}))
      return bitAnd(in[0], in[1]);
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
      StringRef modifiers = instruction.modifiers;
      unsigned table = 0;
      if (size_t at = modifiers.find("bitop3:"); at != StringRef::npos)
        modifiers.substr(at + 7).consumeInteger(0, table);
      return bitByTable(in[0], in[1], in[2], table);
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
  unsigned lane;
  if ((!isWrite && name != "v_readlane_b32") || instruction.operands.size() != 3 ||
      StringRef(instruction.operands[2]).getAsInteger(10, lane))
    return false;
  // The scalar side may be a register that is not followed, as vcc.
  const auto *found =
      find_if(instruction.registers, [](const Registers &each) { return each.file == 'v'; });
  if (found == instruction.registers.end())
    return false;
  unsigned vector = found->first;
  Registers place{kLaneFile, vector * kMostLanes + lane, vector * kMostLanes + lane};
  if (isWrite) {
    set(place, get(StringRef(instruction.operands[1])));
    known.erase({'v', vector});
  } else if (found != instruction.registers.begin()) {
    set(instruction.registers.front(), get(kLaneFile, place.first));
  }
  return true;
}

bool Ranges::applyDual(const Instruction &instruction) {
  StringRef name = instruction.mnemonic;
  if (!name.consume_front("v_dual_"))
    return false;
  // `v_dual_mov_b32 v1, v2 :: v_dual_add_f32 v3, v4, v5`: both read before either writes.
  Instruction halves[2];
  unsigned half = 0;
  halves[0].mnemonic = ("v_" + name).str();
  for (StringRef operand : instruction.operands) {
    auto [own, next] = operand.split(" :: v_dual_");
    halves[half].operands.push_back(own.str());
    if (next.empty())
      continue;
    auto [other, first] = next.split(' ');
    halves[half = 1].mnemonic = ("v_" + other).str();
    halves[half].operands.push_back(first.str());
  }
  std::pair<unsigned, Range> results[2];
  for (unsigned i : {0u, 1u}) {
    StringRef result = halves[i].operands.empty() ? "" : StringRef(halves[i].operands.front());
    if (!result.consume_front("v") || result.getAsInteger(10, results[i].first)) {
      known.clear(); // no form that is known: nothing is known any more
      return true;
    }
    results[i].second = evaluate(halves[i], *this);
  }
  for (auto [number, range] : results)
    set({'v', number, number}, range);
  return true;
}

void Ranges::apply(const Instruction &instruction) {
  if (instruction.operands.empty() || instruction.registers.empty() || applyLane(instruction) ||
      applyDual(instruction))
    return;
  switch (instruction.kind) {
  case Kind::Other:
  case Kind::Matrix: {
    // Whatever writes no register keeps what is known; comparisons write masks.
    Registers result = instruction.registers.front();
    bool named = StringRef(instruction.operands.front()).find(result.file) != StringRef::npos;
    if (!named || StringRef(instruction.mnemonic).starts_with("s_cmp"))
      return;
    Range range = evaluate(instruction, *this);
    range.zeros = std::max(range.zeros, countZeros(getOnes(range)));
    set(result, range);
    // A carry, or a mask, is a second result.
    StringRef name = instruction.mnemonic;
    if ((name.contains("_co_") || name.starts_with("v_mad_u64") || name.starts_with("v_mad_i64") ||
         name.starts_with("v_div_scale")) &&
        instruction.registers.size() > 1)
      set(instruction.registers[1], {});
    // Two registers change places.
    if (StringRef(instruction.mnemonic).contains("swap"))
      for (const Registers &other : instruction.registers)
        set(other, {});
    return;
  }
  default:
    if (instruction.result)
      set(*instruction.result, {});
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
  Range base;
  uint64_t bytes = access.bytes ? access.bytes : 16;
  if (access.kind == Kind::LoadToLDS) {
    base = ranges.get("m0");
    bytes *= waveSize;
  } else if (!access.operands.empty()) {
    // A read names its result first.
    unsigned address = access.kind == Kind::ReadLDS || access.result ? 1 : 0;
    if (address < access.operands.size())
      base = ranges.get(access.operands[address]);
  }
  if (base.isAll())
    return base;
  StringRef modifiers = access.modifiers;
  if (modifiers.contains("offset0:") || modifiers.contains("offset1:")) {
    // Two places, at multiples of the element, or of 64 of them.
    uint64_t element = bytes / 2;
    StringRef name = access.mnemonic;
    if (name.contains("st64") || name.contains("stride64"))
      element *= 64;
    uint64_t offsets[2] = {0, 0};
    for (unsigned i : {0u, 1u}) {
      size_t at = modifiers.find(i ? "offset1:" : "offset0:");
      if (at != StringRef::npos)
        modifiers.substr(at + 8).consumeInteger(10, offsets[i]);
    }
    auto [first, last] = std::minmax(offsets[0], offsets[1]);
    return getPlaces(base, first * element, last * element, bytes / 2);
  }
  return getPlaces(base, access.offset, access.offset, bytes);
}
