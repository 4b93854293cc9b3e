// How matrix units add floats. The products and the sum before are aligned at the largest exponent
// that one of them has by its factors' own, cut towards zero so many bits behind its first, and
// added exactly; the result is cut to f32. So nothing is rounded, and the order does not matter.
//
// No manual says so: others have found it on chips ("MMA-Sim", arXiv 2511.10909; of bytes also
// DeepSeek-V3's report, arXiv 2412.19437, 3.3.2), and test/python/conformance holds it against one.
#ifndef KILN_LIB_RUNTIME_EMULATED_NVIDIA_SUMS_H
#define KILN_LIB_RUNTIME_EMULATED_NVIDIA_SUMS_H

#include <cstdint>

namespace kiln::emulated {

/// Of a type: the exponent of its subnormals, and the bits behind a number's first.
struct FloatForm {
  int least;
  unsigned fraction;
};
inline constexpr FloatForm kHalf{-14, 10}, kBFloat{-126, 7}, kTF32{-126, 10}, kE4M3{-6, 3},
    kE5M2{-14, 2}, kSingle{-126, 23};

/// A number as significand · 2^(exponent - fraction); of one that is not finite, no significand.
struct Factor {
  Factor() = default;
  Factor(double value, FloatForm form);
  double value = 0;
  int64_t significand = 0;
  int exponent = 0;
  bool isFinite = true;
};

struct SumLaw {
  unsigned bits;      ///< of a term, behind the first of the largest
  unsigned kept = 23; ///< of the result, behind its first
  unsigned step = 0;  ///< so many terms are added at a time; 0 for all
  /// Bytes are widened to f16 and added from zero on: the lower two of each word, then the upper
  /// two; the sum before is added by an instruction of its own.
  bool inWords = false;
};

/// Of the instructions of a warp, or of a warp group; the chip by its name.
SumLaw getWarpLaw(const char *chip, unsigned elementBytes, unsigned depth);
SumLaw getGroupLaw(unsigned elementBytes);

/// The sum of `count` products and what was there; `fraction` bits behind the point of both
/// factors.
float addProducts(const Factor *a, const Factor *b, unsigned count, unsigned fraction, float before,
                  const SumLaw &law);

} // namespace kiln::emulated

#endif // KILN_LIB_RUNTIME_EMULATED_NVIDIA_SUMS_H
