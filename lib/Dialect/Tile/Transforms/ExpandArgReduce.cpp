// The winning element and its position, as a reduction of pairs.
#include "kiln/Dialect/Tile/IR/TakeDecisions.h"
#include "kiln/Dialect/Tile/Transforms/Passes.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

using namespace mlir;

namespace kiln::tile {
#define GEN_PASS_DEF_EXPANDARGREDUCE
#include "kiln/Dialect/Tile/Transforms/Passes.h.inc"

/// The region says whether right beats left; left stands first, so that ties keep the lower
/// position.
static LogicalResult expand(ArgReduceOp op, PatternRewriter &rewriter) {
  Location loc = op.getLoc();
  RankedTensorType type = op.getInput().getType();
  RankedTensorType positions = type.clone(rewriter.getI32Type());
  Value iota = IotaOp::create(rewriter, loc, positions, op.getAxis());
  auto reduce = ReduceOp::create(rewriter, loc, op.getResultTypes(),
                                 ValueRange{op.getInput(), iota}, op.getAxis());
  takeDecisions(reduce, op);

  Type element = type.getElementType(), i32 = rewriter.getI32Type();
  Block *body = rewriter.createBlock(&reduce.getCombiner(), {}, {element, i32, element, i32},
                                     SmallVector<Location>(4, loc));
  Block &beats = op.getCombiner().front();
  IRMapping map;
  map.map(beats.getArgument(0), body->getArgument(0));
  map.map(beats.getArgument(1), body->getArgument(2));
  for (Operation &inner : beats.without_terminator())
    rewriter.clone(inner, map);
  Value wins = map.lookupOrDefault(cast<YieldOp>(beats.getTerminator()).getValues().front());
  Value value =
      arith::SelectOp::create(rewriter, loc, wins, body->getArgument(2), body->getArgument(0));
  Value position =
      arith::SelectOp::create(rewriter, loc, wins, body->getArgument(3), body->getArgument(1));
  YieldOp::create(rewriter, loc, ValueRange{value, position});
  rewriter.replaceOp(op, reduce);
  return success();
}

namespace {
struct ExpandArgReduce : public impl::ExpandArgReduceBase<ExpandArgReduce> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add(expand);
    walkAndApplyPatterns(getOperation(), std::move(patterns));
  }
};
} // namespace
} // namespace kiln::tile
