// Functions of math as polynomials.
#ifndef KILN_LIB_TARGET_CPU_EXPANDMATH_H
#define KILN_LIB_TARGET_CPU_EXPANDMATH_H

namespace mlir {
class RewritePatternSet;
} // namespace mlir

namespace kiln::cpu {

/// Functions of f32, and its remainder. `hasScale`: vectors are scaled by a power of two in one
/// instruction.
void populateExpandMathPatterns(mlir::RewritePatternSet &patterns, bool hasScale);

} // namespace kiln::cpu

#endif // KILN_LIB_TARGET_CPU_EXPANDMATH_H
