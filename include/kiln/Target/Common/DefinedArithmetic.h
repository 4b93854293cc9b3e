// Integer arithmetic and conversions as the language defines them where processors and LLVM do not:
// x / 0 is 0, a shift by the width or more leaves nothing but the sign, and a float that does not
// fit an integer saturates, NaN giving 0.
#ifndef KILN_TARGET_COMMON_DEFINEDARITHMETIC_H
#define KILN_TARGET_COMMON_DEFINEDARITHMETIC_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/Operation.h"

namespace kiln {

/// Puts ops around a division, remainder or shift, or another in the place of a conversion to an
/// integer, on scalars and vectors. Returns what its result has become; null for any other op.
mlir::Value defineForAllInputs(mlir::Operation *op);

/// Puts another in the place of a conversion of integers to a float narrower than f32: one that
/// rounds once. By way of f32, as LLVM has it, what is just beside the middle of two numbers would
/// be rounded to it first.
void convertIntegerOnce(mlir::Operation *op);

/// a·b + c of floats narrower than f32, rounded once: f32 is not wide enough for their sums.
mlir::Value fuseOnce(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange operands);

} // namespace kiln

#endif // KILN_TARGET_COMMON_DEFINEDARITHMETIC_H
