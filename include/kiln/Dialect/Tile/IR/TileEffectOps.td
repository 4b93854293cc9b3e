// What a program tells the outside, what the outside tells the compiler, and foreign code.
#ifndef KILN_DIALECT_TILE_IR_TILEEFFECTOPS_TD
#define KILN_DIALECT_TILE_IR_TILEEFFECTOPS_TD

include "kiln/Dialect/Tile/IR/TileDialect.td"
include "kiln/Dialect/Tile/IR/TileTypes.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Tile_PrintOp : Tile_Op<"print", [AttrSizedOperandSegments, MemoryEffects<[MemWrite]>]> {
  let summary = "writes values to standard output";
  let description = [{
    One line for each element: the program's position, the element's indices, the prefix and
    the value. Lines of different programs may interleave, but no line is torn. `hex` prints
    bits; `unsigned_values` reads integers as unsigned. With `extents` only elements whose
    indices are below them are written; tensors then all have one shape. The position is what
    `tile.program_id` says along x, y and z, or `program`: where one program runs the tiles of
    many, that is the tile's.

    ```mlir
    tile.print "row max" (%m) : tensor<64xf32>
    tile.print "done" program [%x, %y, %z]
    ```
  }];
  let arguments = (ins StrAttr:$prefix, Variadic<Tile_TensorOrScalar>:$values, UnitAttr:$hex,
                       UnitAttr:$unsigned_values, OptionalAttr<DenseI64ArrayAttr>:$extents,
                       Variadic<Index>:$program);
  let assemblyFormat = [{
    $prefix (`program` ` ` `[` $program^ `]`)? (`hex` $hex^)? (`unsigned` $unsigned_values^)?
    (`extents` $extents^)? (` ` `(` $values^ `)` `:` type($values))? attr-dict
  }];
  let hasVerifier = 1;
}

def Tile_AssertOp : Tile_Op<"assert", [MemoryEffects<[MemWrite]>]> {
  let summary = "fails the launch, by name and line, where a condition is false";
  let description = [{
    The launch ends with an error that holds the message, the program's position, as
    `tile.print` says it, and the source location. What the launch wrote before is not undone.

    ```mlir
    tile.assert %ok, "row index out of range" : tensor<64xi1>
    ```
  }];
  let arguments = (ins Tile_BoolTensorOrScalar:$condition, StrAttr:$message,
                       Variadic<Index>:$program);
  let assemblyFormat = [{
    $condition `,` $message (`program` ` ` `[` $program^ `]`)? attr-dict `:` type($condition)
  }];
  let hasCanonicalizer = 1;
  let hasVerifier = 1;
}

def Tile_AssumeOp : Tile_Op<"assume", [MemoryEffects<[MemWrite]>]> {
  let summary = "tells the compiler that a condition holds";
  let description = [{
    If it does not hold, the behaviour of the kernel is undefined.

    ```mlir
    tile.assume %positive
    ```
  }];
  let arguments = (ins I1:$condition);
  let assemblyFormat = "$condition attr-dict";
  let hasCanonicalizer = 1;
}

def Tile_MultipleOfOp : Tile_Op<"multiple_of", [Pure, AllTypesMatch<["value", "result"]>]> {
  let summary = "the same integer, known to be a multiple of a constant";
  let description = [{
    If it is none, the behaviour of the kernel is undefined.

    ```mlir
    %n = tile.multiple_of %m, 16 : index
    ```
  }];
  let arguments = (ins Tile_Integer:$value, I64Attr:$divisor);
  let results = (outs Tile_Integer:$result);
  let assemblyFormat = "$value `,` $divisor attr-dict `:` type($value)";
  let hasFolder = 1;
  let hasVerifier = 1;
}

def Tile_InlineAsmOp : Tile_Op<"inline_asm",
    [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
     DeclareOpInterfaceMethods<ConditionallySpeculatable>]> {
  let summary = "the target's own instructions, applied element by element";
  let description = [{
    `constraints` are LLVM's. Operands and results have one shape; the text sees `pack`
    consecutive elements of the last dimension at a time, whose extent is a multiple of it.
    With `pure` it may be moved, merged and removed. A kernel that holds one is bound to the target that reads it.

    ```mlir
    %y = tile.inline_asm "ex2.approx.f32 $0, $1;" "=f,f" pure (%x)
       : (tensor<64xf32>) -> tensor<64xf32>
    ```
  }];
  let arguments = (ins StrAttr:$text, StrAttr:$constraints,
                       Variadic<Tile_TensorOrScalar>:$operands,
                       DefaultValuedAttr<I64Attr, "1">:$pack, UnitAttr:$pure);
  let results = (outs Variadic<Tile_TensorOrScalar>:$results);
  let assemblyFormat = [{
    $text $constraints (`pack` `=` $pack^)? (`pure` $pure^)? `(` $operands `)` attr-dict
    `:` functional-type($operands, $results)
  }];
  let hasVerifier = 1;
}

def Tile_ExternCallOp : Tile_Op<"extern_call",
    [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
     DeclareOpInterfaceMethods<ConditionallySpeculatable>]> {
  let summary = "calls a device function of a library, element by element";
  let description = [{
    `symbol` is the function's linkage name and `library` names the file that defines it, of a
    kind that the target reads: LLVM's bitcode or its text for an accelerator, which is linked
    into the kernel, the path or name of a shared library for the host. Without one it is a
    function of the vendor's library of bitcode, or of the process. Operands and results have one
    shape; the function sees scalars, a tf32 as an f32. With `pure` it may be moved, merged and
    removed.

    ```mlir
    %y = tile.extern_call "erfcxf" from "" pure (%x) : (tensor<64xf32>) -> tensor<64xf32>
    ```
  }];
  let arguments = (ins StrAttr:$symbol, StrAttr:$library,
                       Variadic<Tile_TensorOrScalar>:$operands, UnitAttr:$pure);
  let results = (outs Tile_TensorOrScalar:$result);
  let assemblyFormat = [{
    $symbol `from` $library (`pure` $pure^)? `(` $operands `)` attr-dict
    `:` functional-type($operands, $result)
  }];
  let hasVerifier = 1;
}

#endif // KILN_DIALECT_TILE_IR_TILEEFFECTOPS_TD
