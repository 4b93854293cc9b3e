// Upstream's clean-ups, kept from ops that carry a decision.
#include "kiln/Dialect/Tile/Transforms/Simplify.h"
#include "kiln/Dialect/Tile/IR/Decisions.h"
#include "kiln/Dialect/Tile/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"

using namespace mlir;

namespace kiln::tile {
#define GEN_PASS_DEF_CANONICALIZE
#define GEN_PASS_DEF_HOISTINVARIANTS
#define GEN_PASS_DEF_SIMPLIFY
#include "kiln/Dialect/Tile/Transforms/Passes.h.inc"

static std::string findAnyDecision(Operation *op) {
  std::string decision = findDecision(op);
  return decision.empty() ? findPartsDecision(op) : decision;
}

static SmallVector<Operation *> findDecided(Operation *root) {
  SmallVector<Operation *> decided;
  root->walk([&](Operation *op) {
    if (!findAnyDecision(op).empty())
      decided.push_back(op);
  });
  return decided;
}

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

void rewriteUndecided(Operation *root, const FrozenRewritePatternSet &patterns,
                      GreedyRewriteConfig config) {
  // A walk of the region is what upstream's canonicaliser does; it can spare no op.
  SmallVector<Operation *> decided = findDecided(root);
  if (decided.empty()) {
    (void)applyPatternsGreedily(root, patterns, config);
    return;
  }
  // What is decided counts trips of the loop that it stands in, be it one trip for these sizes.
  SmallPtrSet<Operation *, 4> loops;
  for (Operation *op : decided)
    if (isa<LoopLikeOpInterface>(op->getParentOp()))
      loops.insert(op->getParentOp());
  SmallVector<Operation *> ops;
  for (Region &region : root->getRegions())
    region.walk([&](Operation *op) {
      if (findAnyDecision(op).empty() && !loops.contains(op))
        ops.push_back(op);
    });
  (void)applyOpPatternsGreedily(ops, patterns,
                                config.setStrictness(GreedyRewriteStrictness::ExistingAndNewOps));
}

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

/// The canonicalisation patterns of all ops, without those that change values.
static FrozenRewritePatternSet findPatterns(MLIRContext *context) {
  RewritePatternSet patterns(context);
  for (Dialect *dialect : context->getLoadedDialects())
    dialect->getCanonicalizationPatterns(patterns);
  for (RegisteredOperationName op : context->getRegisteredOperations())
    op.getCanonicalizationPatterns(patterns, context);
  patterns.add<CancelCasts<arith::IndexCastOp>, CancelCasts<arith::IndexCastUIOp>>(context);
  return FrozenRewritePatternSet(std::move(patterns), nameUnsoundPatterns());
}

void canonicaliseUndecided(Operation *root) {
  rewriteUndecided(root, findPatterns(root->getContext()));
}

void mergeUndecided(Operation *root) {
  // Ops are equal only if their attributes are.
  constexpr StringLiteral kNumber = "tile.number";
  SmallVector<Operation *> decided = findDecided(root);
  Builder builder(root->getContext());
  for (auto [number, op] : llvm::enumerate(decided))
    op->setAttr(kNumber, builder.getI64IntegerAttr(number));
  IRRewriter rewriter(root->getContext());
  DominanceInfo dominance(root);
  eliminateCommonSubExpressions(rewriter, dominance, root);
  for (Operation *op : findDecided(root))
    op->removeAttr(kNumber);
}

namespace {
struct Canonicalize : public impl::CanonicalizeBase<Canonicalize> {
  LogicalResult initialize(MLIRContext *context) override {
    patterns = std::make_shared<const FrozenRewritePatternSet>(findPatterns(context));
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

struct Simplify : public impl::SimplifyBase<Simplify> {
  void runOnOperation() override {
    canonicaliseUndecided(getOperation());
    // What equal things are merged by would drop these.
    for (Operation *op : findDecided(getOperation()))
      if (isOpTriviallyDead(op)) {
        op->emitOpError("expected a use, since '") << findAnyDecision(op) << "' is decided";
        return signalPassFailure();
      }
    mergeUndecided(getOperation());
  }
};

struct HoistInvariants : public impl::HoistInvariantsBase<HoistInvariants> {
  void runOnOperation() override {
    getOperation().walk([](LoopLikeOpInterface loop) {
      moveLoopInvariantCode(
          loop.getLoopRegions(),
          [&](Value value, Region *) { return loop.isDefinedOutsideOfLoop(value); },
          [&](Operation *op, Region *) {
            return isMemoryEffectFree(op) && isSpeculatable(op) && findAnyDecision(op).empty();
          },
          [&](Operation *op, Region *) { loop.moveOutOfLoop(op); });
    });
  }
};
} // namespace
} // namespace kiln::tile
