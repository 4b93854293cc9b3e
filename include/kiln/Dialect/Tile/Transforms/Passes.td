// Passes over the tile dialect that no target has a say in.
#ifndef KILN_DIALECT_TILE_TRANSFORMS_PASSES_TD
#define KILN_DIALECT_TILE_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

#endif // KILN_DIALECT_TILE_TRANSFORMS_PASSES_TD
