// A matrix in shared memory as wgmma and tcgen05 read it.
//
// It is described to the instruction by 64 bits: the address of a block of 8 rows and how far the
// next block is, all in units of 16 bytes. With k along the rows (K-major) rows of the next 8 are
// `stride` away and further k lie within the row; with m or n along the rows (MN-major) the next 8
// of k are `stride` away and further m or n, beyond a row, `leading`.
#ifndef KILN_LIB_TARGET_NVPTX_SHAREDMATRIX_H
#define KILN_LIB_TARGET_NVPTX_SHAREDMATRIX_H

#include "kiln/Layout/Transforms/AsyncAtomInterfaces.h"

namespace kiln::nvptx {

/// How a matrix of elements of so many bits may lie, best first: in rows of 128, 64 or 32 bytes
/// whose pieces of 16 are permuted. MN-major, each product of `extent` of its m or n begins with a
/// row: it counts rows from where it begins.
std::vector<LinearLayout> getMatrixLayouts(llvm::ArrayRef<int64_t> shape, int64_t bits, bool alongK,
                                           int64_t extent);

class SharedMatrix {
public:
  /// Nothing if the operand lies in no such way. `constant` are bits that every descriptor of the
  /// instruction has.
  static std::optional<SharedMatrix> describe(mlir::OpBuilder &builder, mlir::Location loc,
                                              const AsyncDot::Operand &operand, int64_t bits,
                                              bool alongK, int64_t extent, uint64_t constant = 0);

  /// The descriptor (i64) of the part that begins at this m or n, and this k.
  mlir::Value at(int64_t x, int64_t k);

private:
  SharedMatrix(mlir::OpBuilder &builder, mlir::Location loc) : builder(&builder), loc(loc) {}

  mlir::OpBuilder *builder;
  mlir::Location loc;
  int64_t rows = 0, bytes = 0, span = 0;
  bool alongK = false;
  mlir::Value first;
};

} // namespace kiln::nvptx

#endif // KILN_LIB_TARGET_NVPTX_SHAREDMATRIX_H
