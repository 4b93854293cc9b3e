// Every op of the dialect, by group.
#ifndef KILN_DIALECT_TILE_IR_TILEOPS_TD
#define KILN_DIALECT_TILE_IR_TILEOPS_TD

include "kiln/Dialect/Tile/IR/TileAttributes.td"
include "kiln/Dialect/Tile/IR/TileLayoutAttr.td"
include "kiln/Dialect/Tile/IR/TileScheduleAttrs.td"
include "kiln/Dialect/Tile/IR/TileDialect.td"
include "kiln/Dialect/Tile/IR/TileEnums.td"
include "kiln/Dialect/Tile/IR/TileTypes.td"

include "kiln/Dialect/Tile/IR/TileKernelOps.td"
include "kiln/Dialect/Tile/IR/TileMemoryOps.td"
include "kiln/Dialect/Tile/IR/TileComputeOps.td"
include "kiln/Dialect/Tile/IR/TileShapeOps.td"
include "kiln/Dialect/Tile/IR/TileSelectionOps.td"
include "kiln/Dialect/Tile/IR/TileEffectOps.td"
include "kiln/Dialect/Tile/IR/TileInstructionOps.td"
include "kiln/Dialect/Tile/IR/TileLayoutOps.td"
include "kiln/Dialect/Tile/IR/TileScheduleOps.td"
include "kiln/Dialect/Tile/IR/TileTensorMemoryOps.td"
include "kiln/Dialect/Tile/IR/TileThreadOps.td"

#endif // KILN_DIALECT_TILE_IR_TILEOPS_TD
