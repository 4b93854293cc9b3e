// Which of two ops a role runs first, before its stages and orders are realised.
#ifndef KILN_LIB_SCHEDULE_ROLEPOINTS_H
#define KILN_LIB_SCHEDULE_ROLEPOINTS_H

#include "mlir/IR/Operation.h"

namespace kiln {

/// An op as it is run in some trip of the loops around it, or in the next one of a loop around it.
struct Point {
  mlir::Operation *op;
  mlir::Operation *turned = nullptr;
};

/// Whether a role has stages or orders among its ops of a block, so that they may be moved.
bool isMoved(mlir::Block &body, llvm::StringRef role);
/// Whether a role surely comes to a point behind another one, or at it.
bool isAtOrBehind(Point first, Point later, llvm::StringRef role);

} // namespace kiln

#endif // KILN_LIB_SCHEDULE_ROLEPOINTS_H
