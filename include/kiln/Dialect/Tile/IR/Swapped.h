// Which products are computed by their transposes, for errors that follow from it.
#ifndef KILN_DIALECT_TILE_IR_SWAPPED_H
#define KILN_DIALECT_TILE_IR_SWAPPED_H

#include "mlir/IR/Operation.h"

namespace kiln::tile {

/// Says so in the place of a product whose operands have changed places.
void markSwapped(mlir::Operation *dot);
/// Adds a note at each such product of a kernel to an error at one of its ops.
void noteSwapped(mlir::InFlightDiagnostic &error, mlir::Operation *op);

} // namespace kiln::tile

#endif // KILN_DIALECT_TILE_IR_SWAPPED_H
