// How many slots copies of a role need that lag behind one another.
//
// A copy releases a slot as many meetings later than the first one as it lags behind it
// (SkewCopies.cpp). The first one waits for the slot to be filled again: so that all have released
// it by then, it has met as often in between.
#ifndef KILN_LIB_SCHEDULE_LAGS_H
#define KILN_LIB_SCHEDULE_LAGS_H

#include "Rings.h"
#include "kiln/Target/Chip.h"

namespace kiln {

/// By how many meetings the last copy of a role lags behind the first.
int64_t getLag(tile::RoleAttr role);

/// In how many turns, of two meetings each, copies of a role start the dots of an op, in its loops
/// and conditions too: in each trip that uses rings there is one at least.
int64_t countTurns(mlir::Operation *op, tile::RoleAttr role);

/// A ring that copies of a role lag behind too far for.
struct Lag {
  tile::RoleAttr role;
  RingUse *use;
  int64_t leastDepth;
};
/// Of a ring that a trip uses around loops in which dots are started, or a program of several: in
/// trips without such loops, each role's order says more (LoopProblem.h).
std::optional<Lag> findLag(tile::KernelOp kernel, Ring &ring);

/// Gives rings and hand-overs whose depth nobody says the slots that lags need.
void giveSlotsForLags(tile::KernelOp kernel, const llvm::DenseSet<tile::LoadOp> &open,
                      const Chip &chip);

} // namespace kiln

#endif // KILN_LIB_SCHEDULE_LAGS_H
