// Tensor memory, as threads reach it.
#ifndef KILN_LIB_TARGET_NVPTX_TCGEN05_H
#define KILN_LIB_TARGET_NVPTX_TCGEN05_H

#include "mlir/IR/Builders.h"

namespace kiln::nvptx {

/// Of an instruction of one block.
inline constexpr int64_t kRows = 128, kHalfRows = 64;
/// Each of which reaches a quarter of the lanes.
inline constexpr int64_t kWarpsOfGroup = 4, kLanesOfWarp = 32;
/// Of a lane in one column.
inline constexpr int64_t kColumnBits = 32;

/// Of 64 rows: the columns that one half of a warp fetches before those of the other half. Boxes of
/// 32 columns or more are whole registers of every thread.
int64_t getColumnsOfHalf(int64_t columns);

/// An i32.
mlir::Value number(mlir::OpBuilder &builder, mlir::Location loc, int64_t value);
/// So many columns behind an address, as a pointer.
mlir::Value getTensorPointer(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value address,
                             int64_t columns);
/// An address of the lanes that this thread's warp reaches.
mlir::Value reachOwnLanes(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value address);

} // namespace kiln::nvptx

#endif // KILN_LIB_TARGET_NVPTX_TCGEN05_H
