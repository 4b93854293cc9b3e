// Exponentials, logarithms, powers and hyperbolic functions of f32 in f64 (Wide.h).
//
// e^x = 2^n·e^r with |r| <= ln 2 / 2. n is rounded by adding 1.5·2^52, whose low bits then hold it:
// powers of two are made of them without a conversion. log u = e·ln 2 + 2·atanh(s) with u = m·2^e,
// m in [√½, √2), s = (m - 1) / (m + 1). The coefficients are minimax fits, to 2^-33 of the result
// or better.
#include "Wide.h"

using namespace mlir;
using namespace kiln::cpu;

using Predicate = MathBuilder::Predicate;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();
static constexpr double kLn2 = 0.693147180559945309417;

namespace {
/// x = n·ln 2 + r.
struct Reduced {
  Value count; ///< bits whose low ones are n
  Value r;
};
} // namespace

/// For |x| below 700. NaN stays in r.
static Reduced reduce(MathBuilder &b, Value x) {
  Value magic = b.real(0x1.8p52);
  Value shifted = b.fma(x, b.real(1.44269504088896340736), magic);
  Value n = b.sub(shifted, magic);
  return {b.bits(shifted), b.fma(n, b.real(-kLn2), x)};
}

/// 2^(n + more).
static Value power(MathBuilder &b, Value count, int more) {
  return b.number(b.shiftLeft(b.addI(count, b.word(1023 + more)), 52u));
}

/// e^x for |x| below 700.
static Value exp(MathBuilder &b, Value x) {
  auto [count, r] = reduce(b, x);
  Value series =
      b.polynomial(r, {0.00019891268510107283, 0.0013933900050040087, 0.008333310674603188,
                       0.041666462666195954, 0.1666666668187505, 0.5000000013692557});
  Value less1 = b.fma(b.mul(r, r), series, r);
  return b.mul(b.add(less1, b.real(1)), power(b, count, 0));
}

/// log u for positive normal numbers.
static Value log(MathBuilder &b, Value u) {
  constexpr uint64_t one = 0x3ff0000000000000, half = 0x3fe6a09e667f3bcd; // of √½
  Value shifted = b.addI(b.bits(u), b.word(one - half));
  Value exponent = b.bitOr(b.shiftRight(shifted, 52), b.word(0x4330000000000000));
  Value e = b.sub(b.number(exponent), b.real(0x1p52 + 1023));
  Value mantissa = b.addI(b.bitAnd(shifted, b.word(0xfffffffffffff)), b.word(half));
  Value f = b.sub(b.number(mantissa), b.real(1));
  Value s = b.divide(f, b.add(f, b.real(2))), z = b.mul(s, s);
  Value series = b.polynomial(z, {0.0968218023833068, 0.11095650662323113, 0.1428587817403513,
                                  0.19999999393391876, 0.3333333333369234});
  Value part = b.fma(b.mul(s, z), series, s);
  return b.fma(e, b.real(kLn2), b.add(part, part));
}

namespace {
/// sinh r and cosh r, and sums and differences of 2^(n - 1) and 2^(-n - 1).
struct Hyperbolic {
  Value sinh, cosh, sum, difference;
};
} // namespace

static Hyperbolic hyperbolic(MathBuilder &b, Value x) {
  auto [count, r] = reduce(b, b.clamp(x, -130, 130)); // beyond, f32 has infinities
  Value z = b.mul(r, r);
  Value odd = b.polynomial(z, {0.00019890995404613936, 0.008333310920297885, 0.16666666681629483});
  Value even = b.polynomial(
      z, {2.486788722740636e-05, 0.0013888839083840802, 0.04166666678636819, 0.4999999999995505});
  Value up = power(b, count, -1);
  Value down = b.number(b.shiftLeft(b.subI(b.word(1023 - 1), count), 52u));
  return {b.fma(b.mul(r, z), odd, r), b.fma(z, even, b.real(1)), b.add(up, down), b.sub(up, down)};
}

Value wide::sinh(MathBuilder &b, Value x) {
  Hyperbolic h = hyperbolic(b, x);
  return b.withSign(b.fma(h.sinh, h.sum, b.mul(h.cosh, h.difference)), x);
}

Value wide::cosh(MathBuilder &b, Value x) {
  Hyperbolic h = hyperbolic(b, x);
  return b.fma(h.sinh, h.difference, b.mul(h.cosh, h.sum));
}

/// erfc(x) = e^(-x²)·Q(t) / (1 + 2x) with t = (x - 3) / (x + 3), for 0 <= x <= 10.6, beyond which
/// f32 has zero.
Value wide::erfc(MathBuilder &b, Value x) {
  Value size = b.clamp(b.magnitude(x), 0, 10.6);
  Value above = b.add(size, b.real(3)), slope = b.fma(size, b.real(2), b.real(1));
  Value inverse = b.divide(b.real(1), b.mul(above, slope));
  Value t = b.mul(b.mul(b.sub(size, b.real(3)), slope), inverse);
  Value series = b.polynomial(
      t, {3.2667765999218066e-05, 0.00012545565773473935, -0.00012766254688407775,
          -0.0007895841180896967, 0.0018950103263888581, 0.0025336191449287482,
          -0.023771225958596223, 0.06830732741805493, -0.11927363735806926, 0.12964520503618643,
          -0.047562294394795694, -0.13562110698795476, 1.2530080582688476});
  Value tail = b.mul(b.mul(series, b.mul(above, inverse)), exp(b, b.negate(b.mul(size, size))));
  Value negative = b.compare(Predicate::OLT, x, b.real(0));
  return b.select(negative, b.sub(b.real(2), tail), tail);
}

Value wide::log10(MathBuilder &b, Value x) {
  Value result = b.mul(log(b, x), b.real(0.43429448190325182765));
  Value infinity = b.real(kInfinity), zero = b.real(0);
  result = b.select(b.compare(Predicate::OLT, x, infinity), result, x);
  result = b.select(b.compare(Predicate::OEQ, x, zero), b.real(-kInfinity), result);
  Value nan = b.real(std::numeric_limits<double>::quiet_NaN());
  return b.select(b.compare(Predicate::OLT, x, zero), nan, result);
}

/// log(|x| + √(x² + 1)), or the series where that is near log 1.
Value wide::asinh(MathBuilder &b, Value x) {
  Value size = b.magnitude(x), square = b.mul(x, x);
  Value inner = b.add(size, b.root(b.add(square, b.real(1))));
  Value near = b.fma(b.mul(size, square), b.real(-1.0 / 6), size);
  Value isNear = b.compare(Predicate::OLT, size, b.real(0x1p-10));
  Value result = b.select(isNear, near, log(b, inner));
  // Infinities and NaN are their own.
  result = b.select(b.compare(Predicate::OLT, size, b.real(kInfinity)), result, size);
  return b.withSign(result, x);
}

Value wide::acosh(MathBuilder &b, Value x) {
  Value inner = b.add(x, b.root(b.fma(x, x, b.real(-1))));
  Value result = b.select(b.compare(Predicate::OLT, x, b.real(kInfinity)), log(b, inner), x);
  Value nan = b.real(std::numeric_limits<double>::quiet_NaN());
  return b.select(b.compare(Predicate::OLT, x, b.real(1)), nan, result);
}

Value wide::atanh(MathBuilder &b, Value x) {
  Value size = b.magnitude(x), one = b.real(1);
  Value quotient = b.divide(b.add(one, size), b.sub(one, size));
  Value near = b.fma(b.mul(size, b.mul(size, size)), b.real(1.0 / 3), size);
  Value isNear = b.compare(Predicate::OLT, size, b.real(0x1p-10));
  Value result = b.select(isNear, near, b.mul(log(b, quotient), b.real(0.5)));
  result = b.select(b.compare(Predicate::OEQ, size, one), b.real(kInfinity), result);
  Value nan = b.real(std::numeric_limits<double>::quiet_NaN());
  result = b.select(b.compare(Predicate::OLE, size, one), result, nan);
  return b.withSign(result, x);
}

/// As IEEE 754 has pow.
Value wide::pow(MathBuilder &b, Value x, Value y) {
  Value size = b.magnitude(x), zero = b.real(0), one = b.real(1), infinity = b.real(kInfinity);
  Value logarithm = log(b, size);
  logarithm = b.select(b.compare(Predicate::OLT, size, infinity), logarithm, size);
  logarithm = b.select(b.compare(Predicate::OEQ, size, zero), b.real(-kInfinity), logarithm);
  Value result = exp(b, b.clamp(b.mul(y, logarithm), -200, 200));

  // A negative base: the exponent must be whole, and an odd one keeps the sign.
  auto isWhole = [&](Value v) { return b.compare(Predicate::OEQ, b.truncate(v), v); };
  Value whole = isWhole(y), halfWhole = isWhole(b.mul(y, b.real(0.5)));
  Value signedResult = b.withSign(result, x);
  result = b.select(whole, b.select(halfWhole, result, signedResult), result);
  Value negative = b.bitAnd(b.compare(Predicate::OLT, x, zero),
                            b.compare(Predicate::OGT, x, b.real(-kInfinity)));
  Value nan = b.real(std::numeric_limits<double>::quiet_NaN());
  result = b.select(negative, b.select(whole, result, nan), result);

  Value isOne = b.bitOr(b.compare(Predicate::OEQ, y, zero), b.compare(Predicate::OEQ, x, one));
  Value endless = b.compare(Predicate::OEQ, b.magnitude(y), infinity);
  Value unit = b.bitAnd(endless, b.compare(Predicate::OEQ, size, one));
  return b.select(b.bitOr(isOne, unit), one, result);
}
