// Which threads meet, which warp or program acts for others, and how many tell of something, where
// ops of a schedule do not say it by attributes of their own.
#ifndef KILN_DIALECT_TILE_IR_THREADDECISIONS_H
#define KILN_DIALECT_TILE_IR_THREADDECISIONS_H

#include "kiln/Dialect/Tile/IR/Tile.h"

namespace kiln::tile {

/// Of a put that each warp tells of by one of its lanes, a unit: that lane meets the others first.
inline constexpr llvm::StringLiteral kLanesAttrName = "tile.lanes";

/// Of what two programs of a cluster bring and multiply together, a unit: the first of the two
/// alone announces the bytes of a put, waits in a get `to_start`, starts the dot, or releases by
/// `commit`.
inline constexpr llvm::StringLiteral kFirstOfPairAttrName = "tile.first_of_pair";

/// Of what sets tensor memory aside or gives it back, a number: the warp of the program that does.
inline constexpr llvm::StringLiteral kByWarpAttrName = "tile.by_warp";

/// Of a channel's tile.init, a number: how many threads end dots by the channel (tile.end_dots). It
/// has no barrier for that if none is said.
inline constexpr llvm::StringLiteral kEndsAttrName = "tile.ends";

/// Of a wait for puts, a number: each put of the role is at least as many instructions of a warp.
/// Chips that count instructions wait until no more are under way than so many a put.
inline constexpr llvm::StringLiteral kInstructionsAttrName = "tile.instructions";

/// Whether an attribute of one of these names means something where it stands.
llvm::LogicalResult verifyThreadDecision(mlir::Operation *op, llvm::StringRef name,
                                         mlir::Attribute value);
/// Whether an op is one that the first of two programs does for both.
bool isForFirstOfPair(mlir::Operation *op);
/// Fails, with an error, at such an op that does not say so.
llvm::LogicalResult requireFirstOfPair(mlir::Operation *op);
/// How many threads end dots by a channel, as roles say.
int64_t countEnds(ChannelOp channel);
/// What a number of these names says of an op; an error if nobody has decided it.
llvm::FailureOr<int64_t> requireThreadNumber(mlir::Operation *op, llvm::StringRef name);

} // namespace kiln::tile

#endif // KILN_DIALECT_TILE_IR_THREADDECISIONS_H
