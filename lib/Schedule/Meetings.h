// Who meets at each barrier of a role, and within each op there that has scratch.
#ifndef KILN_LIB_SCHEDULE_MEETINGS_H
#define KILN_LIB_SCHEDULE_MEETINGS_H

#include "kiln/Dialect/Tile/IR/Tile.h"

namespace kiln {

/// Makes the channels at whose barriers groups of warps of roles can meet, where chips have no
/// other barriers for them.
void makeMeetingPlaces(tile::KernelOp kernel);

/// Decides `tile.meets` of each; an error at one that nobody can meet at.
llvm::LogicalResult decideMeetings(tile::WarpGroupsOp groups);

} // namespace kiln

#endif // KILN_LIB_SCHEDULE_MEETINGS_H
