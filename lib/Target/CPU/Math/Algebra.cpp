// The cube root and the remainder of f32 in f64 (Wide.h).
#include "Wide.h"
#include <cmath>

using namespace mlir;
using namespace kiln::cpu;

using Predicate = MathBuilder::Predicate;

/// By the inverse root y, from a third of the exponent: y·(1 - h)^(-1/3) with h = 1 - |x|·y³ as a
/// series, whose fifth power of h is below 2^-17, and once more to first order. No division.
Value wide::cbrt(MathBuilder &b, Value x) {
  Value size = b.magnitude(x);
  // On the upper halves alone: the product by 2^32 / 3 stays in 64 bits.
  Value third = b.shiftRight(b.mulI(b.shiftRight(b.bits(size), 32), b.word(0x55555556)), 32);
  Value y = b.number(b.shiftLeft(b.subI(b.word(0x553ee800), third), 32u));
  auto rest = [&] { return b.fma(b.negate(size), b.mul(y, b.mul(y, y)), b.real(1)); };
  Value h = rest();
  Value series = b.polynomial(h, {35.0 / 243, 14.0 / 81, 2.0 / 9, 1.0 / 3});
  y = b.fma(b.mul(y, h), series, y);
  y = b.fma(y, b.mul(rest(), b.real(1.0 / 3)), y);
  Value root = b.mul(x, b.mul(y, y));
  // Zeros, infinities and NaN are their own.
  Value infinity = b.real(std::numeric_limits<double>::infinity());
  Value usual = b.bitAnd(b.compare(Predicate::OGT, size, b.real(0)),
                         b.compare(Predicate::OLT, size, infinity));
  return b.select(usual, root, x);
}

/// r - y·⌊r / y⌋ for 0 <= r < 2^52·y, exactly: the quotient, rounded, is the whole one or one more,
/// and the difference needs no more bits than r and y have.
static Value reduceOnce(MathBuilder &b, Value r, Value y) {
  Value count = b.truncate(b.divide(r, y));
  Value rest = b.fma(b.negate(count), y, r);
  return b.select(b.compare(Predicate::OLT, rest, b.real(0)), b.add(rest, y), rest);
}

/// Larger quotients, of up to 2^277, lose 2^50 at a time, behind a branch.
Value wide::remainder(MathBuilder &b, Value x, Value y) {
  Value infinity = b.real(std::numeric_limits<double>::infinity());
  Value r = b.magnitude(x), by = b.clamp(b.magnitude(y), 0, 0x1p200);
  Value large = b.bitAnd(b.compare(Predicate::OGE, r, b.mul(by, b.real(0x1p50))),
                         b.compare(Predicate::OLT, r, infinity));
  r = b.unlessRare(large, r, [&] {
         Value rest = r;
         for (int scale = 250; scale > 0; scale -= 50)
           rest = reduceOnce(b, rest, b.mul(by, b.real(std::ldexp(1.0, scale))));
         return SmallVector<Value>{rest};
       }).front();
  return b.withSign(reduceOnce(b, r, by), x);
}
