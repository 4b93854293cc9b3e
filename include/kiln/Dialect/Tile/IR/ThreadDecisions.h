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

/// Of a wait that leaves puts in flight, a number: each put of the role is at least as many
/// instructions of a warp, and the warp waits until no more are under way than so many a put. Zero
/// where warps know by groups what has ended.
inline constexpr llvm::StringLiteral kInstructionsAttrName = "tile.instructions";

/// Of a barrier in a role, and of an op there whose threads exchange elements through scratch, a
/// string: who meets. Every barrier and every such op of a role has it before it is lowered.
inline constexpr llvm::StringLiteral kMeetsAttrName = "tile.meets";
enum class Meeting {
  Lanes, ///< of the one warp that a copy has
  Copy,  ///< the warps of a copy, at a barrier of its own
  Role,  ///< the warps of all copies, at a barrier of the role's
  All    ///< all warps of the block, at the one barrier that they share
};
/// Of a channel without buffers, a string: the role whose warps meet at its barriers, where chips
/// have no other ones for groups of warps. Each slot is of a copy, which meets at the barrier that
/// counts `full`; all copies meet at that of the first slot that counts `empty`.
inline constexpr llvm::StringLiteral kMeetsInAttrName = "tile.meets_in";

/// Whether it is such an op.
bool mayMeet(mlir::Operation *op);
llvm::StringRef stringify(Meeting meeting);
std::optional<Meeting> parseMeeting(llvm::StringRef text);
/// What is decided of an op; none if nothing is.
std::optional<Meeting> getMeeting(mlir::Operation *op);

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
