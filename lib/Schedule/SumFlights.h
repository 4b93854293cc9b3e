// Sums in tensor memory that are in flight where a trip ends, or a condition begins.
#ifndef KILN_LIB_SCHEDULE_SUMFLIGHTS_H
#define KILN_LIB_SCHEDULE_SUMFLIGHTS_H

#include "Decisions.h"

namespace kiln {

/// Dots of a block each of which adds to the one before: what the first begins with, and the last.
struct SumBegin {
  mlir::OpOperand *first;
  tile::StartDotOp last;
};

/// What becomes of one dot of a trip whose sum is used in a later one: it is begun in front of the
/// loop and in it, and waited for in it and behind it. Whichever is begun first is waited for
/// first, so slots that are filled and got in turn have them, as many as are in flight at once.
struct SumFlight {
  llvm::SmallVector<SumBegin> begins;
  llvm::SmallVector<tile::WaitOp> waits;
  /// Operands by which loops and conditions hand the sums on.
  llvm::SmallVector<mlir::OpOperand *> carriers;
  int64_t slots = 0;
};

/// Those of a role's region in which not all that is waited for begins in the block of the wait.
/// Dots that add to what a loop or a condition hands on are of none.
std::vector<SumFlight> findFlights(mlir::Region &region);

} // namespace kiln

#endif // KILN_LIB_SCHEDULE_SUMFLIGHTS_H
