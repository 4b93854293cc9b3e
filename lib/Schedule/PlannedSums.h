// Whether sums fit in tensor memory, before anything is realised.
#ifndef KILN_LIB_SCHEDULE_PLANNEDSUMS_H
#define KILN_LIB_SCHEDULE_PLANNEDSUMS_H

#include "LoopProblem.h"

namespace kiln {

/// Dots whose sums a later trip of their role uses, and how many such sums are in flight at once.
using SumsInFlight = llvm::DenseMap<mlir::Operation *, int64_t>;

/// Those of a loop, by the stages and orders that ops of its problem have.
SumsInFlight findSumsInFlight(const LoopProblem &made, llvm::ArrayRef<schedule::Op> placed);

/// Whether roles can fetch the sums that dots make in tensor memory, and nothing counts them that
/// cannot.
llvm::LogicalResult checkPlannedSums(tile::KernelOp kernel);

/// Whether tensor memory surely has no room for them; an error names the dot that takes most.
bool haveRoom(tile::KernelOp kernel, const SumsInFlight &inFlight);
llvm::LogicalResult checkSumRoom(tile::KernelOp kernel, const SumsInFlight &inFlight);

} // namespace kiln

#endif // KILN_LIB_SCHEDULE_PLANNEDSUMS_H
