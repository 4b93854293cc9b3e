// Types as their author knows them, for errors about what passes have made of them.
#ifndef KILN_DIALECT_TILE_IR_BARETYPES_H
#define KILN_DIALECT_TILE_IR_BARETYPES_H

#include "kiln/Dialect/Tile/IR/Tile.h"

namespace kiln::tile {

/// A tensor's, buffer's or pending tensor's type without what is decided of how it lies; any other
/// as it is.
mlir::Type getBareType(mlir::Type type);

} // namespace kiln::tile

#endif // KILN_DIALECT_TILE_IR_BARETYPES_H
