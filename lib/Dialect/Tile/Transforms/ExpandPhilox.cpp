// Philox.h: ten rounds of two products each.
#include "kiln/Dialect/Tile/Transforms/Passes.h"
#include "kiln/Dialect/Tile/Transforms/Philox.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

using namespace mlir;

namespace kiln::tile {
#define GEN_PASS_DEF_EXPANDPHILOX
#include "kiln/Dialect/Tile/Transforms/Passes.h.inc"

SmallVector<Value> expandPhilox(OpBuilder &builder, Location loc, Value seed, Value stream,
                                Value counter) {
  constexpr uint32_t multipliers[2] = {0xD2511F53, 0xCD9E8D57};
  constexpr uint32_t weyl[2] = {0x9E3779B9, 0xBB67AE85};
  auto type = cast<RankedTensorType>(counter.getType());
  auto tileOf = [&](Value value) -> Value {
    if (isa<RankedTensorType>(value.getType()))
      return value;
    return SplatOp::create(builder, loc, type.clone(value.getType()), value);
  };
  // As what is computed with is: a scalar, or a tile.
  auto constant = [&](Type like, int64_t value) -> Value {
    TypedAttr attr = builder.getIntegerAttr(getElementTypeOrSelf(like), value);
    if (auto tensor = dyn_cast<RankedTensorType>(like))
      attr = DenseElementsAttr::get(tensor, cast<Attribute>(attr));
    return arith::ConstantOp::create(builder, loc, attr);
  };
  auto scalar = [&](uint32_t value) -> Value {
    return arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(value));
  };
  auto exclusiveOr = [&](Value x, Value y) -> Value {
    return arith::XOrIOp::create(builder, loc, x, y);
  };

  Type i32 = builder.getI32Type();
  if (auto tensor = dyn_cast<RankedTensorType>(seed.getType()))
    i32 = tensor.clone(i32);
  Value shift = constant(seed.getType(), 32);
  Value seedHigh = arith::ShRUIOp::create(builder, loc, seed, shift);
  Value key[2] = {arith::TruncIOp::create(builder, loc, i32, seed),
                  arith::TruncIOp::create(builder, loc, i32, seedHigh)};
  Value zero = tileOf(scalar(0));
  Value words[4] = {counter, tileOf(stream), zero, zero};
  for (int round = 0; round < 10; ++round) {
    auto first =
        arith::MulUIExtendedOp::create(builder, loc, words[0], tileOf(scalar(multipliers[0])));
    auto second =
        arith::MulUIExtendedOp::create(builder, loc, words[2], tileOf(scalar(multipliers[1])));
    words[0] = exclusiveOr(exclusiveOr(second.getHigh(), words[1]), tileOf(key[0]));
    words[2] = exclusiveOr(exclusiveOr(first.getHigh(), words[3]), tileOf(key[1]));
    words[1] = second.getLow();
    words[3] = first.getLow();
    for (int half = 0; half < 2; ++half)
      key[half] =
          arith::AddIOp::create(builder, loc, key[half], constant(i32, int32_t(weyl[half])));
  }
  return {words[0], words[1], words[2], words[3]};
}

static LogicalResult expand(PhiloxOp op, PatternRewriter &rewriter) {
  rewriter.replaceOp(
      op, expandPhilox(rewriter, op.getLoc(), op.getSeed(), op.getStream(), op.getCounter()));
  return success();
}

namespace {
struct ExpandPhilox : public impl::ExpandPhiloxBase<ExpandPhilox> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add(expand);
    walkAndApplyPatterns(getOperation(), std::move(patterns));
  }
};
} // namespace
} // namespace kiln::tile
