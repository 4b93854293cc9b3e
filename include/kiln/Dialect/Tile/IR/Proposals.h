// Which of several ways to run a kernel is taken.
#ifndef KILN_DIALECT_TILE_IR_PROPOSALS_H
#define KILN_DIALECT_TILE_IR_PROPOSALS_H

#include "llvm/ADT/StringRef.h"

namespace kiln::tile {

/// Of a kernel, an i64: `tile-decide-roles` passes over so many of its proposals. Whoever compiles
/// a kernel sets it where the code of a proposal does not do with a thread's registers.
inline constexpr llvm::StringLiteral kProposalAttrName = "tile.proposal";
/// How many proposals there are at most.
inline constexpr int64_t kMostProposals = 4;
/// The proposal with trips that a solver overlaps, and the next without.
inline constexpr int64_t kOverlappingProposal = 0;
/// The first proposal by which warps wait for their products.
inline constexpr int64_t kWaitingProposal = 3;
/// The member of the metadata that says which proposal was taken, from 0; none if none was.
inline constexpr llvm::StringLiteral kProposalMember = "proposal";
/// The member that says why products do not run on beside their warps, where they could.
inline constexpr llvm::StringLiteral kNoRolesMember = "no_roles";

} // namespace kiln::tile

#endif // KILN_DIALECT_TILE_IR_PROPOSALS_H
