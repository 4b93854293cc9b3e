// The boxes by which a tensor goes through shared memory to an engine that stores it, and the parts
// of a buffer that several bring by engines.
#ifndef KILN_LIB_SCHEDULE_BOXES_H
#define KILN_LIB_SCHEDULE_BOXES_H

#include "Decisions.h"

namespace kiln {

struct StoreBoxes {
  /// Of one box.
  mlir::RankedTensorType type;
  /// Where each begins in the tensor, the last dimension fastest; none of which nothing is stored.
  llvm::SmallVector<llvm::SmallVector<int64_t>> offsets;
};

/// Boxes of the shape of the store's buffer, among which registers alone choose; an error at the
/// store if there are none, or a decision is missing.
mlir::FailureOr<StoreBoxes> cutIntoBoxes(tile::StoreOp store);
/// How many there are.
size_t countStoredBoxes(tile::StoreOp store);
/// Has the engine copy what the store stores of a box that begins there out of its buffer: one
/// copy, or one of each piece.
size_t countCopiesOut(tile::StoreOp store, llvm::ArrayRef<int64_t> offsets);
llvm::SmallVector<mlir::Operation *> copyOut(mlir::OpBuilder &builder, tile::StoreOp store,
                                             mlir::Value buffer, llvm::ArrayRef<int64_t> offsets);
/// The box of what is stored that begins there, with what the store says of how it is fetched.
mlir::Value takeBox(mlir::OpBuilder &builder, tile::StoreOp store, const StoreBoxes &boxes,
                    llvm::ArrayRef<int64_t> offsets);

/// One of equal parts of a buffer, along a dimension.
struct BufferPart {
  tile::BufferType type;
  unsigned dim;
};
/// A buffer as strips of columns, or of rows, of each of which so many bring a part.
struct SharedStrips {
  int64_t count;
  BufferPart strip, part;
};
/// As few strips as can be of which an engine brings parts as they lie: of their rows, or else of
/// their columns; none if there are none. Where rows are longer than the engine's boxes, each box
/// is shared out by itself; of an odd number of boxes one above or beside another, each row or
/// column of them.
std::optional<SharedStrips> findSharedStrips(tile::BufferType whole, mlir::Attribute atom,
                                             int64_t sharers);
/// Makes of a copy those of the parts of this number, one a strip.
llvm::SmallVector<tile::CopyInOp> takeParts(tile::CopyInOp copy, const SharedStrips &strips,
                                            mlir::Value number);

} // namespace kiln

#endif // KILN_LIB_SCHEDULE_BOXES_H
