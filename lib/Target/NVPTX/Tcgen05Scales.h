// The scales of blocks, as tcgen05.mma reads them in tensor memory (PTX ISA, "Block scaling").
//
// The scales of four blocks along k are the bytes of a column's 32 bits, those of rows 32 i to
// 32 i + 31 the lanes of column i, and all of it is there once for each warp of four: 128 rows of
// four blocks take four columns. Further blocks are behind all rows. An instruction takes one, two
// or four bytes of a column, from the one on that its descriptor names.
#ifndef KILN_LIB_TARGET_NVPTX_TCGEN05SCALES_H
#define KILN_LIB_TARGET_NVPTX_TCGEN05SCALES_H

#include "kiln/Layout/Algebra/LinearLayout.h"
#include "mlir/IR/Builders.h"
#include <optional>

namespace kiln::nvptx {

/// Who holds which of [rows, blocks] scales to write them, each warp all; none if blocks are
/// neither one, two nor a multiple of four.
std::optional<LinearLayout> getTensorScaleLayout(llvm::ArrayRef<int64_t> shape, unsigned warps);

/// Writes scales that are held so; does not wait.
void storeScales(mlir::OpBuilder &builder, mlir::Location loc,
                 llvm::ArrayRef<mlir::Value> registers, mlir::Value address,
                 const LinearLayout &layout);

/// Where the scales begin of rows from this one on, which is a multiple of 32, and of a block.
struct ScalePlace {
  int64_t column, byte;
};
ScalePlace findScale(llvm::ArrayRef<int64_t> shape, int64_t row, int64_t block);

} // namespace kiln::nvptx

#endif // KILN_LIB_TARGET_NVPTX_TCGEN05SCALES_H
