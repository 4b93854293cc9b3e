// The buffers through which tensors go from one role to another.
#ifndef KILN_LIB_SCHEDULE_HANDOVERBUFFERS_H
#define KILN_LIB_SCHEDULE_HANDOVERBUFFERS_H

#include "kiln/Dialect/Tile/IR/Tile.h"
#include "kiln/Target/TargetInterface.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"

namespace kiln {

/// A value, who makes it, and where others use it; or where products of that role read it from
/// shared memory.
struct HandedEdge {
  tile::RoleAttr maker;
  bool isOwn;
  llvm::MapVector<mlir::Attribute, llvm::SmallVector<mlir::OpOperand *>> uses; // by role
};

/// What each copy reads of a tensor of which it then takes its part.
using WholeReads = llvm::DenseMap<mlir::OpOperand *, mlir::RankedTensorType>;

/// The conversion that a use is, which reads what it converts as it wants it; or null.
tile::ConvertLayoutOp getConversion(mlir::OpOperand *use);

/// A buffer that all sides write and read as they can: of the whole tensor, or if there is none, of
/// each of its boxes, or where copies read all of what they share out otherwise than it is written.
mlir::FailureOr<tile::BufferType> decideHandedBuffer(tile::ConvertLayoutOp handed,
                                                     const HandedEdge &edge, TargetInterface target,
                                                     WholeReads &wholeReads);

} // namespace kiln

#endif // KILN_LIB_SCHEDULE_HANDOVERBUFFERS_H
