// Who can meet at a barrier of a role, or within an op there that has scratch.
#ifndef KILN_TARGET_COMMON_MEETINGS_H
#define KILN_TARGET_COMMON_MEETINGS_H

#include "kiln/Dialect/Tile/IR/ThreadDecisions.h"

namespace kiln {

/// Whether all copies of the role do an op together, which else each does for itself.
bool isTogether(mlir::Operation *op, tile::RoleAttr role);
/// How many groups of warps have barriers of their own on the chip that a module is for.
int64_t countGroupBarriers(mlir::Operation *op);
/// Whether groups of warps meet at barriers in shared memory there, since there are no others.
bool meetInShared(mlir::Operation *op);
/// The channel at whose barriers those of a role do, or null.
tile::ChannelOp findMeetingPlace(tile::KernelOp kernel, tile::RoleAttr role);
/// Who meets at an op of a role, as `tile.meets` says; an error if nobody has decided it, or if
/// these do not have such a barrier or are not all who must meet.
llvm::FailureOr<tile::Meeting> requireMeeting(mlir::Operation *op);
/// Whether warps of several copies do.
bool meetsOtherCopies(mlir::Operation *op);

} // namespace kiln

#endif // KILN_TARGET_COMMON_MEETINGS_H
