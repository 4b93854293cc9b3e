// Clean-ups that leave decisions alone. An op that carries one is neither rewritten, folded, merged
// with another nor erased by itself; with a region that never runs it goes.
#ifndef KILN_DIALECT_TILE_TRANSFORMS_UNDECIDED_H
#define KILN_DIALECT_TILE_TRANSFORMS_UNDECIDED_H

#include "mlir/IR/Operation.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include <string>

namespace kiln::tile {

/// The decision that an op carries, of itself or of its parts; empty if it carries none.
std::string findAnyDecision(mlir::Operation *op);
/// The ops below that carry one.
llvm::SmallVector<mlir::Operation *> findDecided(mlir::Operation *root);
/// The canonicalisation patterns of all ops, without those that change values.
mlir::FrozenRewritePatternSet findSoundPatterns(mlir::MLIRContext *context);
/// Has each context that loads the dialect of tiles collect them once.
void keepSoundPatterns(mlir::DialectRegistry &registry);

/// Applies patterns, and folds, until nothing changes.
void rewriteUndecided(mlir::Operation *root, const mlir::FrozenRewritePatternSet &patterns,
                      mlir::GreedyRewriteConfig config = {});
/// The same by the canonicalisation patterns of all ops.
void canonicaliseUndecided(mlir::Operation *root);
/// Computes equal things once, and drops what nobody uses.
void mergeUndecided(mlir::Operation *root);

} // namespace kiln::tile

#endif // KILN_DIALECT_TILE_TRANSFORMS_UNDECIDED_H
