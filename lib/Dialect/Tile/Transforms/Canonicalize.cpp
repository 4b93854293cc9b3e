// Upstream's canonicalisation without the patterns that change values.
#include "kiln/Dialect/Tile/IR/Tile.h"
#include "kiln/Dialect/Tile/Transforms/Passes.h"
#include "kiln/Dialect/Tile/Transforms/Undecided.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/DialectInterface.h"
#include <mutex>

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

static FrozenRewritePatternSet collectSoundPatterns(MLIRContext *context) {
  RewritePatternSet patterns(context);
  for (Dialect *dialect : context->getLoadedDialects())
    dialect->getCanonicalizationPatterns(patterns);
  for (RegisteredOperationName op : context->getRegisteredOperations())
    op.getCanonicalizationPatterns(patterns, context);
  patterns.add<CancelCasts<arith::IndexCastOp>, CancelCasts<arith::IndexCastUIOp>>(context);
  return FrozenRewritePatternSet(std::move(patterns), nameUnsoundPatterns());
}

namespace {
/// The patterns of a context, for which a dozen passes of a compile ask: to collect those of two
/// thousand ops takes as long as to apply them to a small kernel.
class KeptPatterns : public DialectInterface::Base<KeptPatterns> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(KeptPatterns)

  KeptPatterns(Dialect *dialect) : Base(dialect) {}

  /// Dialects that were loaded since have patterns of their own.
  FrozenRewritePatternSet get(MLIRContext *context) {
    std::lock_guard<std::mutex> lock(mutex);
    size_t ops = context->getRegisteredOperations().size();
    size_t dialects = context->getLoadedDialects().size();
    if (ops != numOps || dialects != numDialects)
      patterns = collectSoundPatterns(context);
    numOps = ops;
    numDialects = dialects;
    return patterns;
  }

private:
  std::mutex mutex;
  FrozenRewritePatternSet patterns;
  size_t numOps = 0, numDialects = 0;
};
} // namespace

void keepSoundPatterns(DialectRegistry &registry) {
  registry.addExtension(
      +[](MLIRContext *, TileDialect *dialect) { dialect->addInterfaces<KeptPatterns>(); });
}

FrozenRewritePatternSet findSoundPatterns(MLIRContext *context) {
  auto *dialect = context->getLoadedDialect<TileDialect>();
  auto *kept = dialect ? dialect->getRegisteredInterface<KeptPatterns>() : nullptr;
  return kept ? kept->get(context) : collectSoundPatterns(context);
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
