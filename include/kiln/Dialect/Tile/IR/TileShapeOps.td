// Ops that move elements without computing.
#ifndef KILN_DIALECT_TILE_IR_TILESHAPEOPS_TD
#define KILN_DIALECT_TILE_IR_TILESHAPEOPS_TD

include "kiln/Dialect/Tile/IR/TileDialect.td"
include "kiln/Dialect/Tile/IR/TileTypes.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Tile_SplatOp : Tile_Op<"splat", [Pure,
    TypesMatchWith<"scalar has the tensor's element type", "result", "value",
                   "::llvm::cast<::mlir::RankedTensorType>($_self).getElementType()">]> {
  let summary = "a tensor whose elements are all one scalar";
  let description = "```mlir\n%t = tile.splat %x : tensor<64x32xf32>\n```";
  let arguments = (ins Tile_Element:$value);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = "$value attr-dict `:` type($result)";
  let hasFolder = 1;
}

def Tile_ToScalarOp : Tile_Op<"to_scalar", [Pure,
    TypesMatchWith<"scalar has the tensor's element type", "input", "result",
                   "::llvm::cast<::mlir::RankedTensorType>($_self).getElementType()">]> {
  let summary = "the one element of a tensor that has one";
  let description = "```mlir\n%x = tile.to_scalar %t : tensor<f32>\n```";
  let arguments = (ins Tile_Tensor:$input);
  let results = (outs Tile_Element:$result);
  let assemblyFormat = "$input attr-dict `:` type($input)";
  let hasFolder = 1;
  let hasVerifier = 1;
}

def Tile_IotaOp : Tile_Op<"iota", [Pure]> {
  let summary = "each element's position along a dimension";
  let description = "```mlir\n%i = tile.iota 0 : tensor<64x32xi32>\n```";
  let arguments = (ins I64Attr:$dim);
  let results = (outs Tile_TensorOf<Tile_Integer, "integers">:$result);
  let assemblyFormat = "$dim attr-dict `:` type($result)";
  let hasFolder = 1;
  let hasVerifier = 1;
}

class Tile_ShapeOp<string mnemonic, list<Trait> traits = []> : Tile_Op<mnemonic,
    !listconcat(traits, [Pure, SameOperandsAndResultElementType])> {
  let arguments = (ins Tile_Tensor:$input);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let hasFolder = 1;
  let hasCanonicalizer = 1;
  let hasVerifier = 1;
}

def Tile_BroadcastOp : Tile_ShapeOp<"broadcast"> {
  let summary = "repeats a tensor along its dimensions of extent 1";
  let description = [{
    Ranks are the same; each dimension has the same extent or is 1 in the input.
    ```mlir
    %t = tile.broadcast %x : tensor<64x1xf32> -> tensor<64x32xf32>
    ```
  }];
}

def Tile_ReshapeOp : Tile_ShapeOp<"reshape"> {
  let summary = "the same elements, in row-major order, under another shape";
  let description = "```mlir\n%t = tile.reshape %x : tensor<64xf32> -> tensor<64x1xf32>\n```";
}

def Tile_TransposeOp : Tile_ShapeOp<"transpose"> {
  let summary = "permutes dimensions";
  let description = [{
    Dimension i of the result is dimension `permutation[i]` of the input.
    ```mlir
    %t = tile.transpose %x [1, 0] : tensor<64x32xf32> -> tensor<32x64xf32>
    ```
  }];
  let arguments = (ins Tile_Tensor:$input, DenseI64ArrayAttr:$permutation);
  let assemblyFormat = "$input $permutation attr-dict `:` type($input) `->` type($result)";
}

def Tile_SliceOp : Tile_ShapeOp<"slice"> {
  let summary = "the elements from an offset on, as many as the result holds";
  let description = [{
    Offsets are constants, one a dimension.
    ```mlir
    %t = tile.slice %x [0, 16] : tensor<64x32xf32> -> tensor<64x16xf32>
    ```
  }];
  let arguments = (ins Tile_Tensor:$input, DenseI64ArrayAttr:$offsets);
  let assemblyFormat = "$input $offsets attr-dict `:` type($input) `->` type($result)";
}

def Tile_ConcatOp : Tile_Op<"concat", [Pure, SameOperandsAndResultElementType]> {
  let summary = "tensors one after another along a dimension";
  let description = [{
    ```mlir
    %t = tile.concat %x, %y axis = 0 : tensor<128xf32>, tensor<64xf32> -> tensor<192xf32>
    ```
  }];
  let arguments = (ins Variadic<Tile_Tensor>:$inputs, I64Attr:$axis);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = "$inputs `axis` `=` $axis attr-dict `:` type($inputs) `->` type($result)";
  let hasFolder = 1;
  let hasVerifier = 1;
}

def Tile_JoinOp : Tile_Op<"join", [Pure, SameTypeOperands]> {
  let summary = "interleaves two tensors along a new last dimension of extent 2";
  let description = "```mlir\n%t = tile.join %x, %y : tensor<64xf32> -> tensor<64x2xf32>\n```";
  let arguments = (ins Tile_Tensor:$left, Tile_Tensor:$right);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = "$left `,` $right attr-dict `:` type($left) `->` type($result)";
  let hasFolder = 1;
  let hasVerifier = 1;
}

def Tile_SplitOp : Tile_Op<"split", [Pure, AllTypesMatch<["left", "right"]>]> {
  let summary = "the two tensors that a last dimension of extent 2 interleaves";
  let description = "```mlir\n%x, %y = tile.split %t : tensor<64x2xf32> -> tensor<64xf32>\n```";
  let arguments = (ins Tile_Tensor:$input);
  let results = (outs Tile_Tensor:$left, Tile_Tensor:$right);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($left)";
  let hasFolder = 1;
  let hasVerifier = 1;
}

def Tile_BitcastOp : Tile_Op<"bitcast", [Pure]> {
  let summary = "reads the bits of the last dimension as another element type";
  let description = [{
    The last dimension's bits stay the same in number; elements narrower than a byte are
    packed low bits first, as in memory. Neither type is tf32 or index. With `extents` only
    elements of the result whose indices are below them are what was read, any others can be
    anything; rows then need hold so many bits only, and may differ in the rest.
    ```mlir
    %t = tile.bitcast %x : tensor<64x8xi8> -> tensor<64x16xi4>
    %u = tile.bitcast %y extents [64, 12] : tensor<64x16xf6E3M2FN> -> tensor<64x16xi8>
    ```
  }];
  let arguments = (ins Tile_Tensor:$input, OptionalAttr<DenseI64ArrayAttr>:$extents);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = [{
    $input (`extents` $extents^)? attr-dict `:` type($input) `->` type($result)
  }];
  let hasFolder = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Whether each element of the result is one of the input.
    bool keepsElements();
  }];
}

#endif // KILN_DIALECT_TILE_IR_TILESHAPEOPS_TD
