// Which threads meet, and which program acts for two, where ops of a schedule do not say it by
// attributes of their own.
#ifndef KILN_DIALECT_TILE_IR_THREADDECISIONS_H
#define KILN_DIALECT_TILE_IR_THREADDECISIONS_H

#include "mlir/IR/Operation.h"

namespace kiln::tile {

/// Of a put that each warp tells of by one of its lanes, a unit: that lane meets the others first.
inline constexpr llvm::StringLiteral kLanesAttrName = "tile.lanes";

/// Of what two programs of a cluster bring and multiply together, a unit: the first of the two
/// alone announces the bytes of a put, waits in a get `to_start`, starts the dot, or releases by
/// `commit`.
inline constexpr llvm::StringLiteral kFirstOfPairAttrName = "tile.first_of_pair";

/// Whether an attribute of either name means something where it stands.
llvm::LogicalResult verifyThreadDecision(mlir::Operation *op, llvm::StringRef name,
                                         mlir::Attribute value);
/// Whether an op is one that the first of two programs does for both.
bool isForFirstOfPair(mlir::Operation *op);
/// Fails, with an error, at such an op that does not say so.
llvm::LogicalResult requireFirstOfPair(mlir::Operation *op);

} // namespace kiln::tile

#endif // KILN_DIALECT_TILE_IR_THREADDECISIONS_H
