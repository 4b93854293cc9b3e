// Shared memory: where it is, and how registers go to it and come back.
#ifndef KILN_LIB_TARGET_COMMON_THREADS_SHAREDACCESS_H
#define KILN_LIB_TARGET_COMMON_THREADS_SHAREDACCESS_H

#include "ThreadContext.h"

namespace kiln {

/// Where the buffer or the scratch of an op is.
mlir::Value getShared(ThreadContext &context, mlir::Operation *op);
/// So many bytes (i32) behind.
mlir::Value getSharedAt(ThreadContext &context, mlir::Value base, mlir::Value bytes);
mlir::Value getElementPointer(ThreadContext &context, mlir::Value base, mlir::Type stored,
                              mlir::Value index);

/// What shared memory holds for an element, a whole number of bytes, and the way there and back.
mlir::Type getSharedType(mlir::Type element);
mlir::Value toShared(ThreadContext &context, mlir::Value element);
mlir::Value fromShared(ThreadContext &context, mlir::Value element, mlir::Type type);

/// Moves registers to or from shared memory whose element offsets are `offsets`' only coordinate,
/// xor `start`.
void writeShared(ThreadContext &context, mlir::Value base, const LinearLayout &offsets,
                 llvm::ArrayRef<mlir::Value> elements);
llvm::SmallVector<mlir::Value> readShared(ThreadContext &context, mlir::Value base,
                                          const LinearLayout &offsets, int64_t start,
                                          mlir::Type element);
/// The same by a copy atom, each lane naming a row.
llvm::SmallVector<mlir::Value> readRows(ThreadContext &context, mlir::Value base,
                                        const LinearLayout &offsets, int64_t start,
                                        mlir::Type element, WarpCopyAtomInterface atom);
void writeRows(ThreadContext &context, mlir::Value base, const LinearLayout &offsets,
               WarpCopyAtomInterface atom, llvm::ArrayRef<mlir::Value> elements);

} // namespace kiln

#endif // KILN_LIB_TARGET_COMMON_THREADS_SHAREDACCESS_H
