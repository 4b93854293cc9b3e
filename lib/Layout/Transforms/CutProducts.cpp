// Makes products of much of k as sums of products of less.
#include "DecidedExtents.h"
#include "ProductCandidate.h"
#include "kiln/Dialect/Tile/IR/AccessDecisions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

/// Leaves so much of a value along a dimension.
static void shrink(Value value, unsigned dim, int64_t extent) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] = extent;
  value.setType(type.clone(shape));
}

/// So much of an operand from this place along k on, loaded by itself.
static Value cut(const OperandTile &tile, int64_t first, int64_t extent) {
  OpBuilder builder(tile.load);
  auto load = cast<LoadOp>(builder.clone(*tile.load));
  OpOperand &offset = load.getOffsetsMutable()[getViewDim(tile.dimK, load.getDropped())];
  builder.setInsertionPoint(load);
  if (first)
    offset.set(
        arith::AddIOp::create(builder, load.getLoc(), offset.get(),
                              arith::ConstantIndexOp::create(builder, load.getLoc(), first)));
  shrink(load, tile.dimK, extent);
  Value part = load;
  for (auto [view, dimK] : llvm::reverse(tile.views)) {
    builder.setInsertionPoint(view);
    Operation *copy = builder.clone(*view);
    copy->setOperand(0, part);
    part = copy->getResult(0);
    shrink(part, dimK, extent);
  }
  return part;
}

void kiln::cutProduct(DotOp dot) {
  OperandTile a(dot, 0), b(dot, 1);
  OpBuilder builder(dot);
  Value sum = dot.getAccumulator();
  DenseI64ArrayAttr decided = getDecidedExtents(dot);
  int64_t m = decided[0], n = decided[1], first = 0;
  for (int64_t piece : decided.asArrayRef().drop_front(2)) {
    auto part = cast<DotOp>(builder.clone(*dot));
    part.getAMutable().set(cut(a, first, piece));
    part.getBMutable().set(cut(b, first, piece));
    part.getAccumulatorMutable().set(sum);
    part->setAttr(kExtentsAttrName, builder.getDenseI64ArrayAttr({m, n, piece}));
    sum = part.getResult();
    first += piece;
  }
  dot.getResult().replaceAllUsesWith(sum);
  dot.erase();
  for (const OperandTile &tile : {a, b}) {
    for (auto [view, dimK] : tile.views)
      view->erase();
    tile.load->erase();
  }
}
