// What the passes that realise copies in turn have in common.
#ifndef KILN_LIB_SCHEDULE_TURNS_H
#define KILN_LIB_SCHEDULE_TURNS_H

#include "Decisions.h"
#include "Slice.h"
#include "kiln/Dialect/Tile/IR/Turns.h"

namespace kiln {

/// The loop of a role's region through the programs that a block runs in turn.
mlir::scf::ForOp findPrograms(mlir::Region &region);
/// Steps over so many uses of a ring: a loop that does nothing else, until `tile-realise-slots`
/// makes it one step.
void stepOver(mlir::OpBuilder &builder, mlir::Location loc, RingSide side, mlir::Value uses);

} // namespace kiln

#endif // KILN_LIB_SCHEDULE_TURNS_H
