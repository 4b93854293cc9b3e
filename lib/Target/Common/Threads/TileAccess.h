// Tiles of views: the ways that loads, stores and copies take to them.
#ifndef KILN_LIB_TARGET_COMMON_THREADS_TILEACCESS_H
#define KILN_LIB_TARGET_COMMON_THREADS_TILEACCESS_H

#include "ThreadContext.h"
#include "kiln/Layout/Transforms/AsyncAtomInterfaces.h"

namespace kiln {

/// Whether the hardware checks bounds.
bool hasBoundedMemory(ThreadContext &context);
/// Whether the hardware's bounds serve this access, which is then lowered.
bool lowerBoundedLoad(ThreadContext &context, tile::LoadOp op);
bool lowerBoundedStore(ThreadContext &context, tile::StoreOp op);

/// Whether the tile is ragged, and then lowered.
bool lowerRaggedLoad(ThreadContext &context, tile::LoadOp op);
bool lowerRaggedStore(ThreadContext &context, tile::StoreOp op);

/// Tiles of elements that share bytes.
void lowerPackedLoad(ThreadContext &context, tile::LoadOp op);
void lowerPackedStore(ThreadContext &context, tile::StoreOp op);

/// Where the lanes copy from, turn by turn: by addresses, or by descriptors.
using EmitCopy = llvm::function_ref<void(int64_t turn, DirectCopy copy)>;
mlir::LogicalResult forEachAddress(ThreadContext &context, tile::CopyInOp op,
                                   const LinearLayout &shares, DirectAtomInterface atom,
                                   EmitCopy emit);
mlir::LogicalResult forEachOffset(ThreadContext &context, tile::CopyInOp op,
                                  const LinearLayout &shares, EmitCopy emit);

} // namespace kiln

#endif // KILN_LIB_TARGET_COMMON_THREADS_TILEACCESS_H
