// Order, counts and random numbers.
#ifndef KILN_DIALECT_TILE_IR_TILESELECTIONOPS_TD
#define KILN_DIALECT_TILE_IR_TILESELECTIONOPS_TD

include "kiln/Dialect/Tile/IR/TileDialect.td"
include "kiln/Dialect/Tile/IR/TileTypes.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Tile_SortOp : Tile_Op<"sort", [Pure, SameOperandsAndResultShape]> {
  let summary = "sorts along an axis, carrying other tensors along";
  let description = [{
    The first tensor holds the keys, the rest move with them. Ascending unless `descending`;
    integers are signed unless `unsigned`. Stable: equal keys keep their order, and -0 equals
    +0. Every NaN is last, whichever the direction, and equals every other NaN.

    ```mlir
    %k, %v = tile.sort %keys, %values axis = 0 descending
           : tensor<64xf32>, tensor<64xi32> -> tensor<64xf32>, tensor<64xi32>
    ```
  }];
  let arguments = (ins Variadic<Tile_Tensor>:$inputs, I64Attr:$axis, UnitAttr:$descending,
                       UnitAttr:$unsigned_keys);
  let results = (outs Variadic<Tile_Tensor>:$results);
  let assemblyFormat = [{
    $inputs `axis` `=` $axis (`descending` $descending^)? (`unsigned` $unsigned_keys^)?
    attr-dict `:` type($inputs) `->` type($results)
  }];
  let hasFolder = 1;
  let hasVerifier = 1;
}

def Tile_TopKOp : Tile_Op<"topk", [Pure]> {
  let summary = "the largest elements along an axis, and their positions";
  let description = [{
    In descending order (with `smallest`: the smallest, ascending); k is the result's extent.
    Order, ties and NaN are those of `tile.sort`: the lower position first.

    ```mlir
    %v, %i = tile.topk %x axis = 0 : tensor<64xf32> -> tensor<8xf32>, tensor<8xi32>
    ```
  }];
  let arguments = (ins Tile_Tensor:$input, I64Attr:$axis, UnitAttr:$smallest,
                       UnitAttr:$unsigned_keys);
  let results = (outs Tile_Tensor:$values, Tile_TensorOf<I32, "i32">:$positions);
  let assemblyFormat = [{
    $input `axis` `=` $axis (`smallest` $smallest^)? (`unsigned` $unsigned_keys^)?
    attr-dict `:` type($input) `->` type($values) `,` type($positions)
  }];
  let hasVerifier = 1;
}

def Tile_TakeOp : Tile_Op<"take", [Pure, AllShapesMatch<["indices", "result"]>]> {
  let summary = "elements of a tensor at computed positions along an axis";
  let description = [{
    Result element (..., i, ...) is the input's at (..., indices[..., i, ...], ...). All extents
    but the axis's are the same. A position outside of the input gives an element whose bits are
    all zero.

    ```mlir
    %r = tile.take %x[%i] axis = 1 : tensor<4x16xf32>, tensor<4x64xi32> -> tensor<4x64xf32>
    ```
  }];
  let arguments = (ins Tile_Tensor:$input, Tile_TensorOf<I32, "i32">:$indices, I64Attr:$axis);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = [{
    $input `[` $indices `]` `axis` `=` $axis attr-dict
    `:` type($input) `,` type($indices) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tile_HistogramOp : Tile_Op<"histogram", [Pure]> {
  let summary = "counts how often each small integer occurs";
  let description = [{
    Element b of the result counts the elements equal to b; elements outside the bins
    (negative ones included) and masked ones are not counted.

    ```mlir
    %h = tile.histogram %x mask(%m : tensor<256xi1>) : tensor<256xi32> -> tensor<16xi32>
    ```
  }];
  let arguments = (ins Tile_TensorOf<Tile_Integer, "integers">:$input,
                       Optional<Tile_BoolTensor>:$mask);
  let results = (outs Tile_TensorOf<I32, "i32">:$result);
  let assemblyFormat = [{
    $input (`mask` `(` $mask^ `:` type($mask) `)`)? attr-dict `:` type($input) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tile_PhiloxOp : Tile_Op<"philox", [Pure,
    AllTypesMatch<["counter", "bits0", "bits1", "bits2", "bits3"]>]> {
  let summary = "counter-based random bits (Philox 4x32-10)";
  let description = [{
    Of the 128-bit counter the lowest word is `counter`, the next is `stream`, the upper two
    are zero; the 64-bit key is `seed`, low word first. Four independent words an element.
    Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011.

    ```mlir
    %r0, %r1, %r2, %r3 = tile.philox %seed, %stream, %counter : tensor<64xi32>
    ```
  }];
  let arguments = (ins I64:$seed, I32:$stream, Tile_TensorOf<I32, "i32">:$counter);
  let results = (outs Tile_TensorOf<I32, "i32">:$bits0, Tile_TensorOf<I32, "i32">:$bits1,
                      Tile_TensorOf<I32, "i32">:$bits2, Tile_TensorOf<I32, "i32">:$bits3);
  let assemblyFormat = "$seed `,` $stream `,` $counter attr-dict `:` type($counter)";
}

#endif // KILN_DIALECT_TILE_IR_TILESELECTIONOPS_TD
