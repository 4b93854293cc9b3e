// Inverse trigonometric functions and the cube root.
#include "Core.h"

static const Pair kPi = {3.141592653589793, 1.2246467991473532e-16};
static const Pair kHalfPi = {1.5707963267948966, 6.123233995736766e-17};
static const Pair kQuarterPi = {0.7853981633974483, 3.061616997868383e-17};

// (atan(t) / t - 1) / z, z = t² <= (√2 - 1)²
POLYNOMIAL(atanSeries, 0.008942968837984193, -0.021847410464927632, 0.03105772233254286,
           -0.03624499134352738, 0.03986755224947946, -0.04346197859659187, 0.04761756631467761,
           -0.05263147942167091, 0.05882352452593266, -0.0666666664949765, 0.0769230769188992,
           -0.09090909090902406, 0.11111111111111047, -0.14285714285714285, 0.2,
           -0.3333333333333333)

/// atan(y / x) for finite y, x >= 0 that are not both zero, with neither overflow nor underflow in
/// their sums and quotients: swapped to at most 1, then to at most √2 - 1 by π/4.
static inline Pair angle(Pair y, Pair x) {
  int isSteep = y.high > x.high;
  Pair over = isSteep ? x : y, under = isSteep ? y : x;
  Pair base = pair(0);
  if (over.high > 0.41421356237309503 * under.high) {
    Pair difference = add(over, negate(under));
    under = add(over, under);
    over = difference;
    base = kQuarterPi;
  }
  Pair t = divide(over, under);
  double z = t.high * t.high;
  double rest = fma64(t.high * z, atanSeries(z), fma64(-z, t.low, t.low));
  Pair sum = addExact(base.high, t.high);
  Pair result = addOrdered(sum.high, sum.low + (rest + base.low));
  return isSteep ? add(kHalfPi, negate(result)) : result;
}

double kiln_math_atan(double x) {
  double size = magnitude(x);
  if (!(size >= 0x1p-28))
    return x;
  if (size > 0x1p60)
    return withSign(kHalfPi.high, x);
  return withSign(round64(angle(pair(size), pair(1))), x);
}

double kiln_math_atan2(double y, double x) {
  if (x != x || y != y)
    return NAN_64;
  double down = magnitude(y), right = magnitude(x);
  int isLeft = (int)(toBits(x) >> 63);
  if (down == INFINITY_64 && right == INFINITY_64)
    return withSign(isLeft ? 3 * kQuarterPi.high : kQuarterPi.high, y);
  if (down == 0 || right == INFINITY_64)
    return withSign(isLeft ? kPi.high : 0, y);
  if (right == 0 || down == INFINITY_64)
    return withSign(kHalfPi.high, y);
  double larger = down > right ? down : right, smaller = down > right ? right : down;
  if (smaller < larger * 0x1p-64)
    return down > right ? withSign(kHalfPi.high, y) : isLeft ? withSign(kPi.high, y) : y / x;
  double scale = larger > 0x1p500 ? 0x1p-600 : larger < 0x1p-500 ? 0x1p600 : 1;
  Pair result = angle(pair(down * scale), pair(right * scale));
  if (isLeft)
    result = add(kPi, negate(result));
  return withSign(round64(result), y);
}

/// The other leg of a right triangle with hypotenuse 1.
static inline Pair otherLeg(double x) {
  Pair square = multiplyExact(x, x);
  return squareRoot(add(pair(1), negate(square)));
}

double kiln_math_asin(double x) {
  double size = magnitude(x);
  if (size < 0x1p-28)
    return x;
  if (!(size <= 1))
    return NAN_64;
  return withSign(round64(angle(pair(size), otherLeg(size))), x);
}

double kiln_math_acos(double x) {
  double size = magnitude(x);
  if (!(size <= 1))
    return NAN_64;
  Pair result = angle(otherLeg(size), pair(size));
  return round64(x < 0 ? add(kPi, negate(result)) : result);
}

/// A third of the exponent, two steps of Halley's, and one of Newton's with its residue in a pair.
double kiln_math_cbrt(double x) {
  double size = magnitude(x), scale = 1;
  if (!(size > 0 && size < INFINITY_64))
    return x;
  if (size < 0x1p-900) { // below it the parts of the cube would be subnormal
    size *= 0x1p162;
    scale = 0x1p-54;
  } else if (size > 0x1p1000) {
    size *= 0x1p-54;
    scale = 0x1p18;
  }
  double root = fromBits(toBits(size) / 3 + 0x2a9f7625bd0e4f5b);
  for (int i = 0; i < 2; ++i) {
    double cube = root * root * root;
    root *= (cube + 2 * size) / (2 * cube + size);
  }
  Pair square = multiplyExact(root, root), cube = multiplyExact(square.high, root);
  double residue = (size - cube.high) - fma64(square.low, root, cube.low);
  root += residue / (3 * square.high);
  return withSign(root * scale, x);
}
