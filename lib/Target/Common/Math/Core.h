// What the device's mathematics is made of: pairs of doubles, and e^x and log x in pairs.
//
// A pair is the unevaluated sum of two doubles, the second at most half an ulp of the first: 106
// bits (Dekker 1971; products by fused multiply-add). A function computes its result as a pair, or
// nearly so, and rounds once at the end, so that most results are within 0.6 ulp.
//
// The code is C without a library, compiled to bitcode for each kind of device. All coefficients
// are Chebyshev fits of the function named beside them, made with 60 digits and rounded to double.
#ifndef KILN_LIB_TARGET_COMMON_MATH_CORE_H
#define KILN_LIB_TARGET_COMMON_MATH_CORE_H

#include <stdint.h>

#define INFINITY_64 __builtin_inf()
#define NAN_64 __builtin_nan("")

typedef struct {
  double high, low;
} Pair;

static inline double fma64(double a, double b, double c) { return __builtin_fma(a, b, c); }
static inline float fma32(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
static inline double magnitude(double x) { return __builtin_fabs(x); }
static inline double withSign(double x, double sign) { return __builtin_copysign(x, sign); }
static inline uint64_t toBits(double x) { return __builtin_bit_cast(uint64_t, x); }
static inline double fromBits(uint64_t bits) { return __builtin_bit_cast(double, bits); }
/// 2^n for n from -1022 to 1023.
static inline double powerOfTwo(int64_t n) { return fromBits((uint64_t)(n + 1023) << 52); }

#define POLYNOMIAL(name, ...)                                                                      \
  static inline double name(double x) {                                                            \
    const double coefficients[] = {__VA_ARGS__};                                                   \
    double sum = coefficients[0];                                                                  \
    _Pragma("unroll") for (unsigned i = 1; i < sizeof(coefficients) / sizeof(double); ++i) sum =   \
        fma64(sum, x, coefficients[i]);                                                            \
    return sum;                                                                                    \
  }

//===- Pairs --------------------------------------------------------------------------------===//

static inline Pair pair(double x) { return (Pair){x, 0}; }

/// a + b exactly, where |a| >= |b| or a is zero.
static inline Pair addOrdered(double a, double b) {
  double sum = a + b;
  return (Pair){sum, b - (sum - a)};
}

/// a + b exactly.
static inline Pair addExact(double a, double b) {
  double sum = a + b, part = sum - a;
  return (Pair){sum, (a - (sum - part)) + (b - part)};
}

static inline Pair multiplyExact(double a, double b) {
  double product = a * b;
  return (Pair){product, fma64(a, b, -product)};
}

static inline Pair negate(Pair a) { return (Pair){-a.high, -a.low}; }

static inline Pair add(Pair a, Pair b) {
  Pair sum = addExact(a.high, b.high);
  return addOrdered(sum.high, sum.low + (a.low + b.low));
}

static inline Pair multiply(Pair a, Pair b) {
  Pair product = multiplyExact(a.high, b.high);
  return addOrdered(product.high, product.low + fma64(a.high, b.low, a.low * b.high));
}

static inline Pair divide(Pair a, Pair b) {
  double quotient = a.high / b.high;
  double rest = fma64(-quotient, b.low, fma64(-quotient, b.high, a.high) + a.low);
  return addOrdered(quotient, rest / b.high);
}

static inline Pair squareRoot(Pair a) {
  if (a.high == 0)
    return pair(0);
  double root = __builtin_sqrt(a.high);
  return addOrdered(root, (fma64(-root, root, a.high) + a.low) / (2 * root));
}

static inline double round64(Pair a) { return a.high + a.low; }

//===- e^x ----------------------------------------------------------------------------------===//

// Of ln 2 the first 32 bits, so that products with exponents are exact, and the next 53.
static const double kLn2High = 0.6931471803691238, kLn2Low = 1.9082149292705877e-10;

// (e^r - 1 - r) / r², |r| <= ln 2 / 2
POLYNOMIAL(expSeries, 2.0914898727175524e-09, 2.5105513541847086e-08, 2.755727313289604e-07,
           2.7557254685728803e-06, 2.480158732595111e-05, 0.0001984126987538548,
           0.0013888888888883633, 0.008333333333325973, 0.04166666666666667, 0.1666666666666667,
           0.5)

/// e^r - 1 for |r| <= ln 2 / 2.
static inline Pair expLess1(Pair r) {
  double series = r.high * r.high * expSeries(r.high);
  return addOrdered(r.high, series + fma64(r.low, r.high, r.low));
}

/// x = n·ln 2 + r, for |x| < 2000; NaN has n = 0.
static inline Pair reduceExponent(Pair x, int *n) {
  double count = __builtin_roundeven(x.high * 1.4426950408889634);
  count = x.high == x.high ? count : 0;
  *n = (int)count;
  return addExact(fma64(-count, kLn2High, x.high), fma64(-count, kLn2Low, x.low));
}

/// 2^n · e^r, rounded once, also where it is subnormal or infinite.
static inline double scaleExp(Pair r, int n) {
  Pair less1 = expLess1(r);
  Pair sum = addOrdered(1, less1.high);
  double value = sum.high + (sum.low + less1.low);
  int half = n >> 1;
  return value * powerOfTwo(half) * powerOfTwo(n - half);
}

/// 2^scale · e^x for |x| < 2000.
static inline double expOfPair(Pair x, int scale) {
  int n;
  Pair r = reduceExponent(x, &n);
  return scaleExp(r, n + scale);
}

static inline double clamp(double x, double limit) {
  x = x > limit ? limit : x;
  return x < -limit ? -limit : x;
}

//===- log x --------------------------------------------------------------------------------===//

// (atanh(s) / s - 1 - z / 3) / z², z = s² <= (3 - √8)²
POLYNOMIAL(logSeries, 0.05381433711821606, 0.05228139187889103, 0.05883407651703041,
           0.06666648241986646, 0.07692307880906304, 0.09090909089826257, 0.11111111111114222,
           0.14285714285714282, 0.2)

/// log x = exponent · ln 2 + the result, for positive finite x: m in [√½, √2), s = f / (2 + f) with
/// f = m - 1, and log m = 2·atanh(s).
static inline Pair logOfPair(Pair x, double *exponent) {
  double scaled = 0;
  if (x.high < 0x1p-1022) {
    x.high *= 0x1p54;
    x.low *= 0x1p54;
    scaled = -54;
  }
  uint64_t bits = toBits(x.high);
  int64_t n = (int64_t)(bits - 0x3fe6a09e667f3bcd) >> 52;
  *exponent = (double)n + scaled;
  double high = fromBits(bits - ((uint64_t)n << 52));
  // What is beside a number so large is nothing to its logarithm.
  double low = n > 1000 ? 0 : x.low * powerOfTwo(-n);
  Pair f = addOrdered(high - 1, low);
  Pair below = addExact(2, f.high);
  below.low += f.low;
  Pair s = divide(f, below), z = multiply(s, s);
  Pair third = {0.3333333333333333, 1.850371707708594e-17};
  Pair series = multiply(z, third);
  series.low += z.high * z.high * logSeries(z.high);
  Pair rest = multiply(s, addOrdered(series.high, series.low));
  Pair sum = addOrdered(s.high, rest.high);
  return (Pair){2 * sum.high, 2 * (sum.low + (s.low + rest.low))};
}

/// The same with the exponent added.
static inline Pair logWhole(Pair x) {
  double exponent;
  Pair part = logOfPair(x, &exponent);
  Pair sum = addExact(exponent * kLn2High, part.high);
  return addOrdered(sum.high, sum.low + fma64(exponent, kLn2Low, part.low));
}

#endif // KILN_LIB_TARGET_COMMON_MATH_CORE_H
