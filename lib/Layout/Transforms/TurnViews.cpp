// Turns views so that what a copy atom brings lies along their last dimension.
#include "kiln/Dialect/Tile/IR/ArgumentViews.h"
#include "kiln/Layout/Transforms/AtomFit.h"
#include "kiln/Layout/Transforms/Passes.h"
#include "llvm/ADT/STLExtras.h"

namespace kiln {
#define GEN_PASS_DEF_TURNVIEWS
#include "kiln/Layout/Transforms/Passes.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

SmallVector<int64_t> kiln::findTurn(LoadOp load) {
  if (!isa<BlockArgument>(load.getView()) || load.getExtents() || load.getBuffer() ||
      load.getDropped())
    return {};
  SmallVector<int64_t> order = findRowOrder(load.getView().getType());
  return llvm::is_sorted(order) ? SmallVector<int64_t>() : order;
}

static void turn(LoadOp load) {
  SmallVector<int64_t> order = findTurn(load);
  if (order.empty())
    return;
  OpBuilder builder(load);
  SubviewOp view = turnView(builder, load.getLoc(), cast<BlockArgument>(load.getView()), order);
  SmallVector<Value> offsets;
  SmallVector<int64_t> shape;
  for (int64_t dim : order) {
    offsets.push_back(load.getOffsets()[dim]);
    shape.push_back(load.getType().getDimSize(dim));
  }
  auto turned = cast<LoadOp>(builder.clone(*load));
  turned.getViewMutable().assign(view.getResult());
  turned.getOffsetsMutable().assign(offsets);
  turned.getResult().setType(RankedTensorType::get(shape, load.getType().getElementType()));

  SmallVector<int64_t> inverse(order.size());
  for (auto [at, dim] : llvm::enumerate(order))
    inverse[dim] = at;
  Value back =
      TransposeOp::create(builder, load.getLoc(), load.getType(), turned.getResult(), inverse);
  load.replaceAllUsesWith(back);
  load.erase();
}

namespace {
struct TurnViews : kiln::impl::TurnViewsBase<TurnViews> {
  void runOnOperation() override {
    getOperation().walk([](LoadOp load) {
      if (load.getAtomAttr())
        turn(load);
    });
  }
};
} // namespace
