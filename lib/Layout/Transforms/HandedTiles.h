// What loops hand on to their next trip for several roles.
#ifndef KILN_LIB_LAYOUT_TRANSFORMS_HANDEDTILES_H
#define KILN_LIB_LAYOUT_TRANSFORMS_HANDEDTILES_H

#include "kiln/Dialect/Tile/IR/Tile.h"

namespace kiln {

/// Has loops that hand what a load brings on to their next trip do so once for each role that uses
/// it there, or behind the loop: each has it in registers of its own. Where it is handed on
/// further, or conditions give it, it stays as it is.
void shareHandedTiles(tile::KernelOp kernel);

} // namespace kiln

#endif // KILN_LIB_LAYOUT_TRANSFORMS_HANDEDTILES_H
