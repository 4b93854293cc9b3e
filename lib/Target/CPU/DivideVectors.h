// Integer division of vectors.
#ifndef KILN_LIB_TARGET_CPU_DIVIDEVECTORS_H
#define KILN_LIB_TARGET_CPU_DIVIDEVECTORS_H

namespace mlir {
class Operation;
} // namespace mlir

namespace kiln::cpu {

/// Replaces a division or remainder of vectors of integers by floats and their quotients, with the
/// language's results where division has none; false if it is none that gains by it. `hasLongs`:
/// vectors of 64-bit integers become f64 in one instruction.
bool divideVectors(mlir::Operation *op, bool hasLongs);

} // namespace kiln::cpu

#endif // KILN_LIB_TARGET_CPU_DIVIDEVECTORS_H
