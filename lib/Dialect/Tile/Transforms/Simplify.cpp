// Upstream's clean-ups, kept from ops that carry a decision.
#include "kiln/Dialect/Tile/Transforms/Simplify.h"
#include "kiln/Dialect/Tile/IR/Decisions.h"
#include "kiln/Dialect/Tile/Transforms/Passes.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"

using namespace mlir;

namespace kiln::tile {
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

void rewriteUndecided(Operation *root, RewritePatternSet patterns, GreedyRewriteConfig config) {
  // A walk of the region is what upstream's canonicaliser does; it can spare no op.
  SmallVector<Operation *> decided = findDecided(root);
  if (decided.empty()) {
    (void)applyPatternsGreedily(root, std::move(patterns), config);
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
  (void)applyOpPatternsGreedily(ops, std::move(patterns),
                                config.setStrictness(GreedyRewriteStrictness::ExistingAndNewOps));
}

void canonicaliseUndecided(Operation *root) {
  MLIRContext *context = root->getContext();
  RewritePatternSet patterns(context);
  for (Dialect *dialect : context->getLoadedDialects())
    dialect->getCanonicalizationPatterns(patterns);
  for (RegisteredOperationName op : context->getRegisteredOperations())
    op.getCanonicalizationPatterns(patterns, context);
  rewriteUndecided(root, std::move(patterns));
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
