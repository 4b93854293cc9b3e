// When tiles that come through registers are written to the rings of another role.
#ifndef KILN_LIB_SCHEDULE_WRITESTAGES_H
#define KILN_LIB_SCHEDULE_WRITESTAGES_H

#include "kiln/Dialect/Tile/IR/Tile.h"
#include "kiln/Target/Chip.h"

namespace kiln {

/// What a role brings through registers for another is written a trip behind its load, so that the
/// next load is under way by then: if the roles do not wait for one another then, since a copy of
/// that trip has no slot. Of rings whose slots several uses share out unevenly the check knows that
/// too late: it takes each for one of as many slots as the luckiest use has.
llvm::LogicalResult decideWriteStages(tile::KernelOp kernel, const Chip &chip);

} // namespace kiln

#endif // KILN_LIB_SCHEDULE_WRITESTAGES_H
