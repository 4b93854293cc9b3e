// The boxes by which a tensor goes through shared memory to an engine that stores it, and the parts
// of a buffer that several bring by engines.
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
/// The box of what is stored that begins there, with what the store says of how it is fetched.
mlir::Value takeBox(mlir::OpBuilder &builder, tile::StoreOp store, const StoreBoxes &boxes,
                    llvm::ArrayRef<int64_t> offsets);

/// One of equal parts of a buffer, along a dimension.
struct BufferPart {
  tile::BufferType type;
  unsigned dim;
};
/// A part that an engine can bring as it lies, if so many share the buffer out: of its rows, or
/// else of its columns; none if there is none.
std::optional<BufferPart> findEnginePart(tile::BufferType whole, mlir::Attribute atom,
                                         int64_t count);
/// Makes of a copy that of its part of this number.
void takePart(tile::CopyInOp copy, BufferPart part, mlir::Value number);

} // namespace kiln

#endif // KILN_LIB_SCHEDULE_BOXES_H
