// Block-scaled operands, dequantised to f32 before an ordinary dot.
#include "kiln/Dialect/Tile/Transforms/Passes.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

using namespace mlir;

namespace kiln::tile {
#define GEN_PASS_DEF_EXPANDDOTSCALED
#include "kiln/Dialect/Tile/Transforms/Passes.h.inc"

static Value widen(OpBuilder &builder, Location loc, TypedValue<RankedTensorType> value) {
  return arith::ExtFOp::create(builder, loc, value.getType().clone(builder.getF32Type()), value);
}

static Value reshape(OpBuilder &builder, Location loc, ArrayRef<int64_t> shape, Value value) {
  auto type = RankedTensorType::get(shape, builder.getF32Type());
  return ReshapeOp::create(builder, loc, type, value);
}

/// `matrix` times its scales, [outer, blocks]; K runs along dimension `axis` of the matrix.
static Value dequantise(OpBuilder &builder, Location loc, TypedValue<RankedTensorType> matrix,
                        TypedValue<RankedTensorType> scales, int64_t axis) {
  int64_t outer = scales.getType().getDimSize(0), blocks = scales.getType().getDimSize(1);
  int64_t block = matrix.getType().getDimSize(axis) / blocks;
  Value scale = widen(builder, loc, scales);
  SmallVector<int64_t> narrow{outer, blocks, 1}, full{outer, blocks, block};
  if (axis == 0) {
    auto type = RankedTensorType::get({blocks, outer}, builder.getF32Type());
    scale = TransposeOp::create(builder, loc, type, scale, ArrayRef<int64_t>{1, 0});
    narrow = {blocks, 1, outer};
    full = {blocks, block, outer};
  }
  scale = reshape(builder, loc, narrow, scale);
  auto type = RankedTensorType::get(full, builder.getF32Type());
  scale = BroadcastOp::create(builder, loc, type, scale);
  scale = reshape(builder, loc, matrix.getType().getShape(), scale);
  return arith::MulFOp::create(builder, loc, widen(builder, loc, matrix), scale);
}

static LogicalResult expand(DotScaledOp op, PatternRewriter &rewriter) {
  Location loc = op.getLoc();
  Value a = dequantise(rewriter, loc, op.getA(), op.getScaleA(), /*axis=*/1);
  Value b = dequantise(rewriter, loc, op.getB(), op.getScaleB(), op.getTransposeB() ? 1 : 0);
  auto dot = DotOp::create(rewriter, loc, op.getType(), a, b, op.getAccumulator(),
                           /*transpose_a=*/false, op.getTransposeB(), /*unsigned_a=*/false,
                           /*unsigned_b=*/false, DotPrecision::IEEE, /*atom=*/Attribute());
  rewriter.replaceOp(op, dot);
  return success();
}

namespace {
struct ExpandDotScaled : public impl::ExpandDotScaledBase<ExpandDotScaled> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add(expand);
    walkAndApplyPatterns(getOperation(), std::move(patterns));
  }
};
} // namespace
} // namespace kiln::tile
