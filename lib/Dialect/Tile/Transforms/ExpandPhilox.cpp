// Philox 4x32-10 as arithmetic on tensors. Salmon et al., "Parallel random numbers: as easy as
// 1, 2, 3", SC 2011.
#include "kiln/Dialect/Tile/Transforms/Passes.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

using namespace mlir;

namespace kiln::tile {
#define GEN_PASS_DEF_EXPANDPHILOX
#include "kiln/Dialect/Tile/Transforms/Passes.h.inc"

static LogicalResult expand(PhiloxOp op, PatternRewriter &rewriter) {
  constexpr uint32_t multipliers[2] = {0xD2511F53, 0xCD9E8D57};
  constexpr uint32_t weyl[2] = {0x9E3779B9, 0xBB67AE85};
  Location loc = op.getLoc();
  RankedTensorType type = op.getCounter().getType();
  Type i32 = rewriter.getI32Type();
  auto scalar = [&](uint32_t value) -> Value {
    return arith::ConstantOp::create(rewriter, loc, rewriter.getI32IntegerAttr(value));
  };
  auto splat = [&](Value value) -> Value { return SplatOp::create(rewriter, loc, type, value); };
  auto exclusiveOr = [&](Value x, Value y) -> Value {
    return arith::XOrIOp::create(rewriter, loc, x, y);
  };

  Value shift = arith::ConstantOp::create(rewriter, loc, rewriter.getI64IntegerAttr(32));
  Value seedHigh = arith::ShRUIOp::create(rewriter, loc, op.getSeed(), shift);
  Value key[2] = {arith::TruncIOp::create(rewriter, loc, i32, op.getSeed()),
                  arith::TruncIOp::create(rewriter, loc, i32, seedHigh)};
  Value zero = splat(scalar(0));
  Value words[4] = {op.getCounter(), splat(op.getStream()), zero, zero};
  for (int round = 0; round < 10; ++round) {
    auto first =
        arith::MulUIExtendedOp::create(rewriter, loc, words[0], splat(scalar(multipliers[0])));
    auto second =
        arith::MulUIExtendedOp::create(rewriter, loc, words[2], splat(scalar(multipliers[1])));
    words[0] = exclusiveOr(exclusiveOr(second.getHigh(), words[1]), splat(key[0]));
    words[2] = exclusiveOr(exclusiveOr(first.getHigh(), words[3]), splat(key[1]));
    words[1] = second.getLow();
    words[3] = first.getLow();
    for (int half = 0; half < 2; ++half)
      key[half] = arith::AddIOp::create(rewriter, loc, key[half], scalar(weyl[half]));
  }
  rewriter.replaceOp(op, ValueRange(words));
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
