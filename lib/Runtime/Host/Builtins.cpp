// Conversions of half and bfloat that code generators call where the processor has none. They
// live in the compilers' own support libraries, which a process need not have loaded. Bits go in
// and out in the low half of a vector register, as _Float16 and __bf16 do on both x86-64 and
// AArch64; the arithmetic below is on integers so that nothing here calls itself.
#include "Builtins.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/bit.h"
#include <cstdint>

using namespace llvm;

/// From the bits of a double to those of a format with `exponentBits` and `mantissaBits`: round to
/// nearest, ties to even, NaN stays NaN. A double holds every float, so one rounding is all.
static uint16_t narrow(uint64_t bits, unsigned exponentBits, unsigned mantissaBits) {
  uint16_t sign = uint16_t(bits >> 63) << (exponentBits + mantissaBits);
  uint64_t mantissa = bits & ((uint64_t(1) << 52) - 1);
  int exponent = int(bits >> 52 & 0x7ff);
  int bias = (1 << (exponentBits - 1)) - 1, top = (1 << exponentBits) - 1;
  uint16_t infinity = uint16_t(top) << mantissaBits;
  unsigned drop = 52 - mantissaBits;
  if (exponent == 0x7ff) {
    if (!mantissa)
      return sign | infinity;
    return sign | infinity | uint16_t(1) << (mantissaBits - 1) | uint16_t(mantissa >> drop);
  }
  if (exponent == 0)
    return sign; // zero, or far below the least of these formats
  int scaled = exponent - 1023 + bias;
  if (scaled >= top)
    return sign | infinity;
  uint64_t value = mantissa | uint64_t(1) << 52;
  if (scaled <= 0) {
    drop += 1 - scaled;
    if (drop > 54)
      return sign;
    scaled = 0;
  } else {
    value = mantissa | uint64_t(scaled) << 52;
  }
  uint64_t kept = value >> drop, rest = value & ((uint64_t(1) << drop) - 1);
  uint64_t half = uint64_t(1) << (drop - 1);
  // The carry of rounding runs into the exponent, which is just what it should do.
  kept += rest > half || (rest == half && (kept & 1));
  return sign | uint16_t(kept);
}

static float widenHalf(uint16_t bits) {
  uint32_t sign = uint32_t(bits >> 15) << 31, exponent = bits >> 10 & 31, mantissa = bits & 1023;
  if (exponent == 31)
    return llvm::bit_cast<float>(sign | 0x7f800000u | mantissa << 13 | (mantissa ? 1u << 22 : 0));
  if (exponent)
    return llvm::bit_cast<float>(sign | (exponent + 112) << 23 | mantissa << 13);
  // A subnormal half is a normal float: mantissa times 2^-24, exactly.
  float magnitude = float(mantissa) * 0x1p-24f;
  return llvm::bit_cast<float>(sign | llvm::bit_cast<uint32_t>(magnitude));
}

namespace {
/// Sixteen bits in a register of floating point, as the calling convention has them.
struct Carrier {
  static float of(uint16_t bits) { return llvm::bit_cast<float>(uint32_t(bits)); }
  static uint16_t bits(float value) { return uint16_t(llvm::bit_cast<uint32_t>(value)); }
};
} // namespace

extern "C" {
static float kilnExtendHalfToFloat(float half) { return widenHalf(Carrier::bits(half)); }
static double kilnExtendHalfToDouble(float half) { return widenHalf(Carrier::bits(half)); }
static float kilnTruncFloatToHalf(float value) {
  return Carrier::of(narrow(llvm::bit_cast<uint64_t>(double(value)), 5, 10));
}
static float kilnTruncDoubleToHalf(double value) {
  return Carrier::of(narrow(llvm::bit_cast<uint64_t>(value), 5, 10));
}
static float kilnTruncFloatToBFloat(float value) {
  return Carrier::of(narrow(llvm::bit_cast<uint64_t>(double(value)), 8, 7));
}
static float kilnTruncDoubleToBFloat(double value) {
  return Carrier::of(narrow(llvm::bit_cast<uint64_t>(value), 8, 7));
}
}

void *kiln::findBuiltin(StringRef name) {
  return StringSwitch<void *>(name)
      .Case("__extendhfsf2", reinterpret_cast<void *>(kilnExtendHalfToFloat))
      .Case("__extendhfdf2", reinterpret_cast<void *>(kilnExtendHalfToDouble))
      .Case("__truncsfhf2", reinterpret_cast<void *>(kilnTruncFloatToHalf))
      .Case("__truncdfhf2", reinterpret_cast<void *>(kilnTruncDoubleToHalf))
      .Case("__truncsfbf2", reinterpret_cast<void *>(kilnTruncFloatToBFloat))
      .Case("__truncdfbf2", reinterpret_cast<void *>(kilnTruncDoubleToBFloat))
      .Default(nullptr);
}
