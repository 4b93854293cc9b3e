// What may be decided about ops of a kernel, by a source or by a pass, and where it stands.
#ifndef KILN_DIALECT_TILE_IR_DECISIONS_H
#define KILN_DIALECT_TILE_IR_DECISIONS_H

#include "mlir/IR/Operation.h"
#include <string>

namespace kiln::tile {

// Decisions about a kernel's launches: how many programs run side by side along x, y and z, an
// array of three i64, which loads with `multicast` share tiles out among; and, a unit, that it may
// begin before what precedes it on its stream has ended, for which it waits itself. Then what
// follows on the stream may begin behind its ops that have the last of these.
inline constexpr llvm::StringLiteral kClusterAttrName = "tile.cluster";
inline constexpr llvm::StringLiteral kOverlapAttrName = "tile.overlap";
inline constexpr llvm::StringLiteral kTriggersAttrName = "tile.triggers";

/// The stage whose passes read a decision last, and by whose end it is gone; what the lowering
/// reads stays.
enum class ReadBy { Layout, Schedule, Lowering };

/// One decision, as the attribute of the ops on which it means something.
struct Decision {
  llvm::StringLiteral name;
  bool (*standsOn)(mlir::Operation *);
  ReadBy readBy;
  /// The pass that obeys it: the one behind which it stands nowhere any more.
  llvm::StringLiteral pass;
  /// Passes alone write it: no source does.
  bool isMark = false;
  /// It says how one product is computed, and nothing of who runs what when.
  bool isOfParts = false;
};

/// All that there are, of ops and of kernels. Hints about caches are no decisions of a pass: they
/// are attributes of the ops that they are for, and the target says which it follows.
llvm::ArrayRef<Decision> getDecisions();
/// The one that this attribute of an op is; null if it is none, or means nothing there.
const Decision *lookUpDecision(mlir::Operation *op, llvm::StringRef attribute);

/// What the attribute of a decision is called on an op: `name` on ops of tile, `tile.name` on all
/// others and where an op of tile calls something else so.
std::string spellDecision(mlir::Operation *op, llvm::StringRef name);
/// The decision of this name on an op, or null.
mlir::Attribute getDecision(mlir::Operation *op, llvm::StringRef name);
/// The attribute of the first decision in the order of `getDecisions` that an op carries and that
/// is meant; empty if it carries none.
std::string findDecision(mlir::Operation *op, llvm::function_ref<bool(const Decision &)> isMeant);
/// The same of what a source may decide, but for the parts of a product, which leave all else to
/// passes. Clean-ups leave alone what carries either.
std::string findDecision(mlir::Operation *op);
/// The same of decisions about the parts of a product.
std::string findPartsDecision(mlir::Operation *op);

} // namespace kiln::tile

#endif // KILN_DIALECT_TILE_IR_DECISIONS_H
