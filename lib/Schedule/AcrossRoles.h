// Keeps the order in which a kernel's source has accesses of one argument by several roles.
#ifndef KILN_LIB_SCHEDULE_ACROSSROLES_H
#define KILN_LIB_SCHEDULE_ACROSSROLES_H

#include "kiln/Dialect/Tile/IR/Tile.h"
#include "llvm/ADT/DenseSet.h"

namespace kiln {

/// Of a kernel whose rings are realised and whose ops name their roles: an error if two roles may
/// meet in memory at one argument, of which one writes, and nothing that is handed over orders
/// their accesses as the source does. What one hands on it has done by then: where warps have it
/// only under way, a barrier behind it waits, and lets engines see what they read.
///
/// From each such access this follows the source, and which roles are behind it: who made it; who
/// gets a slot that one of these has put since, or has committed dots to; and who fills a slot that
/// one of these has released since. In a loop it follows the rest of the trip and the next one: who
/// is behind it then is so in all trips to come. What a condition or a loop tells counts inside,
/// unless the loop is known to have a trip. Stages and orders of a role's ops in a loop say which
/// of them come first; where they leave it open, an op is not known to be behind another.
llvm::LogicalResult orderAcrossRoles(tile::KernelOp kernel);

/// The accesses that may meet one of another role's: what their role gets in front of them it gets
/// there, since that may be what orders them.
llvm::DenseSet<mlir::Operation *> findMeetingRoles(tile::WarpGroupsOp groups);

} // namespace kiln

#endif // KILN_LIB_SCHEDULE_ACROSSROLES_H
