// Ops that exist once layouts are decided.
#ifndef KILN_DIALECT_TILE_IR_TILELAYOUTOPS_TD
#define KILN_DIALECT_TILE_IR_TILELAYOUTOPS_TD

include "kiln/Dialect/Tile/IR/TileDialect.td"
include "kiln/Dialect/Tile/IR/TileLayoutAttr.td"
include "kiln/Dialect/Tile/IR/TileTypes.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Tile_ConvertLayoutOp : Tile_Op<"convert_layout", [Pure, SameOperandsAndResultElementType,
                                                      SameOperandsAndResultShape]> {
  let summary = "the same tensor, held by other threads";
  let description = [{
    Both types carry a layout. Values do not change; who holds them does. `how` is what a pass or
    the author decided about the way. One that is `deferred` goes through memory and is read there
    in front of the `tile.dot` in a loop behind it that alone uses it, in each round anew, so that
    no registers hold it throughout.

    ```mlir
    %y = tile.convert_layout %x : tensor<64xf32, #a> -> tensor<64xf32, #b>
    ```
  }];
  let arguments = (ins Tile_Tensor:$input, OptionalAttr<Tile_ConversionAttr>:$how,
                       UnitAttr:$deferred);
  let results = (outs Tile_Tensor:$result);
  let builders = [OpBuilder<(ins "::mlir::Type":$result, "::mlir::Value":$input), [{
    build($_builder, $_state, result, input, ::kiln::tile::ConversionAttr());
  }]>];
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let hasFolder = 1;
  let hasVerifier = 1;
}

#endif // KILN_DIALECT_TILE_IR_TILELAYOUTOPS_TD
