// How many slots copies of a role need that lag behind one another (SkewCopies.cpp).
//
// The last copy releases a slot once it has met the others so often, when the first one has met
// them as often more as the last lags behind. By then the first one may wait for the slot to be
// filled again, if it has too few others: then neither goes on.
#ifndef KILN_LIB_SCHEDULE_LAGS_H
#define KILN_LIB_SCHEDULE_LAGS_H

#include "LoopProblem.h"

namespace kiln {

/// By how many meetings the last copy of a role lags behind the first.
int64_t getLag(tile::RoleAttr role);

/// In how many turns, of two meetings each, copies of a role start the dots of an op, in its loops
/// and conditions too: in each trip that uses rings there is one at least.
int64_t countTurns(mlir::Operation *op, tile::RoleAttr role);

/// Whether roles whose copies lag behind one another get on where a block has loops of several
/// roles, or is a program's: as far as is known, which ops of the block begin and end in which
/// order. Of loops that are problems of their own, LoopProblem.h knows more.
PinsChecked checkLags(mlir::Block &block, RingPlan &plan);
/// The blocks that have such loops, and that of a program.
llvm::SmallVector<mlir::Block *> findLagging(tile::KernelOp kernel);

/// Gives rings and hand-overs of which nobody says how deep they are the slots that lags ask for:
/// of loads these.
llvm::LogicalResult giveSlotsForLags(tile::KernelOp kernel,
                                     const llvm::DenseSet<tile::LoadOp> &open, const Chip &chip);

} // namespace kiln

#endif // KILN_LIB_SCHEDULE_LAGS_H
