// What copies of a role do together. Reductions and scans along what they share out: each makes a
// partial result of its part, and all of them combine these. Tensors that they share out otherwise
// than before, or of which each needs all: each writes its part, and reads what it needs.
#ifndef KILN_LIB_SCHEDULE_ACROSSCOPIES_H
#define KILN_LIB_SCHEDULE_ACROSSCOPIES_H

#include "kiln/Dialect/Tile/IR/Tile.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

namespace kiln {

/// Whether a reduction or a scan, of tensors as the whole role has them, goes along the dimension
/// that the copies of the role share out.
bool isAcrossCopies(mlir::Operation *op, tile::RoleAttr role);
/// The buffers that the partial results of one copy take, one a result, and which of those of its
/// type each of them is: ops that are made one after another have the same.
llvm::SmallVector<std::pair<tile::BufferType, unsigned>> getPartialBuffers(mlir::Operation *op);

/// How copies share out a tensor, and then share it out otherwise: along which dimensions, where -1
/// is that each has all.
struct ShareChange {
  int from, to;
  int64_t copies;
};

/// The buffer of one copy's share of a tensor, of which others take theirs or all: as part of
/// `wanted`, if what they take is one piece of that, else otherwise. Null if there is none.
tile::BufferType findShareBuffer(tile::BufferType wanted, const ShareChange &change);

/// Lets the copies of a role combine what each has made of its part.
class CopyCombiner {
public:
  CopyCombiner(tile::WarpGroupsOp groups, unsigned number) : groups(groups), number(number) {}

  /// `op` has this copy's share of each tensor already; `copy` is the copy's number.
  void combine(mlir::Operation *op, mlir::Value copy);
  /// Lets each take its share of the result of a conversion, or all of it, through such buffers: of
  /// its input it has its share.
  void exchange(tile::ConvertLayoutOp op, tile::BufferType type, const ShareChange &change,
                mlir::Value copy);

private:
  llvm::SmallVector<mlir::Value> getBuffers(std::pair<tile::BufferType, unsigned> key);
  /// By copy, what each made, in tensors of these types.
  using Partials = llvm::SmallVector<llvm::SmallVector<mlir::Value>>;
  Partials exchange(mlir::OpBuilder &builder, mlir::Operation *op, mlir::Value copy,
                    llvm::ArrayRef<mlir::Value> own, llvm::ArrayRef<mlir::RankedTensorType> types);
  void combine(tile::ReduceOp op, mlir::Value copy);
  void combine(tile::ScanOp op, mlir::Value copy);

  tile::WarpGroupsOp groups;
  unsigned number;
  /// Of the program, as the role sees them: one a copy.
  llvm::DenseMap<std::pair<tile::BufferType, unsigned>, llvm::SmallVector<mlir::Value>> buffers;
};

} // namespace kiln

#endif // KILN_LIB_SCHEDULE_ACROSSCOPIES_H
