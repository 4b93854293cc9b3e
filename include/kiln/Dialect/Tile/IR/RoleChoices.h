// Which of several roles has a value, and which of a role's copies runs a program.
#ifndef KILN_DIALECT_TILE_IR_ROLECHOICES_H
#define KILN_DIALECT_TILE_IR_ROLECHOICES_H

#include "kiln/Dialect/Tile/IR/Tile.h"

namespace kiln::tile {

/// Of a kernel with `tile.persistent`, a dictionary: how many copies of a role, an i64, take the
/// programs in turn. Each runs whole ones, as a role of one copy does.
inline constexpr llvm::StringLiteral kTurnsAttrName = "tile.turns";
/// Whether copies of a role take programs in turn.
bool takesTurns(KernelOp kernel, RoleAttr role);

/// The role that has a tensor: the one that makes it, or of several the first that uses it, rather
/// one of these. What other roles make of it goes there. Nothing if none makes it.
llvm::StringRef findKeeper(mlir::Value tensor);

} // namespace kiln::tile

#endif // KILN_DIALECT_TILE_IR_ROLECHOICES_H
