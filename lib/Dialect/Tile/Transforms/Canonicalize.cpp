// Upstream's canonicalisation without the patterns that change values.
#include "kiln/Dialect/Tile/Transforms/Passes.h"
#include "kiln/Dialect/Tile/Transforms/Undecided.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace kiln::tile {
#define GEN_PASS_DEF_CANONICALIZE
#include "kiln/Dialect/Tile/Transforms/Passes.h.inc"

namespace {
/// There and back is nothing, unless the type between is narrower.
template <typename CastOp>
struct CancelCasts : public OpRewritePattern<CastOp> {
  using OpRewritePattern<CastOp>::OpRewritePattern;

  LogicalResult matchAndRewrite(CastOp op, PatternRewriter &rewriter) const override {
    auto first = op.getIn().template getDefiningOp<CastOp>();
    if (!first || first.getIn().getType() != op.getType())
      return failure();
    auto width = [](Value value) {
      Type type = getElementTypeOrSelf(value);
      return type.isIndex() ? IndexType::kInternalStorageBitWidth : type.getIntOrFloatBitWidth();
    };
    if (width(first.getOut()) < width(first.getIn()))
      return failure();
    rewriter.replaceOp(op, first.getIn());
    return success();
  }
};
} // namespace

/// Patterns of MLIR 22 that change values, by the names that they have for debugging. Later
/// releases mend them.
static SmallVector<std::string> nameUnsoundPatterns() {
  return {
      // A cast of a cast is its operand, even if the type between is narrower
      // (llvm/llvm-project#90296).
      "(anonymous namespace)::IndexCastOfIndexCast",
      "(anonymous namespace)::IndexCastUIOfIndexCastUI",
      // The result of an `if` that a loop's condition forwards twice becomes another branch's value
      // (llvm/llvm-project#219456).
      "(anonymous namespace)::WhileMoveIfDown",
  };
}

FrozenRewritePatternSet findSoundPatterns(MLIRContext *context) {
  RewritePatternSet patterns(context);
  for (Dialect *dialect : context->getLoadedDialects())
    dialect->getCanonicalizationPatterns(patterns);
  for (RegisteredOperationName op : context->getRegisteredOperations())
    op.getCanonicalizationPatterns(patterns, context);
  patterns.add<CancelCasts<arith::IndexCastOp>, CancelCasts<arith::IndexCastUIOp>>(context);
  return FrozenRewritePatternSet(std::move(patterns), nameUnsoundPatterns());
}

namespace {
struct Canonicalize : public impl::CanonicalizeBase<Canonicalize> {
  LogicalResult initialize(MLIRContext *context) override {
    patterns = std::make_shared<const FrozenRewritePatternSet>(findSoundPatterns(context));
    return success();
  }
  void runOnOperation() override {
    GreedyRewriteConfig config;
    config.setUseTopDownTraversal(true).setRegionSimplificationLevel(
        GreedySimplifyRegionLevel::Normal);
    // What has not settled after the driver's rounds is right as it is.
    (void)applyPatternsGreedily(getOperation(), *patterns, config);
  }
  std::shared_ptr<const FrozenRewritePatternSet> patterns;
};
} // namespace
} // namespace kiln::tile
