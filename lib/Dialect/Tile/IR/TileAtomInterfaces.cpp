// The generated half of the interfaces of atoms.
#include "kiln/Dialect/Tile/IR/TileAtomInterfaces.h"

using namespace mlir;

#include "kiln/Dialect/Tile/IR/TileAtomInterfaces.cpp.inc"
