// What is known of shared memory before any op is lowered to threads.
#ifndef KILN_LIB_TARGET_COMMON_THREADS_THREADPLANS_H
#define KILN_LIB_TARGET_COMMON_THREADS_THREADPLANS_H

#include "kiln/Layout/Transforms/SharedLayout.h"
#include "kiln/Target/Common/SharedPieces.h"
#include "kiln/Target/Common/Threads.h"

namespace kiln {

/// Where the parts of a channel are in its memory, in bytes; each buffer has its slots in a row.
struct ChannelPlan {
  llvm::SmallVector<int64_t> offsets, bytes; ///< of each buffer's first slot, and of one slot
  int64_t full, empty;                       ///< of the barriers
  int64_t end;                               ///< of the barrier that tells of all products' end
  int64_t address;                           ///< of where tensor memory is, if slots are there
  int64_t total;
};
ChannelPlan planChannel(tile::ChannelType type);

/// From the places of a tensor to the offsets of a buffer, in elements.
LinearLayout getBufferOffsets(const LinearLayout &tensor, tile::BufferType buffer);
/// By which the offsets of a part that is read differ from those; over F2, as they are.
int64_t getStart(tile::ReadOp op);

/// How far apart the scratch of the copies of a role lies.
int64_t getRoleScratchStep(mlir::Operation *op);

/// The numbers of a role's barriers: one a copy of each role, then one a role. Behind the block's.
struct RoleBarriers {
  int64_t first;  ///< of its first copy
  int64_t shared; ///< of all its copies
};
RoleBarriers numberBarriers(tile::WarpGroupsOp op, unsigned number);

/// Tells in the metadata by which protocol warps hand data to one another.
void describeProtocol(tile::KernelOp kernel, TargetInterface target);
/// Tells in the metadata what each move of a tile costs: widths, instructions, bank conflicts.
void explainMoves(tile::KernelOp kernel, TargetInterface target);

/// Rebuilds a kernel as the function that one thread runs.
mlir::LogicalResult lowerKernelToThreads(tile::KernelOp kernel, TargetInterface target);

} // namespace kiln

#endif // KILN_LIB_TARGET_COMMON_THREADS_THREADPLANS_H
