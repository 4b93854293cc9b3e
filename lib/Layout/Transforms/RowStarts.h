// Tiles of rows that begin where memory's vectors do, not where the rows do.
//
// A row may begin anywhere among the 16 bytes that a thread accesses at once. A tile of it that
// begins at the multiple of 16 bytes in front is made of whole vectors: what it has in front of the
// row is outside of it, as what lies behind is. So each element of a tile stands m places later
// than before, and those that come behind the extent stand in the m first places: the tile is
// turned. Of what works element by element, or combines elements in any order, that changes
// nothing.
#ifndef KILN_LIB_LAYOUT_TRANSFORMS_ROWSTARTS_H
#define KILN_LIB_LAYOUT_TRANSFORMS_ROWSTARTS_H

#include "ChunkPhases.h"

namespace kiln {

/// What an access of whole vectors takes at once, in bytes.
inline constexpr int64_t kVectorBytes = 16;

/// Why tiles along the longest dimension cannot be turned, and where; none if they can.
std::optional<ChunkPhases::Obstacle> findTurnObstacle(const ChunkPhases &phases);

/// The first op along the dimension for which it matters where tiles begin.
mlir::Operation *findFirstPlace(const ChunkPhases &phases);

/// The first store of a tile along the dimension: its row says where tiles begin.
tile::StoreOp findLeadingStore(const ChunkPhases &phases);

} // namespace kiln

#endif // KILN_LIB_LAYOUT_TRANSFORMS_ROWSTARTS_H
