// Remainders of division towards zero, exact whatever the quotient: as of integers, the dividend's
// mantissa a few bits further each step. A quotient rounded to a float, cut and multiplied back, as
// LLVM has it for some chips, is wrong from the first quotient on that is rounded up to an integer.
#include "Core.h"

float kiln_math_fmodf(float x, float y) {
  uint32_t a = __builtin_bit_cast(uint32_t, x) & 0x7fffffff;
  uint32_t b = __builtin_bit_cast(uint32_t, y) & 0x7fffffff;
  if (b == 0 || b > 0x7f800000 || a >= 0x7f800000)
    return __builtin_nanf("");
  if (a < b)
    return x;
  int32_t from = (int32_t)(a >> 23), to = (int32_t)(b >> 23);
  uint32_t rest = from ? (a & 0x7fffff) | 0x800000 : a, unit = to ? (b & 0x7fffff) | 0x800000 : b;
  from = from ? from : 1;
  to = to ? to : 1;
  rest %= unit;
  // 24 bits and 8 more are a word.
  for (int32_t left = from - to; left > 0 && rest; left -= 8)
    rest = (rest << (left < 8 ? left : 8)) % unit;
  if (!rest)
    return __builtin_copysignf(0.0f, x);
  int32_t shift = __builtin_clz(rest) - 8;
  shift = shift < to - 1 ? shift : to - 1;
  uint32_t bits = (rest << shift) + ((uint32_t)(to - shift - 1) << 23);
  return __builtin_copysignf(__builtin_bit_cast(float, bits), x);
}

double kiln_math_fmod(double x, double y) {
  const uint64_t infinity = 0x7ff0000000000000, one = 0x10000000000000;
  uint64_t a = toBits(magnitude(x)), b = toBits(magnitude(y));
  if (b == 0 || b > infinity || a >= infinity)
    return NAN_64;
  if (a < b)
    return x;
  int32_t from = (int32_t)(a >> 52), to = (int32_t)(b >> 52);
  uint64_t rest = from ? (a & (one - 1)) | one : a, unit = to ? (b & (one - 1)) | one : b;
  from = from ? from : 1;
  to = to ? to : 1;
  rest %= unit;
  for (int32_t left = from - to; left > 0 && rest; left -= 11)
    rest = (rest << (left < 11 ? left : 11)) % unit;
  if (!rest)
    return withSign(0, x);
  int32_t shift = __builtin_clzll(rest) - 11;
  shift = shift < to - 1 ? shift : to - 1;
  return withSign(fromBits((rest << shift) + ((uint64_t)(to - shift - 1) << 52)), x);
}
