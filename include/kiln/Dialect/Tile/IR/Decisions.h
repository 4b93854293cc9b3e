// Where decisions about atoms and the schedule stand on ops.
#ifndef KILN_DIALECT_TILE_IR_DECISIONS_H
#define KILN_DIALECT_TILE_IR_DECISIONS_H

#include "mlir/IR/Operation.h"
#include <string>

namespace kiln::tile {

/// What the attribute of a decision is called on an op: `name` on ops of tile, `tile.name` on all
/// others and where an op of tile calls something else so.
std::string spellDecision(mlir::Operation *op, llvm::StringRef name);
/// The decision of this name on an op, or null.
mlir::Attribute getDecision(mlir::Operation *op, llvm::StringRef name);
/// The name, as `spellDecision` spells it, of a decision about its atom or its schedule that an op
/// carries; empty if it carries none. Clean-ups leave alone what carries one, or one about parts.
std::string findDecision(mlir::Operation *op);
/// The name of a decision about the parts of a product, whoever makes it.
std::string findPartsDecision(mlir::Operation *op);

} // namespace kiln::tile

#endif // KILN_DIALECT_TILE_IR_DECISIONS_H
