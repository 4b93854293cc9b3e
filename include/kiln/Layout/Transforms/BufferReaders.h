// Who reads and writes a tile in shared memory, and in which orders it can lie there for that.
#ifndef KILN_LAYOUT_TRANSFORMS_BUFFERREADERS_H
#define KILN_LAYOUT_TRANSFORMS_BUFFERREADERS_H

#include "kiln/Dialect/Tile/IR/Tile.h"
#include "kiln/Layout/Algebra/LinearLayout.h"

namespace kiln {

/// An op that reads a tile in a buffer, or writes it.
struct BufferReader {
  /// A product in flight, and which of its operands the tile is; or a tensor in registers.
  tile::DotOp dot;
  unsigned operand = 0;
  mlir::Value tensor;
  /// The copies of the role that runs it.
  int64_t copies = 1;
  /// Who of them has what of the product's sum, or of the tensor, where types do not say it yet.
  std::optional<LinearLayout> known;

  static BufferReader ofDot(mlir::OpOperand &use);
  /// For an op of a role.
  static BufferReader ofLanes(mlir::Value tensor, mlir::Operation *user);

  LinearLayout getLayout() const;
};

/// What each copy finds of a tile of this shape, if copies have the product's sum or the tensor so.
llvm::SmallVector<int64_t> getShare(const BufferReader &reader, const LinearLayout &layout,
                                    llvm::ArrayRef<int64_t> shape);

/// The orders in which a product takes a tile of this shape.
std::vector<LinearLayout> getAdmitted(const BufferReader &reader, llvm::ArrayRef<int64_t> shape);

/// Whether each copy finds its share of a buffer of this order in one piece, as its product takes
/// it; or if `asWindow`, in a window of a buffer that the product takes.
bool admits(const LinearLayout &order, const BufferReader &reader, mlir::RankedTensorType type,
            bool asWindow = false);

/// Orders of a tile that lanes of this layout can write so that all readers admit it, at least one
/// of which is a product.
std::vector<LinearLayout> findWrittenOrders(const LinearLayout &written, int64_t copies,
                                            llvm::ArrayRef<BufferReader> readers,
                                            mlir::RankedTensorType type);

/// Orders of a tile of this shape in which its shares, which lie in one of `orders`, follow one
/// another.
std::vector<LinearLayout> repeatOrders(std::vector<LinearLayout> orders,
                                       llvm::ArrayRef<int64_t> shape);

} // namespace kiln

#endif // KILN_LAYOUT_TRANSFORMS_BUFFERREADERS_H
