// Where an author has pinned a kernel's decisions.
#ifndef KILN_DIALECT_TILE_IR_PINNEDPLACES_H
#define KILN_DIALECT_TILE_IR_PINNEDPLACES_H

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Operation.h"

namespace kiln::tile {

/// As emitOpError of a kernel, or of what a pass makes in its place, but where the decision was
/// pinned. The location of a kernel says that: it is fused with a dictionary from the attributes
/// that decisions are to locations. It is the op's own if nobody has pinned the decision.
mlir::InFlightDiagnostic emitPinError(mlir::Operation *op, llvm::StringRef decision,
                                      const llvm::Twine &message = {});

} // namespace kiln::tile

#endif // KILN_DIALECT_TILE_IR_PINNEDPLACES_H
