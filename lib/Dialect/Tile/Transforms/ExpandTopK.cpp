// The largest elements, as the head of all elements in order.
#include "kiln/Dialect/Tile/Transforms/Passes.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

using namespace mlir;

namespace kiln::tile {
#define GEN_PASS_DEF_EXPANDTOPK
#include "kiln/Dialect/Tile/Transforms/Passes.h.inc"

static LogicalResult expand(TopKOp op, PatternRewriter &rewriter) {
  Location loc = op.getLoc();
  RankedTensorType type = op.getInput().getType();
  RankedTensorType positions = type.clone(rewriter.getI32Type());
  Value iota = IotaOp::create(rewriter, loc, positions, op.getAxis());
  auto sort = SortOp::create(rewriter, loc, TypeRange{type, positions},
                             ValueRange{op.getInput(), iota}, op.getAxis(),
                             /*descending=*/!op.getSmallest(), op.getUnsignedKeys());
  SmallVector<int64_t> offsets(type.getRank(), 0);
  SmallVector<Value> heads;
  for (auto [sorted, result] : llvm::zip_equal(sort.getResults(), op.getResultTypes()))
    heads.push_back(SliceOp::create(rewriter, loc, result, sorted, offsets));
  rewriter.replaceOp(op, heads);
  return success();
}

namespace {
struct ExpandTopK : public impl::ExpandTopKBase<ExpandTopK> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add(expand);
    walkAndApplyPatterns(getOperation(), std::move(patterns));
  }
};
} // namespace
} // namespace kiln::tile
