// Clean-ups of ops that carry no decision.
#include "kiln/Dialect/Tile/Transforms/Undecided.h"
#include "kiln/Dialect/Tile/IR/Decisions.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Transforms/CSE.h"

using namespace mlir;

namespace kiln::tile {
std::string findAnyDecision(Operation *op) {
  std::string decision = findDecision(op);
  return decision.empty() ? findPartsDecision(op) : decision;
}

SmallVector<Operation *> findDecided(Operation *root) {
  SmallVector<Operation *> decided;
  root->walk([&](Operation *op) {
    if (!findAnyDecision(op).empty())
      decided.push_back(op);
  });
  return decided;
}

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

void canonicaliseUndecided(Operation *root) {
  rewriteUndecided(root, findSoundPatterns(root->getContext()));
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
} // namespace kiln::tile
