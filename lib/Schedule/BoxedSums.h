// Boxes of tensors that are made of sums in tensor memory.
#ifndef KILN_LIB_SCHEDULE_BOXEDSUMS_H
#define KILN_LIB_SCHEDULE_BOXEDSUMS_H

#include "Decisions.h"
#include "kiln/Dialect/Tile/IR/AccessDecisions.h"
#include "llvm/ADT/MapVector.h"

namespace kiln {

/// The slices of each tensor in roles, as they follow one another.
using Slices = llvm::MapVector<mlir::Value, llvm::SmallVector<tile::SliceOp>>;
Slices findSlices(mlir::ModuleOp module);

/// A tensor that is made of sums element by element, and used by boxes of columns alone.
struct BoxedSums {
  mlir::Value whole;
  llvm::SmallVector<tile::SliceOp> boxes;
  /// From fetches to what boxes are taken of, in the order of the text.
  llvm::SmallVector<mlir::Operation *> ops;
  /// By which the slots of the sums are given back.
  llvm::MapVector<tile::FetchOp, tile::ReleaseOp> releases;
};

/// Of which sums a tensor is made, if these can be fetched box by box. Else `expected` says what
/// was of the tensor.
std::optional<BoxedSums> findBoxedSums(mlir::Value whole, llvm::ArrayRef<tile::SliceOp> boxes,
                                       std::string &expected);

/// The tensor that a value is; null if it is none.
mlir::RankedTensorType getTensorType(mlir::Value value);

} // namespace kiln

#endif // KILN_LIB_SCHEDULE_BOXEDSUMS_H
