// Tensors that one role makes and another uses.
#ifndef KILN_LIB_SCHEDULE_HANDOVERS_H
#define KILN_LIB_SCHEDULE_HANDOVERS_H

#include "Decisions.h"

namespace kiln {

/// The dot in tensor memory whose sum a value is, perhaps behind the loop that carries it there;
/// null if warps have it in registers: where a loop uses it otherwise, or they add to it or put it
/// together.
tile::DotOp findSummingDot(mlir::Value value);

/// How many slots a tensor has that is handed over: as what makes it says, or its loop; else one
/// more than products in flight that read it hold.
int64_t countSlots(mlir::Value value);

/// By what an op says the depth of what it hands over: a load as that of a ring.
inline llvm::StringRef spellDepth(mlir::Operation *op) {
  return llvm::isa<tile::LoadOp>(op) ? "depth" : tile::kDepthAttrName.data();
}

/// The type as which a tensor is written to a slot: as bytes, if it has fewer bits.
mlir::RankedTensorType getHandedType(mlir::RankedTensorType type);

/// What says for a tensor itself by how many slots it is handed over: the ops that make it, of what
/// a loop gives those of a trip. None if the source leaves that to the loop around it.
llvm::SmallVector<mlir::Operation *> findHandedDepths(mlir::Value value);

} // namespace kiln

#endif // KILN_LIB_SCHEDULE_HANDOVERS_H
