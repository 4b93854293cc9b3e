// Sums.h: the laws, and one sum by each of them.
#include "Sums.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/bit.h"
#include <algorithm>
#include <cmath>
#include <cstdlib>

using namespace kiln::emulated;

/// What a zero's exponent counts as.
static constexpr int kLeastExponent = -126;

namespace {
/// A finite double that is no subnormal one, by its bits.
struct Double {
  static constexpr int kFraction = 52, kBias = 1023;
  explicit Double(double value) : bits(llvm::bit_cast<uint64_t>(value)) {}
  bool isNegative() const { return bits >> 63; }
  int getExponent() const { return int(bits >> kFraction & 0x7ff) - kBias; }
  /// With its first bit.
  uint64_t getSignificand() const {
    return (bits & ((uint64_t(1) << kFraction) - 1)) | uint64_t(1) << kFraction;
  }
  uint64_t bits;
};
} // namespace

/// 2^exponent, of a double's range.
static double getPower(int exponent) {
  return llvm::bit_cast<double>(uint64_t(exponent + Double::kBias) << Double::kFraction);
}

Factor::Factor(double value, FloatForm form) : value(value), exponent(kLeastExponent) {
  isFinite = std::isfinite(value);
  if (!isFinite || value == 0)
    return;
  Double parts(value);
  exponent = std::max(parts.getExponent(), form.least);
  int left = Double::kFraction - int(form.fraction) + exponent - parts.getExponent();
  significand = left < 64 ? int64_t(parts.getSignificand() >> left) : 0;
  if (parts.isNegative())
    significand = -significand;
}

SumLaw kiln::emulated::getWarpLaw(const char *chip, unsigned elementBytes, unsigned depth) {
  unsigned number = 0;
  llvm::StringRef name = chip;
  name.consume_front("sm_");
  name.consumeInteger(10, number);
  if (number < 90)
    return elementBytes == 1 ? SumLaw{13, 13, depth / 2} : SumLaw{24, 23, depth / 2};
  SumLaw law{25};
  law.inWords = elementBytes == 1 && number < 120;
  return law;
}

SumLaw kiln::emulated::getGroupLaw(unsigned elementBytes) {
  return elementBytes == 1 ? SumLaw{13, 13} : SumLaw{25};
}

/// Times a power of two, towards zero.
static int64_t shift(int64_t value, int by) {
  if (by >= 0)
    return value << by;
  uint64_t size = by <= -64 ? 0 : uint64_t(std::llabs(value)) >> -by;
  return value < 0 ? -int64_t(size) : int64_t(size);
}

/// Towards zero, to so many bits behind its first.
static float cut(double value, unsigned kept) {
  if (value == 0)
    return 0;
  Double parts(value);
  int below = std::max(kLeastExponent - parts.getExponent(), 0);
  int left = Double::kFraction - int(kept) + below;
  uint64_t dropped = left <= Double::kFraction ? (uint64_t(1) << left) - 1 : ~uint64_t(0) >> 1;
  return float(llvm::bit_cast<double>(parts.bits & ~dropped));
}

/// The one NaN of matrix units.
static float nan() { return llvm::bit_cast<float>(0x7fffffffu); }

static float addAtOnce(const Factor *a, const Factor *b, unsigned count, unsigned stride,
                       unsigned fraction, float before, const SumLaw &law) {
  Factor addend(before, kSingle);
  int most = addend.exponent;
  bool isFinite = addend.isFinite;
  auto forEach = [&](auto visit) {
    for (unsigned i = 0; i < count; i += stride)
      for (unsigned j = i; j < i + std::min(stride, 2u); ++j)
        visit(a[j], b[j]);
  };
  forEach([&](const Factor &x, const Factor &y) {
    most = std::max(most, x.exponent + y.exponent);
    isFinite &= x.isFinite && y.isFinite;
  });
  if (!isFinite) {
    double sum = before;
    forEach([&](const Factor &x, const Factor &y) { sum += x.value * y.value; });
    return std::isnan(sum) ? nan() : float(sum);
  }
  int64_t sum = shift(addend.significand, int(law.bits) - 23 + addend.exponent - most);
  forEach([&](const Factor &x, const Factor &y) {
    sum += shift(x.significand * y.significand,
                 int(law.bits) - int(fraction) + x.exponent + y.exponent - most);
  });
  return cut(double(sum) * getPower(most - int(law.bits)), law.kept);
}

float kiln::emulated::addProducts(const Factor *a, const Factor *b, unsigned count,
                                  unsigned fraction, float before, const SumLaw &law) {
  if (law.inWords) {
    float lower = addAtOnce(a, b, count, 4, fraction, 0, law);
    float sum = addAtOnce(a + 2, b + 2, count, 4, fraction, lower, law) + before;
    return std::isnan(sum) ? nan() : sum;
  }
  unsigned step = law.step ? law.step : count;
  for (unsigned first = 0; first < count; first += step)
    before = addAtOnce(a + first, b + first, step, 1, fraction, before, law);
  return before;
}
