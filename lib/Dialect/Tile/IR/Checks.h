// Checks that ops of several groups make in the same words.
#ifndef KILN_LIB_DIALECT_TILE_IR_CHECKS_H
#define KILN_LIB_DIALECT_TILE_IR_CHECKS_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"

namespace kiln::tile {

/// An axis is one of the dimensions of the tensor.
inline mlir::LogicalResult verifyAxis(mlir::Operation *op, int64_t axis,
                                      mlir::RankedTensorType tensor) {
  if (axis >= 0 && axis < tensor.getRank())
    return mlir::success();
  if (tensor.getRank() == 0)
    return op->emitOpError("expected a tensor of rank at least 1, got ") << tensor;
  return op->emitOpError("expected an axis from 0 to ")
         << tensor.getRank() - 1 << " of " << tensor << ", got " << axis;
}

} // namespace kiln::tile

#endif // KILN_LIB_DIALECT_TILE_IR_CHECKS_H
