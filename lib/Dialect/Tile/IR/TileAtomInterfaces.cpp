// The interfaces of atoms, and the one that every chip has.
#include "kiln/Dialect/Tile/IR/Tile.h"

using namespace mlir;

#include "kiln/Dialect/Tile/IR/TileAtomInterfaces.cpp.inc"

std::array<int64_t, 3> kiln::tile::FmaAtomAttr::getExtents() const { return {1, 1, 1}; }
