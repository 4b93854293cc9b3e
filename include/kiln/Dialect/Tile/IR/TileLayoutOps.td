// Ops that exist once layouts are decided.
#ifndef KILN_DIALECT_TILE_IR_TILELAYOUTOPS_TD
#define KILN_DIALECT_TILE_IR_TILELAYOUTOPS_TD

include "kiln/Dialect/Tile/IR/TileDialect.td"
include "kiln/Dialect/Tile/IR/TileTypes.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Tile_ConvertLayoutOp : Tile_Op<"convert_layout", [Pure, SameOperandsAndResultElementType,
                                                      SameOperandsAndResultShape]> {
  let summary = "the same tensor, held by other threads";
  let description = [{
    Both types carry a layout. Values do not change; who holds them does.

    ```mlir
    %y = tile.convert_layout %x : tensor<64xf32, #a> -> tensor<64xf32, #b>
    ```
  }];
  let arguments = (ins Tile_Tensor:$input);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let hasFolder = 1;
  let hasVerifier = 1;
}

#endif // KILN_DIALECT_TILE_IR_TILELAYOUTOPS_TD
