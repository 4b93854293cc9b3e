// Exponentials, logarithms, powers and hyperbolic functions.
#include "Core.h"

double kiln_math_exp(double x) { return expOfPair(pair(clamp(x, 760)), 0); }

double kiln_math_exp2(double x) {
  x = clamp(x, 1100);
  double count = __builtin_roundeven(x);
  count = x == x ? count : 0;
  double fraction = x - count;
  Pair r = multiplyExact(fraction, 0.6931471805599453);
  r.low = fma64(fraction, 2.3190468138462996e-17, r.low);
  return scaleExp(r, (int)count);
}

double kiln_math_expm1(double x) {
  if (magnitude(x) < 0x1p-54)
    return x;
  if (x > 709)
    return kiln_math_exp(x);
  int n;
  Pair less1 = expLess1(reduceExponent(pair(x < -60 ? -60 : x), &n));
  // 2^n·(e^r - 1) + (2^n - 1)
  double scale = powerOfTwo(n);
  Pair whole = addExact(scale, -1), sum = addExact(scale * less1.high, whole.high);
  return sum.high + (sum.low + fma64(scale, less1.low, whole.low));
}

/// What logarithms of no positive finite number are; false if x is one.
static inline int isLogSpecial(double x, double *result) {
  if (x > 0 && x < INFINITY_64)
    return 0;
  *result = x == 0 ? -INFINITY_64 : x > 0 ? x : NAN_64;
  return 1;
}

double kiln_math_log(double x) {
  double result;
  return isLogSpecial(x, &result) ? result : round64(logWhole(pair(x)));
}

double kiln_math_log2(double x) {
  double result, exponent;
  if (isLogSpecial(x, &result))
    return result;
  Pair part = logOfPair(pair(x), &exponent);
  part = multiply(part, (Pair){1.4426950408889634, 2.0355273740931033e-17});
  Pair sum = addExact(exponent, part.high);
  return sum.high + (sum.low + part.low);
}

double kiln_math_log10(double x) {
  double result;
  if (isLogSpecial(x, &result))
    return result;
  return round64(multiply(logWhole(pair(x)), (Pair){0.4342944819032518, 1.098319650216765e-17}));
}

double kiln_math_log1p(double x) {
  double result;
  if (magnitude(x) < 0x1p-54)
    return x;
  if (isLogSpecial(x == -1 ? 0 : 1 + x, &result))
    return result;
  return round64(logWhole(addExact(1, x)));
}

/// Whether y is an integer (1), and an odd one (2).
static inline int integerKind(double y) {
  if (magnitude(y) >= 0x1p53)
    return 1;
  if (__builtin_trunc(y) != y)
    return 0;
  return ((int64_t)y & 1) ? 2 : 1;
}

/// x^y for finite x > 0 other than 1 and any y but zero and NaN.
static inline double powPositive(double x, double y) {
  Pair log = logWhole(pair(x));
  double high = y * log.high;
  if (magnitude(high) > 800)
    return high > 0 ? INFINITY_64 : 0;
  return expOfPair((Pair){high, fma64(y, log.low, fma64(y, log.high, -high))}, 0);
}

/// As IEEE 754 has pow.
double kiln_math_pow(double x, double y) {
  if (y == 0 || x == 1)
    return 1;
  if (x != x || y != y)
    return NAN_64;
  double size = magnitude(x);
  int kind = integerKind(y);
  double result;
  if (size == 1)
    result = 1;
  else if (size == 0 || size == INFINITY_64)
    result = (size == 0) == (y < 0) ? INFINITY_64 : 0;
  else
    result = powPositive(size, y);
  if (x < 0 && size != INFINITY_64 && kind == 0)
    return NAN_64;
  return kind == 2 ? withSign(result, x) : result;
}

double kiln_math_sinh(double x) {
  double size = magnitude(x);
  if (size < 0x1p-28)
    return x;
  if (size > 22)
    return withSign(expOfPair(pair(clamp(size, 760)), -1), x) + (x - x == 0 ? 0 : x);
  double less1 = kiln_math_expm1(size);
  return withSign(0.5 * (less1 + less1 / (less1 + 1)), x);
}

double kiln_math_cosh(double x) {
  double size = magnitude(x);
  if (size > 22)
    return expOfPair(pair(clamp(size, 760)), -1);
  double power = kiln_math_exp(size);
  return 0.5 * power + 0.5 / power;
}

double kiln_math_tanh(double x) {
  double size = magnitude(x);
  if (size < 0x1p-28)
    return x;
  if (size > 22)
    return withSign(1, x);
  double less1 = kiln_math_expm1(2 * size);
  return withSign(less1 / (less1 + 2), x);
}

static const Pair kLn2 = {0.6931471805599453, 2.3190468138462996e-17};

double kiln_math_asinh(double x) {
  double size = magnitude(x);
  if (!(size >= 0x1p-28 && size < INFINITY_64))
    return x;
  if (size > 0x1p60)
    return withSign(round64(add(logWhole(pair(size)), kLn2)), x);
  Pair root = squareRoot(add(multiplyExact(size, size), pair(1)));
  return withSign(round64(logWhole(add(root, pair(size)))), x);
}

double kiln_math_acosh(double x) {
  if (!(x >= 1))
    return NAN_64;
  if (x > 0x1p60)
    return x == INFINITY_64 ? x : round64(add(logWhole(pair(x)), kLn2));
  Pair root = squareRoot(add(multiplyExact(x, x), pair(-1)));
  return round64(logWhole(add(root, pair(x))));
}

double kiln_math_atanh(double x) {
  double size = magnitude(x);
  if (size < 0x1p-28)
    return x;
  if (!(size < 1))
    return size == 1 ? withSign(INFINITY_64, x) : NAN_64;
  Pair log = logWhole(divide(addExact(1, size), addExact(1, -size)));
  return withSign(0.5 * round64(log), x);
}
