// Sine, cosine and tangent for all arguments, in f64 and f32.
//
// x = quadrant·π/2 + r with |r| <= π/4. Up to 2^20 three parts of π/2 are subtracted, the first
// two with as few bits as make their multiples exact (Cody and Waite). Beyond, x·2/π modulo 4 is
// computed from those bits of 2/π that matter, in integers (Payne and Hanek).
#include "Core.h"

// 64 zeros, then the first 1216 bits of 2/π.
static const uint64_t kTwoOverPi[] = {0,
                                      0xa2f9836e4e441529,
                                      0xfc2757d1f534ddc0,
                                      0xdb6295993c439041,
                                      0xfe5163abdebbc561,
                                      0xb7246e3a424dd2e0,
                                      0x06492eea09d1921c,
                                      0xfe1deb1cb129a73e,
                                      0xe88235f52ebb4484,
                                      0xe99c7026b45f7e41,
                                      0x3991d639835339f4,
                                      0x9c845f8bbdf9283b,
                                      0x1ff897ffde05980f,
                                      0xef2f118b5a0a6d1f,
                                      0x6d367ecf27cb09b7,
                                      0x4f463f669e5fea2d,
                                      0x7527bac7ebe5f17b,
                                      0x3d0739f78a5292ea,
                                      0x6bfb5fb11f8d5d08,
                                      0x56033046fc7b6bab};

/// 64 bits of 2/π · 2^(exponent - 2), from `word` words behind the point.
static inline uint64_t twoOverPi(int exponent, int word) {
  unsigned at = (unsigned)(62 + exponent), shift = at % 64;
  const uint64_t *words = kTwoOverPi + at / 64 + word;
  return shift ? words[0] << shift | words[1] >> (64 - shift) : words[0];
}

typedef unsigned __int128 Wide;

static inline Pair reduceLarge(double x, int *quadrant) {
  uint64_t bits = toBits(x);
  int exponent = (int)(bits >> 52 & 0x7ff) - 1075;
  uint64_t mantissa = (bits & 0xfffffffffffff) | 0x10000000000000;
  uint64_t first = twoOverPi(exponent, 0), second = twoOverPi(exponent, 1),
           third = twoOverPi(exponent, 2);
  // The top 128 bits of mantissa · (first, second, third) modulo 2^192.
  Wide product = (Wide)mantissa * second + (Wide)(uint64_t)((Wide)mantissa * third >> 64);
  product += (Wide)(mantissa * first) << 64;
  int count = (int)(uint64_t)(product >> 126);
  Wide fraction = product << 2;
  count += (int)(uint64_t)(fraction >> 127);
  int64_t top = (int64_t)(uint64_t)(fraction >> 64);
  double high = (double)top;
  double low = (double)(top - (int64_t)high) + (double)(uint64_t)fraction * 0x1p-64;
  Pair r = addOrdered(high * 0x1p-64, low * 0x1p-64);
  r = multiply(r, (Pair){1.5707963267948966, 6.123233995736766e-17});
  int isNegative = (int)(bits >> 63);
  *quadrant = isNegative ? -count : count;
  return isNegative ? negate(r) : r;
}

static inline Pair reduceAngle(double x, int *quadrant) {
  if (magnitude(x) > 0x1p20)
    return reduceLarge(x, quadrant);
  double count = __builtin_roundeven(x * 0.6366197723675814);
  count = x == x ? count : 0;
  *quadrant = (int)count;
  double rest = fma64(-count, 1.5707963267341256, x);
  Pair r = addExact(rest, -count * 6.077100506303966e-11);
  r.low = fma64(-count, 2.0222662487959506e-21, r.low);
  return addExact(r.high, r.low);
}

// (sin r - r) / r³ and (cos r - 1 + z / 2) / z², z = r² <= (π/4)²
POLYNOMIAL(sinSeries, -7.586543634101903e-13, 1.6058529011960858e-10, -2.5052106215978872e-08,
           2.7557319219291695e-06, -0.00019841269841265003, 0.008333333333333331,
           -0.16666666666666666)
POLYNOMIAL(cosSeries, 4.7457865678652127e-14, -1.1470459438155826e-11, 2.08767557819242e-09,
           -2.7557319221376434e-07, 2.480158730158461e-05, -0.0013888888888888887,
           0.041666666666666664)

static inline double sinOf(Pair r) {
  double z = r.high * r.high;
  double rest = fma64(-0.5 * z, r.low, r.low);
  return r.high + fma64(r.high * z, sinSeries(z), rest);
}

static inline double cosOf(Pair r) {
  Pair z = multiplyExact(r.high, r.high);
  double half = 0.5 * z.high, high = 1 - half;
  double rest = ((1 - high) - half) - fma64(r.high, r.low, 0.5 * z.low);
  return high + fma64(z.high * z.high, cosSeries(z.high), rest);
}

double kiln_math_sin(double x) {
  if (!(magnitude(x) >= 0x1p-27 && magnitude(x) < INFINITY_64))
    return magnitude(x) < 1 ? x : NAN_64;
  int quadrant;
  Pair r = reduceAngle(x, &quadrant);
  double value = quadrant & 1 ? cosOf(r) : sinOf(r);
  return quadrant & 2 ? -value : value;
}

double kiln_math_cos(double x) {
  if (!(magnitude(x) < INFINITY_64))
    return NAN_64;
  int quadrant;
  Pair r = reduceAngle(x, &quadrant);
  double value = quadrant & 1 ? sinOf(r) : cosOf(r);
  return (quadrant + 1) & 2 ? -value : value;
}

double kiln_math_tan(double x) {
  if (!(magnitude(x) >= 0x1p-27 && magnitude(x) < INFINITY_64))
    return magnitude(x) < 1 ? x : NAN_64;
  int quadrant;
  Pair r = reduceAngle(x, &quadrant);
  double sine = sinOf(r), cosine = cosOf(r);
  return quadrant & 1 ? -cosine / sine : sine / cosine;
}

//===- f32 ----------------------------------------------------------------------------------===//

static inline float magnitude32(float x) { return __builtin_fabsf(x); }

/// Up to 2^15 in f32: the first product cancels exactly, the others round once each.
static inline float reduceAngle32(float x, int *quadrant) {
  if (magnitude32(x) > 0x1p15f) {
    uint32_t bits = __builtin_bit_cast(uint32_t, x);
    int exponent = (int)(bits >> 23 & 0xff) - 150;
    uint64_t mantissa = (bits & 0x7fffff) | 0x800000;
    uint64_t product = mantissa * twoOverPi(exponent, 0) +
                       (uint64_t)((Wide)mantissa * twoOverPi(exponent, 1) >> 64);
    int count = (int)(product >> 62);
    int64_t fraction = (int64_t)(product << 2);
    count += fraction < 0;
    float r = (float)((double)fraction * (0x1p-64 * 1.5707963267948966));
    *quadrant = x < 0 ? -count : count;
    return x < 0 ? -r : r;
  }
  float count = __builtin_roundevenf(x * 0.63661977f);
  count = x == x ? count : 0;
  *quadrant = (int)count;
  float r = fma32(-count, 1.5707963705062866f, x);
  r = fma32(-count, -4.371138828673793e-08f, r);
  return fma32(-count, -1.7151245100058819e-15f, r);
}

static inline float sinOf32(float r) {
  float z = r * r;
  float series = fma32(2.724914679681317e-06f, z, -0.00019840080719912243f);
  series = fma32(series, z, 0.008333331863560767f);
  series = fma32(series, z, -0.16666666663826582f);
  return fma32(r * z, series, r);
}

static inline float cosOf32(float r) {
  float z = r * r;
  float series = fma32(2.4800595356594502e-05f, z, -0.0013888887662711772f);
  series = fma32(series, z, 0.04166666666429725f);
  float half = 0.5f * z, high = 1 - half;
  return high + fma32(z * z, series, (1 - high) - half);
}

float kiln_math_sinf(float x) {
  if (!(magnitude32(x) >= 0x1p-13f && magnitude32(x) < __builtin_inff()))
    return magnitude32(x) < 1 ? x : __builtin_nanf("");
  int quadrant;
  float r = reduceAngle32(x, &quadrant);
  float value = quadrant & 1 ? cosOf32(r) : sinOf32(r);
  return quadrant & 2 ? -value : value;
}

float kiln_math_cosf(float x) {
  if (!(magnitude32(x) < __builtin_inff()))
    return __builtin_nanf("");
  int quadrant;
  float r = reduceAngle32(x, &quadrant);
  float value = quadrant & 1 ? sinOf32(r) : cosOf32(r);
  return (quadrant + 1) & 2 ? -value : value;
}

float kiln_math_tanf(float x) {
  if (!(magnitude32(x) >= 0x1p-13f && magnitude32(x) < __builtin_inff()))
    return magnitude32(x) < 1 ? x : __builtin_nanf("");
  int quadrant;
  float r = reduceAngle32(x, &quadrant);
  float sine = sinOf32(r), cosine = cosOf32(r);
  return quadrant & 1 ? -cosine / sine : sine / cosine;
}
