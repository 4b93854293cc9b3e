// Channels: where their slots are, and rings that a role fills for itself.
#ifndef KILN_LIB_TARGET_COMMON_THREADS_RINGS_H
#define KILN_LIB_TARGET_COMMON_THREADS_RINGS_H

#include "ThreadContext.h"

namespace kiln {

/// The channel that a role's name for it stands for.
tile::ChannelOp findChannel(mlir::Value name);

/// The buffers of a slot, or where tensor memory has it.
llvm::SmallVector<mlir::Value> getSlot(ThreadContext &context, mlir::Value channel,
                                       mlir::Value slot);

/// The address (i32) of a channel's first slot in tensor memory.
mlir::Value getTensorAddress(ThreadContext &context, mlir::Value channel);
// Set aside what all channels there have, and give it back.
mlir::LogicalResult lowerAllocTensor(ThreadContext &context, tile::AllocTensorOp op);
mlir::LogicalResult lowerFreeTensor(ThreadContext &context, tile::FreeTensorOp op);

/// Whether this is the first program of its pair, which starts what both do together (i1).
mlir::Value isFirstOfPair(ThreadContext &context);

/// The barrier that the copies of the tile.put around them tell of their bytes, and whether it is
/// that of a pair's first program.
struct PutState {
  mlir::Value barrier;
  bool ofPair = false;
};

/// LLVM's alias scopes of a slot of an own ring, and of all other slots.
struct SlotScopes {
  mlir::ArrayAttr own, others;
};
SlotScopes getSlotScopes(ThreadContext &context, mlir::Value buffer);
/// A part of a slot is of its scope.
void setPartOfSlot(ThreadContext &context, mlir::Value part, mlir::Value buffer);
/// What `emit` makes accesses a slot.
void accessSlot(ThreadContext &context, mlir::Value buffer, llvm::function_ref<void()> emit);

// Ops of an own ring.
void lowerOwnChannel(ThreadContext &context, tile::ChannelOp op);
mlir::LogicalResult lowerOwnPut(ThreadContext &context, tile::PutOp op);
void lowerOwnGet(ThreadContext &context, tile::GetOp op);
/// The share of each lane and warp, an instruction a turn.
mlir::LogicalResult lowerDirectCopy(ThreadContext &context, tile::CopyInOp op);

} // namespace kiln

#endif // KILN_LIB_TARGET_COMMON_THREADS_RINGS_H
