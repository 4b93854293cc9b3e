// Matrix products, and ops that combine along an axis with a region.
#ifndef KILN_DIALECT_TILE_IR_TILECOMPUTEOPS_TD
#define KILN_DIALECT_TILE_IR_TILECOMPUTEOPS_TD

include "kiln/Dialect/Tile/IR/TileDialect.td"
include "kiln/Dialect/Tile/IR/TileEnums.td"
include "kiln/Dialect/Tile/IR/TileScheduleAttrs.td"
include "kiln/Dialect/Tile/IR/TileTypes.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Tile_DotOp : Tile_Op<"dot", [AlwaysSpeculatable, AllTypesMatch<["accumulator", "result"]>,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "a matrix product added to an accumulator";
  let description = [{
    `result = a · b + accumulator` over [batch…, M, K], [batch…, K, N] and [batch…, M, N].
    With `transpose_a` the first operand is [batch…, K, M]; with `transpose_b` the second is
    [batch…, N, K]. Operands may be tensors or buffers; what a buffer holds is read when the
    op runs.

    | operands | accumulator |
    |---|---|
    | f64 | f64 |
    | f32, tf32, f16, bf16, f8E4M3FN, f8E5M2 | f32 (f16 also f16) |
    | i8, i4 | i32 |

    The two f8 types may be mixed. Sums are rounded to the accumulator's type and so are the
    products that it cannot hold; a product and the sum it goes into may be rounded once
    together. i32 wraps. `precision` says how f32 operands are read: exactly, rounded to tf32, or (`tf32x3`)
    as sums of two tf32, of whose four products the least is left out; a target may be more exact
    with `tf32x3`, and read them exactly, as the host does. `unsigned_a` and `unsigned_b` read
    integer operands as unsigned.

    What is decided fixes the order of the sum over K: the accumulator comes first, and then k in
    ascending order, one by one or, by an atom, as many at a time as it takes, in whatever order
    that adds them. Of operands in registers it takes those that a thread's registers hold, from the
    least place on: both operands' layouts say which. With `tf32x3` the products of low parts go
    first, each kind over all of K; `parts` are one sum after another.

    `atom` is the matrix instruction that a pass or the author chose, `stage`, `order` and `role`
    are when and by whom, and `in_flight` is how many dots that its role starts later may be under
    way when its result is used, or, if it is handed on to the loop's next trip, when a trip ends.
    `interleave` is how its instructions alternate with those around it.

    Where several programs of a cluster multiply by the atom together, each has the operands and the
    result of a dot of its own, but they load the same b. Once `tile-realise-pairs` has shared that out,
    b is a program's part of its columns.

    `parts`, of m, n and k, is into how many dots it is cut (`tile-realise-parts`), and each dot in
    flight that this makes counts; `reads_ahead` is how many parts ahead of its own dot a part's
    operands are read into registers. `part_stages` and `part_orders` are two numbers for each part, in
    the order of k, then m, then n: the stage of its reads and that of its dot, and their places among
    what all parts do, each from 0 on. With `promote = true` each part along k is summed up on its own,
    from zero, and then added to the sum: an atom that keeps few bits of a sum then loses them of
    one part alone. With `swap = true` the transpose is computed, bᵀ · aᵀ + accumulatorᵀ
    (`tile-realise-swap`): rows and columns change places in the atom, which comes to see few rows
    as its columns. If nothing is said of these two, passes decide; `false` keeps them from it.

    With `scales`, those of a and those of b, it is a `tile.dot_scaled` that an instruction may
    run beside its warps (`tile-join-scales`): its element types and blocks are that op's. Operands
    of i8 have two f4E2M1FN in each byte along k, which is then their last dimension.

    ```mlir
    %d = tile.dot %a, %b, %c transpose_b
       : tensor<128x64xbf16>, tensor<256x64xbf16> -> tensor<128x256xf32>
    ```
  }];
  let arguments = (ins Tile_TensorOrBuffer:$a, Tile_TensorOrBuffer:$b, Tile_Tensor:$accumulator,
                       Variadic<Tile_Tensor>:$scales, UnitAttr:$transpose_a, UnitAttr:$transpose_b,
                       UnitAttr:$unsigned_a, UnitAttr:$unsigned_b,
                       DefaultValuedAttr<Tile_DotPrecisionAttr,
                                         "DotPrecision::IEEE">:$precision,
                       OptionalAttr<Tile_MmaAtom>:$atom, OptionalAttr<I64Attr>:$stage,
                       OptionalAttr<I64Attr>:$order, OptionalAttr<StrAttr>:$role,
                       OptionalAttr<I64Attr>:$in_flight,
                       OptionalAttr<DenseI64ArrayAttr>:$parts,
                       OptionalAttr<I64Attr>:$reads_ahead,
                       OptionalAttr<DenseI64ArrayAttr>:$part_stages,
                       OptionalAttr<DenseI64ArrayAttr>:$part_orders,
                       OptionalAttr<BoolAttr>:$promote, OptionalAttr<BoolAttr>:$swap,
                       OptionalAttr<Tile_InterleaveAttr>:$interleave);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = [{
    $a `,` $b `,` $accumulator (`scales` `(` $scales^ `)`)? (`transpose_a` $transpose_a^)?
    (`transpose_b` $transpose_b^)? (`unsigned_a` $unsigned_a^)? (`unsigned_b` $unsigned_b^)?
    (`precision` `=` `` $precision^)? attr-dict
    `:` type($a) `,` type($b) (`scales` `(` type($scales)^ `)`)? `->` type($accumulator)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Whether the product is to be made so: where nothing is said, or decided yet, it is not.
    bool isPromoted() { return getPromote().value_or(false); }
    bool isSwapped() { return getSwap().value_or(false); }
    /// The extents M, N and K of one matrix product.
    int64_t getM();
    int64_t getN();
    int64_t getK();
  }];
}

def Tile_DotScaledOp : Tile_Op<"dot_scaled", [Pure, AllTypesMatch<["accumulator", "result"]>]> {
  let summary = "a product of block-scaled matrices added to an accumulator";
  let description = [{
    `a` is [M, K] with scales [M, K / block], `b` is [K, N] (or, with `transpose_b`, [N, K])
    with scales [N, K / block]. Each element counts as element × scale.

    - MX formats: f8E4M3FN, f8E5M2, f6E2M3FN, f6E3M2FN or f4E2M1FN with f8E8M0FNU scales, a
      block of 32;
    - NV format: f4E2M1FN with f8E4M3FN scales, a block of 16, none of them below zero: an
      accelerator may read the sign or not.

    A NaN scale makes the block NaN. The accumulator is f32, as in `tile.dot`. Of an element ×
    scale below 2^-126, accelerators lose the bits that bf16 does not have, if they have no
    instruction for it. `atom` is that instruction, which a pass or the author chose; of one that
    runs on beside its warps `stage`, `order`, `role` and `in_flight` are those of `tile.dot`, which
    `tile-join-scales` makes of it.

    ```mlir
    %d = tile.dot_scaled %a scale %sa, %b scale %sb, %c
       : tensor<64x128xf4E2M1FN>, tensor<64x4xf8E8M0FNU>,
         tensor<128x64xf4E2M1FN>, tensor<64x4xf8E8M0FNU> -> tensor<64x64xf32>
    ```
  }];
  let arguments = (ins Tile_Tensor:$a, Tile_Tensor:$scale_a, Tile_Tensor:$b, Tile_Tensor:$scale_b,
                       Tile_Tensor:$accumulator, UnitAttr:$transpose_b, OptionalAttr<Tile_MmaAtom>:$atom,
                       OptionalAttr<I64Attr>:$stage, OptionalAttr<I64Attr>:$order,
                       OptionalAttr<StrAttr>:$role, OptionalAttr<I64Attr>:$in_flight);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = [{
    $a `scale` $scale_a `,` $b `scale` $scale_b `,` $accumulator (`transpose_b` $transpose_b^)?
    attr-dict `:` type($a) `,` type($scale_a) `,` type($b) `,` type($scale_b)
    `->` type($accumulator)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    int64_t getM();
    int64_t getN();
    int64_t getK();
  }];
}

class Tile_AxisRegionOp<string mnemonic, list<Trait> traits = []>
    : Tile_Op<mnemonic, !listconcat(traits, [RecursiveMemoryEffects,
        RecursivelySpeculatable, SingleBlockImplicitTerminator<"YieldOp">])> {
  let regions = (region SizedRegion<1>:$combiner);
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Tile_ReduceOp : Tile_AxisRegionOp<"reduce", [SameOperandsShape]> {
  let summary = "combines all elements along an axis";
  let description = [{
    The region combines two groups of scalars, one scalar an input: (left…, right…) to
    left ∘ right. It must be associative; the grouping is fixed by the compiled kernel, so
    that one binary gives the same bits each time, but another chip may group otherwise.
    Left always stands before right along the axis. The region holds only scalars and ops
    without effect on memory; it may use scalars from around it. The result loses the axis;
    reducing a tensor of rank 1 gives one of rank 0, which `tile.to_scalar` reads.

    ```mlir
    %sum = tile.reduce %x axis = 1 : tensor<64x32xf32> -> tensor<64xf32> {
    ^bb0(%left: f32, %right: f32):
      %s = arith.addf %left, %right : f32
      tile.yield %s : f32
    }
    ```
  }];
  let arguments = (ins Variadic<Tile_Tensor>:$inputs, I64Attr:$axis);
  let results = (outs Variadic<Tile_Tensor>:$results);
  let assemblyFormat = [{
    $inputs `axis` `=` $axis attr-dict `:` type($inputs) `->` type($results) $combiner
  }];
  let hasCanonicalizer = 1;
}

def Tile_ScanOp : Tile_AxisRegionOp<"scan", [SameOperandsAndResultShape]> {
  let summary = "combines all elements up to each one along an axis";
  let description = [{
    Inclusive: element i of the result combines elements 0 to i, or with `reverse` elements
    i to the last. The region is that of `tile.reduce`.

    ```mlir
    %sums = tile.scan %x axis = 0 reverse : tensor<64xf32> -> tensor<64xf32> {
    ^bb0(%left: f32, %right: f32):
      %s = arith.addf %left, %right : f32
      tile.yield %s : f32
    }
    ```
  }];
  let arguments = (ins Variadic<Tile_Tensor>:$inputs, I64Attr:$axis, UnitAttr:$reverse);
  let results = (outs Variadic<Tile_Tensor>:$results);
  let assemblyFormat = [{
    $inputs `axis` `=` $axis (`reverse` $reverse^)? attr-dict
    `:` type($inputs) `->` type($results) $combiner
  }];
  let hasFolder = 1;
}

def Tile_ArgReduceOp : Tile_AxisRegionOp<"arg_reduce"> {
  let summary = "the winning element along an axis, and its position";
  let description = [{
    The region, bound as that of `tile.reduce`, says whether its second scalar beats its first.
    "Beats" must be a strict weak order; of elements that do not beat each other the lowest
    position wins. The position is i32.

    ```mlir
    %max, %at = tile.arg_reduce %x axis = 1
        : tensor<64x32xf32> -> tensor<64xf32>, tensor<64xi32> {
    ^bb0(%best: f32, %next: f32):
      %wins = arith.cmpf ogt, %next, %best : f32
      tile.yield %wins : i1
    }
    ```
  }];
  let arguments = (ins Tile_Tensor:$input, I64Attr:$axis);
  let results = (outs Tile_Tensor:$value, Tile_TensorOf<I32, "i32">:$position);
  let assemblyFormat = [{
    $input `axis` `=` $axis attr-dict
    `:` type($input) `->` type($value) `,` type($position) $combiner
  }];
}

def Tile_YieldOp : Tile_Op<"yield", [Pure, Terminator, ReturnLike,
    ParentOneOf<["ReduceOp", "ScanOp", "ArgReduceOp"]>]> {
  let summary = "what a combining region makes of its scalars";
  let description = "```mlir\ntile.yield %s : f32\n```";
  let arguments = (ins Variadic<Tile_Element>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
  let builders = [OpBuilder<(ins), "(void)$_state;">];
}

#endif // KILN_DIALECT_TILE_IR_TILECOMPUTEOPS_TD
