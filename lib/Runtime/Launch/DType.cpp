// The table of element types, and conversion of scalars to them.
#include "kiln/Runtime/Launch/DType.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/bit.h"
#include <cmath>
#include <cstring>
#include <iterator>

using namespace kiln;
using namespace llvm;

using Kind = DTypeInfo::Kind;

const DTypeInfo kiln::dtypeTable[] = {
    {"", "", 0, Kind::None},
    {"f64", "f64", 64, Kind::Float},
    {"f32", "f32", 32, Kind::Float},
    {"f16", "f16", 16, Kind::Float},
    {"bf16", "bf16", 16, Kind::Float},
    {"f8e4m3fn", "f8E4M3FN", 8, Kind::Float},
    {"f8e5m2", "f8E5M2", 8, Kind::Float},
    {"f8e8m0fnu", "f8E8M0FNU", 8, Kind::Float},
    {"f6e2m3fn", "f6E2M3FN", 6, Kind::Float},
    {"f6e3m2fn", "f6E3M2FN", 6, Kind::Float},
    {"f4e2m1fn", "f4E2M1FN", 4, Kind::Float},
    {"i64", "i64", 64, Kind::Signed},
    {"i32", "i32", 32, Kind::Signed},
    {"i16", "i16", 16, Kind::Signed},
    {"i8", "i8", 8, Kind::Signed},
    {"i4", "i4", 4, Kind::Signed},
    {"i2", "i2", 2, Kind::Signed},
    {"u64", "i64", 64, Kind::Unsigned},
    {"u32", "i32", 32, Kind::Unsigned},
    {"u16", "i16", 16, Kind::Unsigned},
    {"u8", "i8", 8, Kind::Unsigned},
    {"u4", "i4", 4, Kind::Unsigned},
    {"u2", "i2", 2, Kind::Unsigned},
    {"bool", "i8", 8, Kind::Bool},
};

KilnDType kiln::dtypeOfIR(StringRef name) {
  if (name == "i1")
    return KILN_BOOL;
  if (name == "index")
    return KILN_I64;
  for (size_t i = 1; i < std::size(dtypeTable); ++i)
    if (name == dtypeTable[i].irName)
      return KilnDType(i);
  return KILN_NONE;
}

/// A whole number for a format of less than 52 bits of precision: one that a double cannot hold
/// becomes one that is no tie, so that the rounding to come is as if it were the only one.
static double roundedToOdd(int64_t value) {
  uint64_t magnitude = value < 0 ? -uint64_t(value) : value;
  if (magnitude >> 53)
    magnitude = magnitude >> 11 << 11 | uint64_t((magnitude & 2047) != 0) << 11;
  return value < 0 ? -double(magnitude) : double(magnitude);
}

bool kiln::encodeInteger(int64_t value, int32_t dtype, uint64_t &bits) {
  const DTypeInfo &info = dtypeInfo(dtype);
  switch (info.kind) {
  case Kind::Float:
    return encodeReal(dtype == KILN_F64 ? double(value) : roundedToOdd(value), dtype, bits);
  case Kind::Bool:
    bits = value;
    return value == 0 || value == 1;
  case Kind::Signed:
  case Kind::Unsigned:
    return encodeWhole(value, info, bits);
  case Kind::None:
    break;
  }
  return false;
}

static const fltSemantics *semantics(int32_t dtype) {
  switch (dtype) {
  case KILN_F16:
    return &APFloat::IEEEhalf();
  case KILN_BF16:
    return &APFloat::BFloat();
  case KILN_F8E4M3FN:
    return &APFloat::Float8E4M3FN();
  case KILN_F8E5M2:
    return &APFloat::Float8E5M2();
  case KILN_F8E8M0FNU:
    return &APFloat::Float8E8M0FNU();
  case KILN_F6E2M3FN:
    return &APFloat::Float6E2M3FN();
  case KILN_F6E3M2FN:
    return &APFloat::Float6E3M2FN();
  case KILN_F4E2M1FN:
    return &APFloat::Float4E2M1FN();
  default:
    return nullptr;
  }
}

/// Whether a format has a number for a value, or one that it is rounded to. One without infinities
/// takes what rounds to its largest, an odd multiple of its step, and nothing beyond.
static bool holds(const fltSemantics &format, double value) {
  if (std::isnan(value))
    return APFloat::semanticsHasNaN(format);
  if (std::signbit(value) && !APFloat::semanticsHasSignedRepr(format))
    return false;
  if (value == 0)
    return APFloat::semanticsHasZero(format);
  if (std::isinf(value))
    return APFloat::semanticsHasInf(format);
  if (APFloat::semanticsHasInf(format) || APFloat::semanticsHasNaN(format))
    return true;
  APFloat largest = APFloat::getLargest(format), below = largest;
  below.next(/*nextDown=*/true);
  auto wide = [](const APFloat &number) { return number.convertToDouble(); };
  return std::abs(value) - wide(largest) < (wide(largest) - wide(below)) / 2;
}

bool kiln::encodeReal(double value, int32_t dtype, uint64_t &bits) {
  if (dtype == KILN_F32) {
    float narrow = float(value);
    bits = llvm::bit_cast<uint32_t>(narrow);
    return std::isinf(value) || !std::isinf(narrow);
  }
  if (dtype == KILN_F64) {
    bits = llvm::bit_cast<uint64_t>(value);
    return true;
  }
  const fltSemantics *format = semantics(dtype);
  if (!format || !holds(*format, value))
    return false;
  APFloat number(value);
  bool losesInfo;
  APFloat::opStatus status = number.convert(*format, APFloat::rmNearestTiesToEven, &losesInfo);
  bits = number.bitcastToAPInt().getZExtValue();
  return !(status & (APFloat::opOverflow | APFloat::opInvalidOp));
}
