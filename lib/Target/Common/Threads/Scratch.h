// Scratch in shared memory, element by element: what ops need that move elements where no linear
// map does.
#ifndef KILN_LIB_TARGET_COMMON_THREADS_SCRATCH_H
#define KILN_LIB_TARGET_COMMON_THREADS_SCRATCH_H

#include "ThreadContext.h"

namespace kiln {

/// Row-major strides of a shape; with an axis, as if it were the last dimension.
llvm::SmallVector<int64_t> getStrides(llvm::ArrayRef<int64_t> shape, int64_t axis = -1);

/// Element `at` (i32) of an array in shared memory.
mlir::Value loadScratch(ThreadContext &context, mlir::Value base, mlir::Value at,
                        mlir::Type element);
void storeScratch(ThreadContext &context, mlir::Value base, mlir::Value at, mlir::Value element);
mlir::Value offsetScratch(ThreadContext &context, mlir::Value base, int64_t bytes);

/// start + the sum of a register's coordinates times strides, as i32.
mlir::Value getFlatIndex(ThreadContext &context, const ThreadPlace &place, int64_t reg,
                         llvm::ArrayRef<int64_t> strides, int64_t start = 0);
/// Stores the registers of a tensor at such indices, and loads them.
void scatterScratch(ThreadContext &context, mlir::Value base, mlir::Value tensor,
                    llvm::ArrayRef<int64_t> strides, int64_t start = 0);
llvm::SmallVector<mlir::Value> gatherScratch(ThreadContext &context, mlir::Value base,
                                             const LinearLayout &layout,
                                             llvm::ArrayRef<int64_t> strides, int64_t start,
                                             mlir::Type element);

/// Runs `body` for each i32 of this thread's share of 0 to `count`.
void forShare(ThreadContext &context, int64_t count, llvm::function_ref<void(mlir::Value)> body);
/// Whether a register's coordinates are below a tile's extents; null if they always are.
mlir::Value isWithinTile(ThreadContext &context, const ThreadPlace &place, int64_t reg,
                         llvm::ArrayRef<int64_t> extents);

} // namespace kiln

#endif // KILN_LIB_TARGET_COMMON_THREADS_SCRATCH_H
