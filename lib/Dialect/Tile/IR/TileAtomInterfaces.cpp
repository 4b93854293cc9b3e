// The interfaces of atoms, and the one that every chip has.
#include "kiln/Dialect/Tile/IR/Tile.h"

using namespace mlir;

#include "kiln/Dialect/Tile/IR/TileAtomInterfaces.cpp.inc"

std::array<int64_t, 3> kiln::tile::FmaAtomAttr::getExtents() const { return {1, 1, 1}; }

bool kiln::tile::ThroughRegistersAttr::canCopy(Place from, Place to) const {
  return from == Place::Global && to == Place::Shared;
}

/// The loads do as the hints say.
bool kiln::tile::ThroughRegistersAttr::follows(std::optional<Cache>,
                                               std::optional<Eviction>) const {
  return true;
}
