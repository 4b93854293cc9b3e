// When tiles that come through registers are written to the rings of another role.
#ifndef KILN_LIB_SCHEDULE_WRITESTAGES_H
#define KILN_LIB_SCHEDULE_WRITESTAGES_H

#include "kiln/Dialect/Tile/IR/Tile.h"
#include "kiln/Target/Chip.h"

namespace kiln {

/// Where a role would wait, behind what it puts or is about to put here, for another that waits for
/// that: the first loop of the trip in which it uses rings, since these have a slot for some trips
/// alone, or the first op that takes what another role makes; or where another makes a number that
/// tells it what to do. A condition that fills the put's ring comes behind the put, too. Null if
/// there is none.
mlir::Operation *findWaiting(mlir::Operation *site, tile::RoleAttr role);

/// In front of what such a role is to have written by then, so that it waits behind that: who takes
/// what another makes may get it as soon as that is made (`tile-decide-hand-overs`), where memory
/// asks for it.
mlir::Operation *findWritePlace(mlir::Operation *site, mlir::Operation *waiting,
                                tile::RoleAttr role);

/// What a role brings through registers for another is written a trip behind its load, so that the
/// next load is under way by then: if the roles do not wait for one another then, since a copy of
/// that trip has no slot. Of rings whose slots several uses share out unevenly the check knows that
/// too late: it takes each for one of as many slots as the luckiest use has.
llvm::LogicalResult decideWriteStages(tile::KernelOp kernel, const Chip &chip);

} // namespace kiln

#endif // KILN_LIB_SCHEDULE_WRITESTAGES_H
