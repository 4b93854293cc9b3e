// Decisions about tiles that are computed piece by piece, since they are too long for a program's
// registers.
#ifndef KILN_DIALECT_TILE_IR_CHUNKDECISIONS_H
#define KILN_DIALECT_TILE_IR_CHUNKDECISIONS_H

#include "kiln/Dialect/Tile/IR/Tile.h"
#include <optional>

namespace kiln::tile {

/// Of a kernel, an array of two i64: tiles are computed in chunks of so many elements along the
/// longest dimension that they have, and one trip of a loop takes so many chunks that it loads so
/// many tiles. Or false, which keeps passes from it.
inline constexpr llvm::StringLiteral kChunkAttrName = "tile.chunk";

/// Of a load in a kernel with `tile.chunk`, "shared": what several loops over its chunks use is
/// kept in shared memory by the first of them. Each of them loads it without the attribute.
inline constexpr llvm::StringLiteral kKeptAttrName = "tile.kept";
inline constexpr llvm::StringLiteral kKeptInShared = "shared";

/// Of a kernel, a boolean: whether tiles along the longest dimension begin at the multiple of 16
/// bytes in front of the row that is stored, so that they are made of whole vectors.
inline constexpr llvm::StringLiteral kRowStartsAttrName = "tile.row_starts";

struct Chunks {
  int64_t length, loads;
};
/// What `tile.chunk` says; none if tiles are whole.
std::optional<Chunks> getChunks(KernelOp kernel);
void setChunks(KernelOp kernel, Chunks chunks);

/// Whether an attribute of one of these names means something where it stands.
llvm::LogicalResult verifyChunkDecision(mlir::Operation *op, llvm::StringRef name,
                                        mlir::Attribute value);

} // namespace kiln::tile

#endif // KILN_DIALECT_TILE_IR_CHUNKDECISIONS_H
