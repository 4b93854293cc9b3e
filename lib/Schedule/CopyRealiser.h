// Shares the tensors of one role out among its copies: what stands in the role is looked at and
// checked as a whole before any of it is changed.
#ifndef KILN_LIB_SCHEDULE_COPYREALISER_H
#define KILN_LIB_SCHEDULE_COPYREALISER_H

#include "AcrossCopies.h"
#include "Boxes.h"
#include "kiln/Layout/Transforms/DistributionInterface.h"
#include "kiln/Target/Common/SharedPieces.h"
#include "llvm/ADT/MapVector.h"

namespace kiln {

/// A tensor's type as one copy sees it.
struct Share {
  mlir::RankedTensorType type;
  /// The dimension that is shared out; -1 if each copy has all of it.
  int dim = -1;
};

/// The dimension along which copies of a role have parts of a tensor, by its layout; -1 if each has
/// all of it.
int findDividedDim(mlir::RankedTensorType tensor, tile::RoleAttr role);
/// What one copy has of a tensor, by the bits of `warp` above those of one copy. An error of `op`
/// if it has no consecutive rows or columns.
mlir::FailureOr<Share> divideTensor(mlir::Operation *op, mlir::RankedTensorType tensor,
                                    tile::RoleAttr role);

/// What each copy of a role brings of a buffer that engines fill, in boxes of its own. An error at
/// the copy if they have no equal parts.
mlir::FailureOr<SharedStrips> shareOutBuffer(mlir::Operation *copy, tile::BufferType whole,
                                             mlir::Attribute atom, tile::RoleAttr role);

/// The part of a buffer that a dot reads as a window; null if it reads all that it is given.
tile::PartOp getWindow(mlir::Value operand);
/// The value of an access that changes elements of a tensor each once, or null.
mlir::Value getAtomicTensor(mlir::Operation *op);

/// Rewrites one role's region.
class CopyRealiser : public CopyShares {
public:
  CopyRealiser(tile::WarpGroupsOp groups, unsigned number)
      : region(groups.getBodies()[number]), role(groups.getRole(number)), combiner(groups, number) {
  }

  mlir::LogicalResult realise();

private:
  mlir::LogicalResult look(mlir::Operation *op, mlir::Value value);
  mlir::LogicalResult check(mlir::Operation *op);
  bool keepsTogether(mlir::Value buffer, int dim, mlir::Value tensor,
                     bool isOfProduct) const override;
  mlir::LogicalResult checkPut(tile::PutOp put);
  void shift(mlir::Operation *op);
  void shiftCopy(tile::CopyInOp copyIn);
  void shiftIota(tile::IotaOp iota);
  void maskOthers(mlir::Operation *atomic);
  ShareChange getChange(tile::ConvertLayoutOp op) const {
    return {getDim(op.getInput()), getDim(op.getResult()), role.getCopies()};
  }
  tile::BufferType findBuffer(tile::ConvertLayoutOp op);
  void spread(tile::ConvertLayoutOp op);
  void retype(mlir::Value value, mlir::RankedTensorType tensor);
  int getDim(mlir::Value value) const override {
    auto at = shares.find(value);
    return at == shares.end() ? -1 : at->second.dim;
  }
  /// This copy's offset along the dimension that a value is shared out along.
  mlir::Value getOffset(mlir::OpBuilder &builder, mlir::Value value) {
    const Share &share = shares.find(value)->second;
    IndexMath math{builder, value.getLoc()};
    return math.mul(copy, math.constant(share.type.getDimSize(share.dim)));
  }
  mlir::Value getPart(mlir::OpBuilder &builder, mlir::Value operand, int dim,
                      mlir::Value accumulator);

  mlir::Region &region;
  tile::RoleAttr role;
  mlir::Value copy;
  llvm::MapVector<mlir::Value, Share> shares;
  /// Of what an engine brings: the part of one copy.
  llvm::DenseMap<mlir::Operation *, SharedStrips> parts;
  /// Atomic accesses by tensors of which each copy has all.
  llvm::SmallVector<mlir::Operation *> wholeAtomics;
  /// Conversions of what each copy has all of to what they share out.
  llvm::SmallVector<tile::ConvertLayoutOp> spreads;
  /// Conversions of what they share out to what each has all of, or to what they share out along
  /// another dimension: what changes, as it is before any op is replaced.
  llvm::SmallVector<std::pair<tile::ConvertLayoutOp, ShareChange>> exchanges;
  /// Through which both go.
  llvm::DenseMap<mlir::Operation *, tile::BufferType> buffers;
  /// Reductions and scans along what they share out.
  llvm::SmallVector<mlir::Operation *> across;
  CopyCombiner combiner;
};

} // namespace kiln

#endif // KILN_LIB_SCHEDULE_COPYREALISER_H
