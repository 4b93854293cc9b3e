// Sine, cosine, tangent and their inverses of f32 in f64 (Wide.h).
//
// x = quadrant·π/2 + r with |r| <= π/4. Up to 2^30 two parts of π/2 are subtracted by fused
// multiply-adds. Beyond, x·2/π modulo 4 is computed from those 96 bits of 2/π that matter, in
// integers (Payne and Hanek), behind a branch that is taken where a lane is so large. The
// coefficients are minimax fits, to 2^-32 of the result or better.
#include "Wide.h"

using namespace mlir;
using namespace kiln::cpu;

using Predicate = MathBuilder::Predicate;

namespace {
struct Angle {
  Value r;
  Value quadrant; ///< modulo 4 in its low bits
};
} // namespace

/// For |x| = m·2^e with a whole m below 2^24 and e from 7 to 104.
static Angle reduceLarge(MathBuilder &b, Value x) {
  // The first 224 bits of 2/π.
  constexpr uint32_t digits[] = {0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0,
                                 0xdb629599, 0x3c439041, 0xfe5163ab};
  Value size = b.bits(b.magnitude(x));
  // 23 of its 52 bits are an f32's, the others zero; the window begins with the bit of weight
  // 2^(1 - e).
  Value mantissa = b.bitOr(b.bitAnd(b.shiftRight(size, 29), b.word(0x7fffff)), b.word(0x800000));
  Value start = b.subI(b.shiftRight(size, 52), b.word(1023 + 23 + 2));
  Value first = b.shiftRight(start, 5), shift = b.bitAnd(start, b.word(31));
  SmallVector<Value> isAt;
  for (uint64_t at = 0; at < 3; ++at)
    isAt.push_back(b.equal(first, b.word(at)));
  auto digit = [&](unsigned offset) {
    Value found = b.word(digits[3 + offset]);
    for (unsigned at = 0; at < 3; ++at)
      found = b.select(isAt[at], b.word(digits[at + offset]), found);
    return found;
  };
  SmallVector<Value> found;
  for (unsigned offset = 0; offset < 4; ++offset)
    found.push_back(digit(offset));
  auto window = [&](unsigned offset) {
    Value both = b.bitOr(b.shiftLeft(found[offset], 32u), found[offset + 1]);
    return b.shiftRight(b.shiftLeft(both, shift), 32);
  };
  // The top 64 of the product's 96 bits: two of the quadrant, then the fraction.
  Value product = b.shiftLeft(b.mulI(mantissa, window(0)), 32u);
  product = b.addI(product, b.mulI(mantissa, window(1)));
  product = b.addI(product, b.shiftRight(b.mulI(mantissa, window(2)), 32));
  Value fraction = b.shiftLeft(product, 2u);
  Value quadrant = b.addI(b.shiftRight(product, 62), b.shiftRight(fraction, 63));
  Value r =
      b.mul(b.cast<arith::SIToFPOp>(b.floats, fraction), b.real(0x1p-64 * 1.5707963267948966));
  Value negative = b.compare(Predicate::OLT, x, b.real(0));
  return {b.select(negative, b.negate(r), r),
          b.select(negative, b.subI(b.word(0), quadrant), quadrant)};
}

/// What is no number or infinite has a NaN as r.
static Angle reduceAngle(MathBuilder &b, Value x) {
  Value magic = b.real(0x1.8p52);
  Value shifted = b.fma(x, b.real(0.63661977236758134308), magic);
  Value n = b.sub(shifted, magic);
  Value r = b.fma(n, b.real(-1.5707963267948966), x);
  r = b.fma(n, b.real(-6.123233995736766e-17), r);
  Value quadrant = b.bits(shifted), size = b.magnitude(x);
  Value large =
      b.bitAnd(b.compare(Predicate::OGT, size, b.real(0x1p30)),
               b.compare(Predicate::OLT, size, b.real(std::numeric_limits<double>::infinity())));
  SmallVector<Value> chosen = b.unlessRare(large, {r, quadrant}, [&] {
    Angle other = reduceLarge(b, x);
    return SmallVector<Value>{b.select(large, other.r, r),
                              b.select(large, other.quadrant, quadrant)};
  });
  return {chosen[0], chosen[1]};
}

static Value sinOf(MathBuilder &b, Value r) {
  Value z = b.mul(r, r);
  Value series = b.polynomial(z, {2.7249995403034133e-06, -0.00019840087388895686,
                                  0.008333331876244056, -0.16666666663860624});
  return b.mul(r, b.fma(z, series, b.real(1))); // of -0 it is -0
}

static Value cosOf(MathBuilder &b, Value r) {
  Value z = b.mul(r, r);
  Value series = b.polynomial(
      z, {2.446387987596847e-05, -0.0013887590013478741, 0.04166665066460592, -0.4999999996918901});
  return b.fma(z, series, b.real(1));
}

/// Whether the quadrant is odd.
static Value isOdd(MathBuilder &b, Value quadrant) {
  return b.equal(b.bitAnd(quadrant, b.word(1)), b.word(1));
}

/// The number negated where the quadrant's second bit is set.
static Value signedBy(MathBuilder &b, Value number, Value quadrant) {
  Value sign = b.shiftLeft(b.bitAnd(quadrant, b.word(2)), 62u);
  return b.number(b.bitXor(b.bits(number), sign));
}

Value wide::sin(MathBuilder &b, Value x) {
  auto [r, quadrant] = reduceAngle(b, x);
  Value size = b.select(isOdd(b, quadrant), cosOf(b, r), sinOf(b, r));
  return signedBy(b, size, quadrant);
}

Value wide::cos(MathBuilder &b, Value x) {
  auto [r, quadrant] = reduceAngle(b, x);
  Value size = b.select(isOdd(b, quadrant), sinOf(b, r), cosOf(b, r));
  return signedBy(b, size, b.addI(quadrant, b.word(1)));
}

Value wide::tan(MathBuilder &b, Value x) {
  auto [r, quadrant] = reduceAngle(b, x);
  Value sine = sinOf(b, r), cosine = cosOf(b, r), odd = isOdd(b, quadrant);
  Value over = b.select(odd, b.negate(cosine), sine);
  return b.divide(over, b.select(odd, sine, cosine));
}

/// atan(over / under) for numbers >= 0 that are not both zero: at most 1 by the swap, and at most
/// √2 - 1 by π/4, with one division.
static Value angle(MathBuilder &b, Value over, Value under) {
  Value steep = b.compare(Predicate::OGT, over, under);
  Value small = b.select(steep, under, over), large = b.select(steep, over, under);
  Value wide = b.compare(Predicate::OGT, small, b.mul(large, b.real(0.41421356237309503)));
  Value top = b.select(wide, b.sub(small, large), small);
  Value bottom = b.select(wide, b.add(small, large), large);
  Value t = b.divide(top, bottom), z = b.mul(t, t);
  Value series = b.polynomial(z, {-0.040532360874543275, 0.07140486861760185, -0.09029981873551528,
                                  0.111075841850794, -0.14285616104529492, 0.19999998970388297,
                                  -0.3333333333156822});
  Value base = b.select(wide, b.real(0.78539816339744830962), b.real(0));
  Value part = b.add(base, b.fma(b.mul(t, z), series, t));
  return b.select(steep, b.sub(b.real(1.57079632679489661923), part), part);
}

Value wide::atan(MathBuilder &b, Value x) {
  // Of infinity a number that f32 cannot tell from it; NaN stays.
  Value size = b.clamp(b.magnitude(x), 0, 0x1p200);
  return b.withSign(angle(b, size, b.real(1)), x);
}

Value wide::atan2(MathBuilder &b, Value y, Value x) {
  // Of infinity a number beside which every other one of f32 is nothing.
  Value down = b.clamp(b.magnitude(y), 0, 0x1p1000), right = b.clamp(b.magnitude(x), 0, 0x1p1000);
  Value both = b.bitAnd(b.compare(Predicate::OEQ, down, b.real(0)),
                        b.compare(Predicate::OEQ, right, b.real(0)));
  Value result = angle(b, down, b.select(both, b.real(1), right));
  Value left = b.make<arith::CmpIOp>(arith::CmpIPredicate::slt, b.bits(x), b.word(0));
  result = b.select(left, b.sub(b.real(3.14159265358979323846), result), result);
  return b.withSign(result, y);
}
