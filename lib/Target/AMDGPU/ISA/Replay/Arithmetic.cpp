// The functions of Arithmetic.h, one row each.
#include "Arithmetic.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <cmath>

using namespace llvm;
using namespace kiln::amdgcn;

//===- Numbers ------------------------------------------------------------------------------===//

static int64_t extend(uint64_t number, unsigned bits) {
  return bits >= 64 ? int64_t(number) : SignExtend64(number, bits);
}
static int32_t asSigned(uint64_t number) { return int32_t(uint32_t(number)); }
static float asFloat(uint64_t number) { return llvm::bit_cast<float>(uint32_t(number)); }
static uint64_t asBits(float number) { return llvm::bit_cast<uint32_t>(number); }

/// Floats in the order that their signs and magnitudes have; so two that have a name and no value
/// are in some order, too.
static int64_t orderFloat(uint64_t number, unsigned bits) {
  uint64_t sign = uint64_t(1) << (bits - 1), magnitude = number & (sign - 1);
  return number & sign ? -int64_t(magnitude) : int64_t(magnitude);
}

bool kiln::amdgcn::compare(unsigned relations, const NumberType &type, uint64_t a, uint64_t b) {
  unsigned bits = type.bits ? type.bits : 32;
  if (bits < 64) {
    a &= (uint64_t(1) << bits) - 1;
    b &= (uint64_t(1) << bits) - 1;
  }
  auto get = [&](auto x, auto y) { return x < y ? kLess : x == y ? kEqual : kGreater; };
  Relation relation = type.kind == 'i'   ? get(extend(a, bits), extend(b, bits))
                      : type.kind == 'f' ? get(orderFloat(a, bits), orderFloat(b, bits))
                                         : get(a, b);
  return relations & relation;
}

static uint64_t extractBits(uint64_t value, uint64_t from, uint64_t width, bool isSigned) {
  if (width == 0)
    return 0;
  value >>= from;
  if (width >= 64)
    return value;
  value &= (uint64_t(1) << width) - 1;
  return isSigned ? uint64_t(extend(value, width)) : value;
}

/// Any function of three bits: bit 4 a + 2 b + c of the table.
static uint64_t bitByTable(const uint64_t *in) {
  uint64_t result = 0;
  for (unsigned entry = 0; entry < 8; ++entry)
    if (in[3] >> entry & 1)
      result |= (entry & 4 ? in[0] : ~in[0]) & (entry & 2 ? in[1] : ~in[1]) &
                (entry & 1 ? in[2] : ~in[2]);
  return uint32_t(result);
}

/// Bytes 0 to 3 are the second operand's, 4 to 7 the first's; others are signs and constants.
static uint64_t pickBytes(const uint64_t *in) {
  uint64_t both = uint64_t(uint32_t(in[0])) << 32 | uint32_t(in[1]), result = 0;
  for (unsigned byte = 0; byte < 4; ++byte) {
    unsigned pick = in[2] >> (8 * byte) & 0xff;
    uint64_t picked = pick < 8     ? both >> (8 * pick) & 0xff
                      : pick < 12  ? (both >> (16 * (pick - 8) + 15) & 1 ? 0xff : 0)
                      : pick == 12 ? 0
                                   : 0xff;
    result |= picked << (8 * byte);
  }
  return result;
}

/// Which half of either is a bit of the fourth number.
static uint64_t movePair(const uint64_t *in) {
  uint64_t low = in[3] & 1 ? in[0] >> 32 : in[0], high = in[3] & 2 ? in[1] >> 32 : in[1];
  return uint32_t(low) | high << 32;
}

static uint64_t toUnsigned(float number) {
  return number > 0 ? (number >= 4294967296.0F ? UINT32_MAX : uint32_t(number)) : 0;
}
static uint64_t toSigned(float number) {
  if (std::isnan(number))
    return 0;
  return uint32_t(int32_t(std::clamp(double(number), -2147483648.0, 2147483647.0)));
}

//===- Functions ----------------------------------------------------------------------------===//

using Condition = Arithmetic::Condition;
static constexpr unsigned kFirst = 1, kSecond = 2, kThird = 4;

#define KILN_FUNCTION(expression) [](const uint64_t *in) -> uint64_t { return expression; }

namespace {
struct Row {
  Operation operation;
  Arithmetic arithmetic;
};
} // namespace

static constexpr Row rows[] = {
    {Operation::Move, {KILN_FUNCTION(in[0]), 1}},
    {Operation::FirstLane, {KILN_FUNCTION(in[0]), 1}},
    {Operation::MoveShort, {KILN_FUNCTION(uint32_t(extend(in[0], 16))), 1}},
    {Operation::MoveWide, {KILN_FUNCTION(in[0]), 1, true, kFirst}},
    {Operation::MovePair, {movePair, 2, true, kFirst | kSecond}},
    {Operation::Not, {KILN_FUNCTION(uint32_t(~in[0])), 1}},
    {Operation::NotWide, {KILN_FUNCTION(~in[0]), 1, true, kFirst}},
    {Operation::Add, {KILN_FUNCTION(in[0] + in[1]), 2, false, 0, Condition::Carries}},
    {Operation::AddShort,
     {KILN_FUNCTION(in[0] + uint32_t(extend(in[1], 16))), 2, false, 0, Condition::Carries}},
    {Operation::AddWide, {KILN_FUNCTION(in[0] + in[1]), 2, true, kFirst | kSecond}},
    {Operation::AddWithCarry,
     {KILN_FUNCTION(in[0] + in[1] + in[3]), 2, false, 0, Condition::Carries}},
    {Operation::Add3, {KILN_FUNCTION(in[0] + in[1] + in[2]), 3}},
    {Operation::Subtract, {KILN_FUNCTION(in[0] - in[1]), 2, false, 0, Condition::Carries}},
    {Operation::SubtractReversed, {KILN_FUNCTION(in[1] - in[0]), 2}},
    {Operation::SubtractWide, {KILN_FUNCTION(in[0] - in[1]), 2, true, kFirst | kSecond}},
    {Operation::SubtractWithBorrow,
     {KILN_FUNCTION(in[0] - in[1] - in[3]), 2, false, 0, Condition::Carries}},
    {Operation::SubtractWithBorrowReversed, {KILN_FUNCTION(in[1] - in[0] - in[3]), 2}},
    {Operation::Multiply, {KILN_FUNCTION(uint32_t(in[0] * in[1])), 2}},
    {Operation::MultiplyShort, {KILN_FUNCTION(uint32_t(in[0] * extend(in[1], 16))), 2}},
    {Operation::Multiply24, {KILN_FUNCTION(uint32_t((in[0] & 0xffffff) * (in[1] & 0xffffff))), 2}},
    {Operation::MultiplySigned24,
     {KILN_FUNCTION(uint32_t(extend(in[0], 24) * extend(in[1], 24))), 2}},
    {Operation::MultiplyHigh, {KILN_FUNCTION(in[0] * in[1] >> 32), 2}},
    {Operation::MultiplyHighSigned,
     {KILN_FUNCTION(uint32_t(int64_t(asSigned(in[0])) * asSigned(in[1]) >> 32)), 2}},
    {Operation::MultiplyHigh24, {KILN_FUNCTION((in[0] & 0xffffff) * (in[1] & 0xffffff) >> 32), 2}},
    {Operation::MultiplyWide, {KILN_FUNCTION(in[0] * in[1]), 2, true, kFirst | kSecond}},
    {Operation::MultiplyAdd, {KILN_FUNCTION(uint32_t(in[0] * in[1] + in[2])), 3}},
    {Operation::MultiplyAdd24,
     {KILN_FUNCTION(uint32_t((in[0] & 0xffffff) * (in[1] & 0xffffff) + in[2])), 3}},
    {Operation::MultiplyAddSigned24,
     {KILN_FUNCTION(uint32_t(extend(in[0], 24) * extend(in[1], 24) + in[2])), 3}},
    {Operation::MultiplyAddWide, {KILN_FUNCTION(in[0] * in[1] + in[2]), 3, true, kThird}},
    {Operation::MultiplyAddWideSigned,
     {KILN_FUNCTION(uint64_t(int64_t(asSigned(in[0])) * asSigned(in[1])) + in[2]), 3, true,
      kThird}},
    {Operation::And, {KILN_FUNCTION(in[0] & in[1]), 2}},
    {Operation::AndWide, {KILN_FUNCTION(in[0] & in[1]), 2, true, kFirst | kSecond}},
    {Operation::AndNot, {KILN_FUNCTION(in[0] & ~in[1]), 2}},
    {Operation::AndNotWide, {KILN_FUNCTION(in[0] & ~in[1]), 2, true, kFirst | kSecond}},
    {Operation::AndOr, {KILN_FUNCTION((in[0] & in[1]) | in[2]), 3}},
    {Operation::Or, {KILN_FUNCTION(in[0] | in[1]), 2}},
    {Operation::OrWide, {KILN_FUNCTION(in[0] | in[1]), 2, true, kFirst | kSecond}},
    {Operation::OrNot, {KILN_FUNCTION(uint32_t(in[0] | ~in[1])), 2}},
    {Operation::OrNotWide, {KILN_FUNCTION(in[0] | ~in[1]), 2, true, kFirst | kSecond}},
    {Operation::Or3, {KILN_FUNCTION(in[0] | in[1] | in[2]), 3}},
    {Operation::Xor, {KILN_FUNCTION(in[0] ^ in[1]), 2}},
    {Operation::XorWide, {KILN_FUNCTION(in[0] ^ in[1]), 2, true, kFirst | kSecond}},
    {Operation::Xor3, {KILN_FUNCTION(in[0] ^ in[1] ^ in[2]), 3}},
    {Operation::XorAdd, {KILN_FUNCTION((in[0] ^ in[1]) + in[2]), 3}},
    {Operation::NotAnd, {KILN_FUNCTION(uint32_t(~(in[0] & in[1]))), 2}},
    {Operation::NotAndWide, {KILN_FUNCTION(~(in[0] & in[1])), 2, true, kFirst | kSecond}},
    {Operation::NotOr, {KILN_FUNCTION(uint32_t(~(in[0] | in[1]))), 2}},
    {Operation::NotOrWide, {KILN_FUNCTION(~(in[0] | in[1])), 2, true, kFirst | kSecond}},
    {Operation::NotXor, {KILN_FUNCTION(uint32_t(~(in[0] ^ in[1]))), 2}},
    {Operation::NotXorWide, {KILN_FUNCTION(~(in[0] ^ in[1])), 2, true, kFirst | kSecond}},
    {Operation::ByTable, {bitByTable, 3}},
    {Operation::ShiftLeft, {KILN_FUNCTION(uint32_t(in[0] << (in[1] & 31))), 2}},
    {Operation::ShiftLeftReversed, {KILN_FUNCTION(uint32_t(in[1] << (in[0] & 31))), 2}},
    {Operation::ShiftLeftWide, {KILN_FUNCTION(in[0] << (in[1] & 63)), 2, true, kFirst}},
    {Operation::ShiftLeftWideReversed, {KILN_FUNCTION(in[1] << (in[0] & 63)), 2, true, kSecond}},
    {Operation::ShiftRight, {KILN_FUNCTION(in[0] >> (in[1] & 31)), 2}},
    {Operation::ShiftRightReversed, {KILN_FUNCTION(in[1] >> (in[0] & 31)), 2}},
    {Operation::ShiftRightWide, {KILN_FUNCTION(in[0] >> (in[1] & 63)), 2, true, kFirst}},
    {Operation::ShiftRightWideReversed, {KILN_FUNCTION(in[1] >> (in[0] & 63)), 2, true, kSecond}},
    {Operation::ShiftRightSigned, {KILN_FUNCTION(uint32_t(asSigned(in[0]) >> (in[1] & 31))), 2}},
    {Operation::ShiftRightSignedReversed,
     {KILN_FUNCTION(uint32_t(asSigned(in[1]) >> (in[0] & 31))), 2}},
    {Operation::ShiftRightSignedWide,
     {KILN_FUNCTION(uint64_t(int64_t(in[0]) >> (in[1] & 63))), 2, true, kFirst}},
    {Operation::ShiftRightSignedWideReversed,
     {KILN_FUNCTION(uint64_t(int64_t(in[1]) >> (in[0] & 63))), 2, true, kSecond}},
    {Operation::ShiftLeftAdd, {KILN_FUNCTION((in[0] << (in[1] & 31)) + in[2]), 3}},
    {Operation::ShiftLeftAddWide,
     {KILN_FUNCTION((in[0] << (in[1] & 7)) + in[2]), 3, true, kFirst | kThird}},
    {Operation::ShiftLeft1Add,
     {KILN_FUNCTION((in[0] << 1) + in[1]), 2, false, 0, Condition::Carries}},
    {Operation::ShiftLeft2Add,
     {KILN_FUNCTION((in[0] << 2) + in[1]), 2, false, 0, Condition::Carries}},
    {Operation::ShiftLeft3Add,
     {KILN_FUNCTION((in[0] << 3) + in[1]), 2, false, 0, Condition::Carries}},
    {Operation::ShiftLeft4Add,
     {KILN_FUNCTION((in[0] << 4) + in[1]), 2, false, 0, Condition::Carries}},
    {Operation::ShiftLeftOr, {KILN_FUNCTION(in[0] << (in[1] & 31) | in[2]), 3}},
    {Operation::AddShiftLeft, {KILN_FUNCTION((in[0] + in[1]) << (in[2] & 31)), 3}},
    {Operation::ShiftBothRight,
     {KILN_FUNCTION((in[0] << 32 | uint32_t(in[1])) >> (in[2] & 31)), 3}},
    {Operation::ShiftBothRightByBytes,
     {KILN_FUNCTION((in[0] << 32 | uint32_t(in[1])) >> (8 * (in[2] & 3))), 3}},
    {Operation::SetBit, {KILN_FUNCTION(in[1] | uint64_t(1) << (in[0] & 31)), 2}},
    {Operation::ClearBit, {KILN_FUNCTION(in[1] & ~(uint64_t(1) << (in[0] & 31))), 2}},
    {Operation::IsBitClear,
     {KILN_FUNCTION(!(in[0] >> (in[1] & 31) & 1)), 2, false, 0, Condition::Result}},
    {Operation::IsBitSet,
     {KILN_FUNCTION(in[0] >> (in[1] & 31) & 1), 2, false, 0, Condition::Result}},
    {Operation::ExtractBits, {KILN_FUNCTION(extractBits(in[0], in[1] & 31, in[2] & 31, false)), 3}},
    {Operation::ExtractBitsSigned,
     {KILN_FUNCTION(uint32_t(extractBits(extend(in[0], 32), in[1] & 31, in[2] & 31, true))), 3}},
    // The first bit and how many in one number.
    {Operation::ExtractBitsPacked,
     {KILN_FUNCTION(uint32_t(extractBits(in[0], in[1] & 31, in[1] >> 16 & 127, false))), 2}},
    {Operation::ExtractBitsSignedPacked,
     {KILN_FUNCTION(uint32_t(extractBits(extend(in[0], 32), in[1] & 31, in[1] >> 16 & 127, true))),
      2}},
    {Operation::ExtractBitsWide,
     {KILN_FUNCTION(extractBits(in[0], in[1] & 63, in[1] >> 16 & 127, false)), 2, true, kFirst}},
    {Operation::ExtractBitsSignedWide,
     {KILN_FUNCTION(extractBits(in[0], in[1] & 63, in[1] >> 16 & 127, true)), 2, true, kFirst}},
    {Operation::InsertBits, {KILN_FUNCTION((in[0] & in[1]) | (~in[0] & in[2])), 3}},
    {Operation::MaskBits,
     {KILN_FUNCTION(uint32_t(((uint64_t(1) << (in[0] & 31)) - 1) << (in[1] & 31))), 2}},
    {Operation::CountOnes, {KILN_FUNCTION(llvm::popcount(uint32_t(in[0]))), 1}},
    {Operation::CountOnesWide, {KILN_FUNCTION(llvm::popcount(in[0])), 1, false, kFirst}},
    {Operation::CountOnesAdd, {KILN_FUNCTION(llvm::popcount(uint32_t(in[0])) + in[1]), 2}},
    {Operation::FindFirst,
     {KILN_FUNCTION(uint32_t(in[0]) ? llvm::countr_zero(uint32_t(in[0])) : UINT32_MAX), 1}},
    {Operation::FindFirstWide,
     {KILN_FUNCTION(in[0] ? llvm::countr_zero(in[0]) : UINT32_MAX), 1, false, kFirst}},
    {Operation::FindLast,
     {KILN_FUNCTION(uint32_t(in[0]) ? llvm::countl_zero(uint32_t(in[0])) : UINT32_MAX), 1}},
    {Operation::FindLastWide,
     {KILN_FUNCTION(in[0] ? llvm::countl_zero(in[0]) : UINT32_MAX), 1, false, kFirst}},
    {Operation::ReverseBits, {KILN_FUNCTION(llvm::reverseBits(uint32_t(in[0]))), 1}},
    {Operation::ExtendByte, {KILN_FUNCTION(uint32_t(extend(in[0], 8))), 1}},
    {Operation::ExtendShort, {KILN_FUNCTION(uint32_t(extend(in[0], 16))), 1}},
    {Operation::Absolute, {KILN_FUNCTION(uint32_t(std::abs(int64_t(asSigned(in[0]))))), 1}},
    {Operation::PackLow, {KILN_FUNCTION((in[0] & 0xffff) | (in[1] & 0xffff) << 16), 2}},
    {Operation::PackLowHigh, {KILN_FUNCTION((in[0] & 0xffff) | (in[1] & 0xffff0000)), 2}},
    {Operation::PackHigh, {KILN_FUNCTION(in[0] >> 16 | (in[1] & 0xffff0000)), 2}},
    {Operation::PickBytes, {pickBytes, 3}},
    {Operation::FloatFromUnsigned,
     {KILN_FUNCTION(asBits(float(uint32_t(in[0])))), 1, false, 0, Condition::Result, true}},
    {Operation::FloatFromSigned,
     {KILN_FUNCTION(asBits(float(asSigned(in[0])))), 1, false, 0, Condition::Result, true}},
    {Operation::UnsignedFromFloat,
     {KILN_FUNCTION(toUnsigned(asFloat(in[0]))), 1, false, 0, Condition::Result, true}},
    {Operation::SignedFromFloat,
     {KILN_FUNCTION(toSigned(asFloat(in[0]))), 1, false, 0, Condition::Result, true}},
    {Operation::AddFloats,
     {KILN_FUNCTION(asBits(asFloat(in[0]) + asFloat(in[1]))), 2, false, 0, Condition::Result,
      true}},
    {Operation::SubtractFloats,
     {KILN_FUNCTION(asBits(asFloat(in[0]) - asFloat(in[1]))), 2, false, 0, Condition::Result,
      true}},
    {Operation::SubtractFloatsReversed,
     {KILN_FUNCTION(asBits(asFloat(in[1]) - asFloat(in[0]))), 2, false, 0, Condition::Result,
      true}},
    {Operation::MultiplyFloats,
     {KILN_FUNCTION(asBits(asFloat(in[0]) * asFloat(in[1]))), 2, false, 0, Condition::Result,
      true}},
    {Operation::MultiplyAddFloats,
     {KILN_FUNCTION(asBits(std::fma(asFloat(in[0]), asFloat(in[1]), asFloat(in[2])))), 3, false, 0,
      Condition::Result, true}},
    {Operation::Reciprocal,
     {KILN_FUNCTION(asBits(1.0F / asFloat(in[0]))), 1, false, 0, Condition::Result, true}},
    {Operation::Truncate,
     {KILN_FUNCTION(asBits(std::trunc(asFloat(in[0])))), 1, false, 0, Condition::Result, true}},
    {Operation::RoundDown,
     {KILN_FUNCTION(asBits(std::floor(asFloat(in[0])))), 1, false, 0, Condition::Result, true}},
    {Operation::RoundUp,
     {KILN_FUNCTION(asBits(std::ceil(asFloat(in[0])))), 1, false, 0, Condition::Result, true}},
};

/// The least or greatest of two or three numbers of a kind.
template <char kind, bool isGreatest>
static bool isBefore(uint64_t a, uint64_t b) {
  return compare(isGreatest ? kGreater : kLess, {kind, 32}, a, b);
}
template <char kind, bool isGreatest>
static uint64_t pickTwo(const uint64_t *in) {
  return isBefore<kind, isGreatest>(in[1], in[0]) ? in[1] : in[0];
}
template <char kind, bool isGreatest>
static uint64_t pickThree(const uint64_t *in) {
  uint64_t first = pickTwo<kind, isGreatest>(in);
  return isBefore<kind, isGreatest>(in[2], first) ? in[2] : first;
}
template <char kind>
static uint64_t pickMiddle(const uint64_t *in) {
  uint64_t sorted[] = {in[0], in[1], in[2]};
  llvm::sort(sorted, isBefore<kind, false>);
  return sorted[1];
}

template <char kind>
static Arithmetic getPick(Operation operation) {
  switch (operation) {
  case Operation::Minimum:
    return {pickTwo<kind, false>, 2, false, 0, Condition::IsFirst};
  case Operation::Maximum:
    return {pickTwo<kind, true>, 2, false, 0, Condition::IsFirst};
  case Operation::Minimum3:
    return {pickThree<kind, false>, 3};
  case Operation::Maximum3:
    return {pickThree<kind, true>, 3};
  case Operation::Median3:
    return {pickMiddle<kind>, 3};
  default:
    return {};
  }
}

Arithmetic kiln::amdgcn::getArithmetic(Operation operation, const NumberType &type) {
  const Row *row = find_if(rows, [&](const Row &each) { return each.operation == operation; });
  if (row != std::end(rows))
    return row->arithmetic;
  return type.kind == 'f'   ? getPick<'f'>(operation)
         : type.kind == 'i' ? getPick<'i'>(operation)
                            : getPick<'u'>(operation);
}
