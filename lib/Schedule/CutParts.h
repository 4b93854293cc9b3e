// Cuts what makes a dot's operands into the parts that its parts take.
#ifndef KILN_LIB_SCHEDULE_CUTPARTS_H
#define KILN_LIB_SCHEDULE_CUTPARTS_H

#include "Decisions.h"
#include "kiln/Layout/Transforms/AtomFit.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"

namespace kiln {

/// A part of a value: what lies from these offsets on.
struct PartBox {
  llvm::SmallVector<int64_t> offsets, shape;
};

/// When the reads of a part run, or its dot, as far as that is pinned.
struct PartPlace {
  mlir::IntegerAttr stage, order;
  /// Whether the stage may be another than that of the whole dot.
  bool isOwn = false;
};

/// Of a tensor or a buffer.
llvm::ArrayRef<int64_t> getTileShape(mlir::Value value);
/// The type of a tensor's part; null if registers alone do not choose among its parts.
mlir::RankedTensorType getBoxType(mlir::Value tensor, llvm::ArrayRef<int64_t> shape);
/// How many dots in flight start when it does: its parts, unless some start in other trips.
inline int64_t countStarts(tile::DotOp dot) {
  auto [rows, columns, depth] = countParts(dot);
  return dot.getPartStages() ? 1 : rows * columns * depth;
}
/// What each part along m and n makes of a dot's result, by part of m, then of n.
llvm::SmallVector<PartBox> getSumBoxes(tile::DotOp dot);
/// The parts of such a result, beside one another.
mlir::Value joinParts(mlir::OpBuilder &builder, tile::DotOp dot, llvm::ArrayRef<mlir::Value> parts);
/// One part of a dot's operand a, of b, or of its sums (2): its number along m, n and k.
PartBox getPartBox(tile::DotOp dot, unsigned operand, std::array<int64_t, 3> part);
/// Whether a dot can be cut so: by its atom, and by the threads and the copies of the role that
/// have its tensors. Of what no layout is known yet nothing is asked.
mlir::LogicalResult checkParts(tile::DotOp dot, tile::RoleAttr role);
/// Takes the order off an op: it follows what stands in front of it.
void eraseOrder(mlir::Operation *op);

/// Cuts values, each part once.
class PartCutter {
public:
  explicit PartCutter(tile::DotOp dot) : dot(dot), builder(dot) {}
  mlir::Value cut(mlir::Value value, const PartBox &box);
  /// Reads that are made from now on are those of a part; the first of them has the order.
  void begin(unsigned part, PartPlace at);
  /// Erases what has been cut and is not used any more.
  void finish();
  /// How many reads have been made, and how many pieces come out of shared memory by themselves.
  size_t countReads() const { return reads.size(); }
  int64_t countPieces() const { return numPieces; }
  /// The parts whose reads make what a value is cut from.
  llvm::SetVector<unsigned> findReaders(mlir::Value value) const;

private:
  mlir::Value make(mlir::Value value, const PartBox &box);
  mlir::Value read(tile::ReadOp op, const PartBox &box);
  /// Says when what takes a part of a buffer runs: as another op does, or as is said of the part.
  void putInPlace(mlir::Operation *made, mlir::Operation *like, mlir::Value buffer);
  mlir::Value convert(tile::ConvertLayoutOp op, const PartBox &box);
  mlir::Value slice(mlir::Value value, const PartBox &box);
  mlir::Value takeInput(tile::ConcatOp op, const PartBox &box);
  /// A part of a value of which a larger part is there.
  mlir::Value sliceOf(mlir::Value whole, const PartBox &of, const PartBox &box);
  /// The part that has been made of a value; null if none has.
  mlir::Value &find(mlir::Value value, const PartBox &box) {
    return made[{value, builder.getDenseI64ArrayAttr(box.offsets),
                 builder.getDenseI64ArrayAttr(box.shape)}];
  }
  bool isForDotAlone(mlir::Operation *op) const;
  /// Another op's like, of a part.
  mlir::Operation *clone(mlir::Operation *op, mlir::ValueRange operands, const PartBox &box);

  tile::DotOp dot;
  mlir::OpBuilder builder;
  llvm::DenseMap<std::tuple<mlir::Value, mlir::Attribute, mlir::Attribute>, mlir::Value> made;
  int64_t numPieces = 0;
  unsigned part = 0;
  PartPlace place;
  /// By read, the part for which it was made.
  llvm::DenseMap<mlir::Operation *, unsigned> reads;
  /// Users before what makes their operands.
  llvm::SetVector<mlir::Operation *> replaced;
};

} // namespace kiln

#endif // KILN_LIB_SCHEDULE_CUTPARTS_H
