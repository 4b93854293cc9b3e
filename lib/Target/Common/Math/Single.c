// Functions of f32 that are computed in f64 and rounded: pow, with series as short as f32 allows,
// and those whose speed matters less than their being right.
#include "Core.h"

#define ROUNDED(name)                                                                              \
  double kiln_math_##name(double x);                                                               \
  float kiln_math_##name##f(float x) { return (float)kiln_math_##name(x); }

ROUNDED(acos)
ROUNDED(acosh)
ROUNDED(asin)
ROUNDED(asinh)
ROUNDED(atan)
ROUNDED(atanh)
ROUNDED(cbrt)
ROUNDED(cosh)
ROUNDED(erfc)
ROUNDED(expm1)
ROUNDED(log10)
ROUNDED(log1p)
ROUNDED(sinh)

double kiln_math_atan2(double y, double x);
float kiln_math_atan2f(float y, float x) { return (float)kiln_math_atan2(y, x); }

// As logSeries and expSeries are, to 2^-37 and 2^-33.
POLYNOMIAL(logSeries32, 0.09681593466080882, 0.11095686690472316, 0.14285877484175175,
           0.19999999397609577, 0.33333333333688325)
POLYNOMIAL(expSeries32, 0.00019891268510107283, 0.0013933900050040087, 0.008333310674603188,
           0.041666462666195954, 0.1666666668187505, 0.5000000013692557)

/// x^y for finite x > 0; neither x nor the logarithm is subnormal in f64.
static inline float powPositive32(float x, float y) {
  uint64_t bits = toBits(x);
  int64_t n = (int64_t)(bits - 0x3fe6a09e667f3bcd) >> 52;
  double f = fromBits(bits - ((uint64_t)n << 52)) - 1;
  double s = f / (2 + f), z = s * s;
  double log = fma64((double)n, 0.6931471805599453, 2 * fma64(s * z, logSeries32(z), s));
  double power = clamp(y * log, 200);
  double count = __builtin_roundeven(power * 1.4426950408889634);
  double r = fma64(-count, 0.6931471805599453, power);
  double value = fma64(r * r, expSeries32(r), r) + 1;
  return (float)(value * powerOfTwo((int64_t)count));
}

/// As IEEE 754 has pow.
float kiln_math_powf(float x, float y) {
  if (y == 0 || x == 1)
    return 1;
  if (x != x || y != y)
    return __builtin_nanf("");
  float size = __builtin_fabsf(x), steps = __builtin_fabsf(y), infinity = __builtin_inff();
  int isWhole = steps >= 0x1p24f || __builtin_truncf(y) == y;
  int isOdd = steps < 0x1p24f && isWhole && ((int32_t)y & 1);
  float result;
  if (size == 1)
    result = 1;
  else if (size == 0 || size == infinity)
    result = (size == 0) == (y < 0) ? infinity : 0;
  else if (steps == infinity)
    result = (size > 1) == (y > 0) ? infinity : 0;
  else
    result = powPositive32(size, y);
  if (x < 0 && size != infinity && !isWhole)
    return __builtin_nanf("");
  return isOdd ? __builtin_copysignf(result, x) : result;
}

/// (log(1 + f) - f + f² / 2) / f³ in f32.
static inline float logSeriesOfSingle(float f) {
  const float coefficients[] = {0.06971611827611923f,  -0.11479733884334564f, 0.11685419827699661f,
                                -0.12425687164068222f, 0.14249058067798615f,  -0.1666780263185501f,
                                0.20000715553760529f,  -0.2499999701976776f,  0.3333333134651184f};
  float sum = coefficients[0];
  _Pragma("unroll") for (int i = 1; i < 9; ++i) sum = fma32(sum, f, coefficients[i]);
  return sum;
}

/// x = (1 + f)·2^exponent with 1 + f in [√½, √2), also where x is subnormal.
static inline float splitSingle(float x, float *exponent) {
  int isTiny = x < 0x1p-126f;
  uint32_t bits = __builtin_bit_cast(uint32_t, isTiny ? x * 0x1p25f : x) - 0x3f3504f3;
  *exponent = (float)((int32_t)bits >> 23) - (isTiny ? 25 : 0);
  return __builtin_bit_cast(float, (bits & 0x7fffff) + 0x3f3504f3) - 1;
}

/// A logarithm's value where x is no positive finite number.
static inline float logResult(float x, float result) {
  result = x < __builtin_inff() ? result : x;
  result = x == 0 ? -__builtin_inff() : result;
  return x < 0 ? __builtin_nanf("") : result;
}

float kiln_math_logf(float x) {
  float e, f = splitSingle(x, &e), square = f * f;
  float rest = fma32(e, -2.12194440054690583e-4f, square * f * logSeriesOfSingle(f));
  rest = fma32(square, -0.5f, rest);
  return logResult(x, fma32(e, 0.693359375f, f + rest));
}

/// log2(1 + f) = f + f·(log2 e - 1) + …: of log2 e what is beyond 1 apart.
float kiln_math_log2f(float x) {
  float e, f = splitSingle(x, &e), square = f * f;
  float rest = fma32(square, -0.5f, square * f * logSeriesOfSingle(f));
  float beyond = fma32(rest, 0.44269504088896340736f, f * 0.44269504088896340736f);
  return logResult(x, e + (f + (rest + beyond)));
}
