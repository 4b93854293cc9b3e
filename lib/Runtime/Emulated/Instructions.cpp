// Finding instructions, and the number formats that matrices are made of.
#include "Instructions.h"
#include "Block.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/bit.h"
#include <vector>

using namespace llvm;

namespace kiln::emulated {

/// What both vendors' code may hold.
static const Instruction kCommonInstructions[] = {
    {"trap", false, [](const Lanes &) { Block::current()->fail("a trap: an assertion failed"); }},
    {nullptr, false, nullptr},
};

/// Takes ".i32" or ".v4bf16" off the front; whether one was there.
static bool consumeType(StringRef &text) {
  StringRef rest = text;
  unsigned count, bits;
  if (!rest.consume_front("."))
    return false;
  if (rest.consume_front("v") && rest.consumeInteger(10, count))
    return false;
  if (!rest.consume_front("i") && !rest.consume_front("f") && !rest.consume_front("bf"))
    return false;
  if (rest.consumeInteger(10, bits) || bits % 8 != 0)
    return false;
  text = rest;
  return true;
}

static bool takes(Suffix suffix, StringRef text) {
  switch (suffix) {
  case Suffix::None:
    return text.empty();
  case Suffix::Type:
    return consumeType(text) && text.empty();
  case Suffix::Types:
    while (consumeType(text))
      if (text.empty())
        return true;
    return false;
  case Suffix::Shared:
    return text == ".p3";
  case Suffix::Rank:
    return text.size() == 3 && text[0] == '.' && text[1] >= '1' && text[1] <= '5' && text[2] == 'd';
  case Suffix::Shape:
    return text.starts_with(".m64n");
  }
  return false;
}

const Instruction *findInstruction(const char *name) {
  for (const Instruction *list :
       {kWarpInstructions, kEngineInstructions, kTensorInstructions, kScaledInstructions,
        kWaveInstructions, kProductInstructions, kCommonInstructions})
    for (; list->name; ++list)
      if (StringRef rest = name; rest.consume_front(list->name) && takes(list->suffix, rest))
        return list;
  return nullptr;
}

static double widen(const fltSemantics &format, unsigned width, uint64_t bits) {
  APFloat value(format, APInt(width, bits));
  bool inexact;
  value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &inexact);
  return value.convertToDouble();
}

/// What each number of a format of at most a byte is: products ask for millions.
static std::vector<double> widenAll(const fltSemantics &format, unsigned width) {
  std::vector<double> all(256);
  for (unsigned bits = 0; bits < 256; ++bits)
    all[bits] = widen(format, width, bits & ((1u << width) - 1));
  return all;
}

double widenHalf(uint16_t bits) {
  constexpr int bias = 15, fraction = 10, most = 31, wideBias = 1023, wideFraction = 52;
  unsigned exponent = bits >> fraction & most, rest = bits & ((1u << fraction) - 1);
  if (exponent == 0 || exponent == most)
    return widen(APFloat::IEEEhalf(), 16, bits);
  uint64_t wide = uint64_t(bits >> 15) << 63 |
                  uint64_t(exponent + wideBias - bias) << wideFraction |
                  uint64_t(rest) << (wideFraction - fraction);
  return llvm::bit_cast<double>(wide);
}

/// The upper half of a float.
double widenBFloat(uint16_t bits) { return llvm::bit_cast<float>(uint32_t(bits) << 16); }

#define KILN_WIDEN(Name, Format, Width)                                                            \
  double Name(uint8_t bits) {                                                                      \
    static const std::vector<double> all = widenAll(APFloat::Format(), Width);                     \
    return all[bits];                                                                              \
  }
KILN_WIDEN(widenE4M3, Float8E4M3FN, 8)
KILN_WIDEN(widenE5M2, Float8E5M2, 8)
KILN_WIDEN(widenE2M3, Float6E2M3FN, 6)
KILN_WIDEN(widenE3M2, Float6E3M2FN, 6)
KILN_WIDEN(widenE2M1, Float4E2M1FN, 4)
#undef KILN_WIDEN

static const fltSemantics &semanticsOf(ByteFloat format) {
  return format == ByteFloat::E4M3FN ? APFloat::Float8E4M3FN() : APFloat::Float8E5M2();
}

uint8_t narrowSaturating(ByteFloat format, float value) {
  const fltSemantics &semantics = semanticsOf(format);
  if (value != value)
    return 0x7f; // of either format, as it was recorded
  APFloat largest = APFloat::getLargest(semantics, /*Negative=*/value < 0), rounded(value);
  bool inexact;
  rounded.convert(semantics, APFloat::rmNearestTiesToEven, &inexact);
  if (!rounded.isFinite())
    rounded = largest;
  return uint8_t(rounded.bitcastToAPInt().getZExtValue());
}

uint16_t widenToHalf(ByteFloat format, uint8_t bits) {
  APFloat value(semanticsOf(format), APInt(8, bits));
  bool inexact;
  value.convert(APFloat::IEEEhalf(), APFloat::rmNearestTiesToEven, &inexact);
  return uint16_t(value.bitcastToAPInt().getZExtValue());
}

double widenTF32(uint32_t bits) {
  // The instruction reads the upper 19 bits.
  bits &= 0xffffe000;
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

} // namespace kiln::emulated
