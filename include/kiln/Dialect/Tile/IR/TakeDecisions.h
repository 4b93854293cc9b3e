// What stands for an op obeys what was decided of it.
#ifndef KILN_DIALECT_TILE_IR_TAKEDECISIONS_H
#define KILN_DIALECT_TILE_IR_TAKEDECISIONS_H

#include "mlir/IR/Operation.h"

namespace kiln::tile {

/// Gives an op the decisions about another one, for which it stands.
void takeDecisions(mlir::Operation *op, mlir::Operation *from);

} // namespace kiln::tile

#endif // KILN_DIALECT_TILE_IR_TAKEDECISIONS_H
