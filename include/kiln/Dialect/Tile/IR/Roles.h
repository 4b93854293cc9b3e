// Which roles make and use a kernel's values.
#ifndef KILN_DIALECT_TILE_IR_ROLES_H
#define KILN_DIALECT_TILE_IR_ROLES_H

#include "kiln/Dialect/Tile/IR/Tile.h"
#include "llvm/ADT/SetVector.h"

namespace kiln::tile {

/// The role that an op names, or nothing.
llvm::StringRef getRoleName(mlir::Operation *op);
/// The role of the kernel's that an op names, or null.
RoleAttr lookUpRole(mlir::Operation *op);
/// The role of this name among the kernel's, or an error at the op that names it.
mlir::FailureOr<RoleAttr> findRole(mlir::Operation *op, llvm::StringRef name);

/// Whether each copy of a role can have as much of an extent in one piece: `least` times a power of
/// two.
bool sharesEvenly(int64_t extent, int64_t least, int64_t copies);
/// Which dimension of a product copies share out, of which an instruction makes so much at a time:
/// 0 for rows, if they can; 1 for columns; -1 for none.
int getSharedDim(int64_t m, int64_t n, int64_t leastM, int64_t leastN, int64_t copies);
/// The copies of a role that have rows of a product each, where nobody has decided: two, or of
/// three times as many rows as a power of two three, or one.
int64_t chooseCopies(int64_t m, int64_t leastM);

/// Whether an op is a load by an instruction that the author names, which brings a tile into a
/// buffer.
bool fillsBuffer(mlir::Operation *op);
/// Whether an op loads a number that the kernel does not change: each role may load its own.
bool isSharedScalar(mlir::Operation *op);

/// The roles of the ops that a tensor is made of. A load that fills a buffer is made by who reads
/// it, as are constants and all that is computed of such values alone: none makes them. With
/// `behindNumbers` the roles count, too, that make what numbers are computed from, or a number that
/// is given.
llvm::SetVector<llvm::StringRef> findMakers(mlir::Value value, bool behindNumbers = false);
/// The roles of the ops that a tensor, or what is computed of it by ops of no role, goes to; of an
/// op of no role that computes with what others make too, theirs.
llvm::SetVector<llvm::StringRef> findUsers(mlir::Value tensor);
/// The role that has a tensor: the one that makes it, or of several the first that uses it, rather
/// one of these. What other roles make of it goes there. Nothing if none makes it.
llvm::StringRef findKeeper(mlir::Value tensor);
/// Whether another role runs an op; of one of no role, whether others make what it gives.
bool isOfOther(mlir::Operation *op, llvm::StringRef role);

} // namespace kiln::tile

#endif // KILN_DIALECT_TILE_IR_ROLES_H
