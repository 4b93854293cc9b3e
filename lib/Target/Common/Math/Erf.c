// The error function and its complement.
//
// |x| < 3/4: x + x·P(x²). Beyond: erfc(x) = e^(-x²) · Q(t) / (1 + 2x) with t = (x - 3) / (x + 3),
// where Q(t) stays between 1 and 1.3, and x² is a pair.
#include "Core.h"

// erf(x) / x - 1 in x²
POLYNOMIAL(erfSeries, 7.272272607932984e-11, -1.1958260314139839e-09, 1.4776603534204896e-08,
           -1.6364011649216931e-07, 1.646203988432755e-06, -1.4925648275827883e-05,
           0.0001205533294187873, -0.000854832702293789, 0.0052239776254379535,
           -0.026866170645131044, 0.11283791670955125, -0.37612638903183754, 0.1283791670955126)

// e^(x²) · erfc(x) · (1 + 2x) in t, 3/4 <= x <= 28
POLYNOMIAL(erfcSeries, -2.001896147445719e-08, 3.1928226884089936e-08, 1.1594264581658017e-07,
           -1.389503987250298e-07, -6.280624046782e-07, 3.589439032819143e-07,
           3.4774588647443234e-06, -7.334806365025155e-07, -2.0101923929698793e-05,
           4.950224418519957e-06, 0.00012509958477195502, -0.00010515995562310914,
           -0.0007798322981542262, 0.0018886903783611908, 0.00252939181800081,
           -0.023770514919954435, 0.06830802734388602, -0.1192736634152651, 0.12964515870276302,
           -0.047562294353451294, -0.1356211061245812, 1.2530080582697296)

static inline double erfcBeyond(double size) {
  double t = (size - 3) / (size + 3);
  double factor = erfcSeries(t) / fma64(2, size, 1);
  Pair square = multiplyExact(size, size);
  // The power alone may be subnormal where the product is rounded anyway.
  return expOfPair(negate(square), 64) * factor * 0x1p-64;
}

double kiln_math_erf(double x) {
  double size = magnitude(x);
  if (!(size >= 0.75))
    return fma64(x, erfSeries(x * x), x);
  return withSign(size > 6 ? 1 : 1 - erfcBeyond(size), x);
}

double kiln_math_erfc(double x) {
  double size = magnitude(x);
  if (!(size >= 0.75))
    return 1 - fma64(x, erfSeries(x * x), x);
  double tail = size > 28 ? 0 : erfcBeyond(size);
  return x < 0 ? 2 - tail : tail;
}
