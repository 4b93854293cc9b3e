// Intervals through the integer instructions that addresses are made of.
#include "Ranges.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;
using namespace kiln::amdgcn;

Range Ranges::get(char file, unsigned number) const {
  auto found = known.find({file, number});
  return found == known.end() ? Range() : found->second;
}

Range Ranges::get(StringRef operand) const {
  uint64_t constant;
  int64_t negative;
  if (!operand.getAsInteger(0, constant))
    return {constant & UINT32_MAX, constant & UINT32_MAX};
  if (!operand.getAsInteger(0, negative))
    return {uint32_t(negative), uint32_t(negative)};
  if (operand == "m0")
    return get('m', 0);
  unsigned number;
  if (operand.size() > 1 && !operand.drop_front().getAsInteger(10, number))
    return get(operand.front(), number);
  return {};
}

void Ranges::set(const Registers &registers, Range range) {
  for (unsigned number = registers.first; number <= registers.last; ++number) {
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
    Range both{std::min(it->second.low, theirs.low), std::max(it->second.high, theirs.high)};
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

static Range add(Range a, Range b) {
  Range sum{a.low + b.low, a.high + b.high};
  return sum.high > UINT32_MAX ? Range() : sum;
}
static Range multiply(Range a, Range b) {
  if (a.high && b.high > UINT32_MAX / a.high)
    return {};
  return {a.low * b.low, a.high * b.high};
}
static Range shiftLeft(Range value, Range by) {
  if (by.low != by.high)
    return {};
  return multiply(value, {uint64_t(1) << (by.low & 31), uint64_t(1) << (by.low & 31)});
}
static Range shiftRight(Range value, Range by) {
  return by.low == by.high ? Range{value.low >> (by.low & 31), value.high >> (by.low & 31)}
                           : Range{0, value.high};
}
static Range bitAnd(Range a, Range b) {
  if (a.low == a.high && b.low == b.high)
    return {a.low & b.low, a.low & b.low};
  return {0, std::min(a.high, b.high)};
}
static Range bitOr(Range a, Range b) { return {std::max(a.low, b.low), fill(a.high | b.high)}; }
static Range bitXor(Range a, Range b) { return {0, fill(a.high | b.high)}; }
static Range extract(Range value, Range from, Range width) {
  if (width.low != width.high || width.high >= 32)
    return {};
  return {0, std::min(shiftRight(value, from).high, (uint64_t(1) << width.low) - 1)};
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
  if (in.size() == 2) {
    if (is({"and_b32"}))
      return bitAnd(in[0], in[1]);
    if (is({"or_b32"}))
      return bitOr(in[0], in[1]);
    if (is({"xor_b32"}))
      return bitXor(in[0], in[1]);
    if (is({"add_u32", "add_nc_u32", "add_i32", "add_co_u32"}))
      return add(in[0], in[1]);
    if (is({"lshlrev_b32", "lshl_b32"}))
      return shiftLeft(in[0], in[1]);
    if (is({"lshrrev_b32", "lshr_b32"}))
      return shiftRight(in[0], in[1]);
    if (is({"mul_u32_u24", "mul_i32", "mul_lo_u32"}))
      return multiply(in[0], in[1]);
    // A lane of a constant choice is one of its operands.
    if (is({"cndmask_b32", "cselect_b32", "min_u32", "max_u32"}))
      return {std::min(in[0].low, in[1].low), std::max(in[0].high, in[1].high)};
  }
  if (in.size() == 3) {
    if (is({"cndmask_b32"}))
      return {std::min(in[0].low, in[1].low), std::max(in[0].high, in[1].high)};
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

void Ranges::apply(const Instruction &instruction) {
  if (instruction.operands.empty() || instruction.registers.empty())
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
    set(result, range);
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
    // Two places, at multiples of the element; st64 counts in 64 of them.
    uint64_t element = bytes / 2;
    if (StringRef(access.mnemonic).contains("st64"))
      element *= 64;
    uint64_t offsets[2] = {0, 0};
    for (unsigned i : {0u, 1u}) {
      size_t at = modifiers.find(i ? "offset1:" : "offset0:");
      if (at != StringRef::npos)
        modifiers.substr(at + 8).consumeInteger(10, offsets[i]);
    }
    auto [first, last] = std::minmax(offsets[0], offsets[1]);
    return {base.low + first * element, base.high + last * element + bytes / 2 - 1};
  }
  return {base.low + access.offset, base.high + access.offset + bytes - 1};
}
