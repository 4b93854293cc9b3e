// Finding instructions, and the number formats that matrices are made of.
#include "Instructions.h"
#include "Block.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/StringMap.h"

using namespace llvm;

namespace kiln::emulated {

/// What both vendors' code may hold.
static const Instruction kCommonInstructions[] = {
    {"trap", false, [](const Lanes &) { Block::current()->fail("a trap: an assertion failed"); }},
    {nullptr, false, nullptr},
};

const Instruction *findInstruction(const char *name) {
  // Names are the program's own constants; each is looked for once.
  static thread_local StringMap<const Instruction *> known;
  auto [it, isNew] = known.try_emplace(name, nullptr);
  if (!isNew)
    return it->second;
  size_t longest = 0;
  for (const Instruction *list :
       {kWarpInstructions, kEngineInstructions, kTensorInstructions, kScaledInstructions,
        kWaveInstructions, kProductInstructions, kCommonInstructions})
    for (; list->name; ++list) {
      StringRef text = list->name, rest = name;
      bool matches = rest.consume_front(text) && (rest.empty() || rest.front() == '.');
      if (matches && text.size() > longest) {
        longest = text.size();
        it->second = list;
      }
    }
  return it->second;
}

static double widen(const fltSemantics &format, unsigned width, uint64_t bits) {
  APFloat value(format, APInt(width, bits));
  bool inexact;
  value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &inexact);
  return value.convertToDouble();
}

double widenHalf(uint16_t bits) { return widen(APFloat::IEEEhalf(), 16, bits); }
double widenBFloat(uint16_t bits) { return widen(APFloat::BFloat(), 16, bits); }

double widenE4M3(uint8_t bits) { return widen(APFloat::Float8E4M3FN(), 8, bits); }
double widenE5M2(uint8_t bits) { return widen(APFloat::Float8E5M2(), 8, bits); }
double widenE2M3(uint8_t bits) { return widen(APFloat::Float6E2M3FN(), 6, bits); }
double widenE3M2(uint8_t bits) { return widen(APFloat::Float6E3M2FN(), 6, bits); }
double widenE2M1(uint8_t bits) { return widen(APFloat::Float4E2M1FN(), 4, bits); }

static const fltSemantics &semanticsOf(ByteFloat format) {
  return format == ByteFloat::E4M3FN ? APFloat::Float8E4M3FN() : APFloat::Float8E5M2();
}

uint8_t narrowSaturating(ByteFloat format, float value) {
  const fltSemantics &semantics = semanticsOf(format);
  if (value != value)
    return format == ByteFloat::E4M3FN ? 0x7f : 0x7e;
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
