// Ops that are no instructions, and say how those of the chip come.
#ifndef KILN_DIALECT_TILE_IR_TILEINSTRUCTIONOPS_TD
#define KILN_DIALECT_TILE_IR_TILEINSTRUCTIONOPS_TD

include "kiln/Dialect/Tile/IR/TileScheduleOps.td"

def Tile_ScheduleGroupOp : Tile_SyncOp<"schedule_group"> {
  let summary = "the next so many machine instructions of a kind come next";
  let description = [{
    No instruction itself. The ops of this kind in one block, up to a barrier, are a list: what the
    block has of instructions in front of the list, since the barrier before, is put in its order,
    as far as their operands allow. Those of another `pipeline` are a list of their own.

    ```mlir
    tile.schedule_group 2 matrix of 0
    tile.schedule_group 1 load of 0
    ```
  }];
  let arguments = (ins I64Attr:$count, Tile_InstructionKindAttr:$kind, I64Attr:$pipeline);
  let assemblyFormat = "$count $kind `of` $pipeline attr-dict";
  let hasVerifier = 1;
}

#endif // KILN_DIALECT_TILE_IR_TILEINSTRUCTIONOPS_TD
