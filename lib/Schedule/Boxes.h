// The boxes by which a tensor goes through shared memory to an engine that stores it.
#ifndef KILN_LIB_SCHEDULE_BOXES_H
#define KILN_LIB_SCHEDULE_BOXES_H

#include "Decisions.h"

namespace kiln {

struct StoreBoxes {
  /// Of one box.
  mlir::RankedTensorType type;
  /// Where each begins in the tensor, the last dimension fastest.
  llvm::SmallVector<llvm::SmallVector<int64_t>> offsets;
};

/// Boxes of the shape of the store's buffer, among which registers alone choose; an error at the
/// store if there are none, or a decision is missing.
mlir::FailureOr<StoreBoxes> cutIntoBoxes(tile::StoreOp store);

} // namespace kiln

#endif // KILN_LIB_SCHEDULE_BOXES_H
