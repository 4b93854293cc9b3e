// Functions of f32, computed in f64 and rounded once: arguments and results here are f64.
//
// Where f32 would need pairs of numbers and cases against cancellation, f64 needs neither: errors
// stay below 0.51 ulp of f32. Special arguments (infinities, NaN, zeros with their sign) give what
// C's functions give.
#ifndef KILN_LIB_TARGET_CPU_MATH_WIDE_H
#define KILN_LIB_TARGET_CPU_MATH_WIDE_H

#include "Builder.h"

namespace kiln::cpu::wide {

using mlir::Value;

// Exponentials.cpp
Value sinh(MathBuilder &b, Value x);
Value cosh(MathBuilder &b, Value x);
Value erfc(MathBuilder &b, Value x);
Value log10(MathBuilder &b, Value x);
Value asinh(MathBuilder &b, Value x);
Value acosh(MathBuilder &b, Value x);
Value atanh(MathBuilder &b, Value x);
Value pow(MathBuilder &b, Value x, Value y);

// Trigonometry.cpp
Value sin(MathBuilder &b, Value x);
Value cos(MathBuilder &b, Value x);
Value tan(MathBuilder &b, Value x);
Value atan(MathBuilder &b, Value x);
Value atan2(MathBuilder &b, Value y, Value x);

// Algebra.cpp
Value cbrt(MathBuilder &b, Value x);
/// Exact; the result has the sign of x.
Value remainder(MathBuilder &b, Value x, Value y);

} // namespace kiln::cpu::wide

#endif // KILN_LIB_TARGET_CPU_MATH_WIDE_H
