// Copies of a role that run programs of their own: those of a persistent kernel in turn, or those
// of a block side by side.
#ifndef KILN_DIALECT_TILE_IR_TURNS_H
#define KILN_DIALECT_TILE_IR_TURNS_H

#include "kiln/Dialect/Tile/IR/Tile.h"

namespace kiln::tile {

/// Of a kernel with `tile.persistent`, a dictionary: how many copies of a role, an i64, take the
/// programs in turn. Each runs whole ones, as a role of one copy does.
inline constexpr llvm::StringLiteral kTurnsAttrName = "tile.turns";

/// How many copies of a role run programs of their own, in turn or side by side
/// (`tile.block_programs`): 1 if none do.
int64_t countTurns(KernelOp kernel, RoleAttr role);
/// Whether copies of a role run programs of their own.
bool takesTurns(KernelOp kernel, RoleAttr role);
/// The warps that a role of the kernel will have: those of all its copies.
int64_t countWarps(KernelOp kernel, RoleAttr role);
/// The role with as many copies as will run programs of their own.
RoleAttr withTurns(KernelOp kernel, RoleAttr role);

} // namespace kiln::tile

#endif // KILN_DIALECT_TILE_IR_TURNS_H
