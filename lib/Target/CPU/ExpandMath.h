// Functions of math as polynomials.
#ifndef KILN_LIB_TARGET_CPU_EXPANDMATH_H
#define KILN_LIB_TARGET_CPU_EXPANDMATH_H

namespace mlir {
class RewritePatternSet;
} // namespace mlir

namespace kiln::cpu {

/// exp, exp2, log and log2 of f32. `hasScale`: vectors are scaled by a power of two in one
/// instruction.
void populateExpandMathPatterns(mlir::RewritePatternSet &patterns, bool hasScale);

} // namespace kiln::cpu

#endif // KILN_LIB_TARGET_CPU_EXPANDMATH_H
