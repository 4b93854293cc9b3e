// Rounding to odd: the first of two roundings, after which the second gives what rounding once
// would. What is not exact goes towards zero and sets the last bit, far below those that the
// second rounding looks at (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums",
// 2008). All that rounds in two steps here, of floats and of integers, takes its first from here.
#ifndef KILN_DIALECT_TILE_TRANSFORMS_ROUNDTOODD_H
#define KILN_DIALECT_TILE_TRANSFORMS_ROUNDTOODD_H

#include "mlir/IR/Builders.h"

namespace kiln {

/// f64 as f32. Scalars, vectors and tensors.
mlir::Value roundToOdd(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value);

/// An integer of any width as one of the same type that f32 holds: of at most 24 bits up to the
/// last that is not zero. What rounds it next keeps at most 11 of them.
mlir::Value roundIntegerToOdd(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value,
                              bool isSigned);

/// a·b + c of numbers of f64 whose products are exact.
mlir::Value fuseToOdd(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value a, mlir::Value b,
                      mlir::Value c);

} // namespace kiln

#endif // KILN_DIALECT_TILE_TRANSFORMS_ROUNDTOODD_H
