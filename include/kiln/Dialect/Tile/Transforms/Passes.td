// Passes over the tile dialect that no target has a say in.
#ifndef KILN_DIALECT_TILE_TRANSFORMS_PASSES_TD
#define KILN_DIALECT_TILE_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def CountWhiles : Pass<"tile-count-whiles", "::mlir::ModuleOp"> {
  let summary = "makes an scf.while whose trips are counted an scf.for";
  let description = [{
    Where a loop goes on while a number of at least 32 bits that each trip changes by a constant is
    on one side of a bound that no trip changes. The number is taken not to wrap round on its way to
    the bound. What else changes by a constant, by as much or by a multiple of it, is computed from
    the loop's variable. What is decided of the loop and of its ops stays; a loop is left alone if
    something is decided of an op of its condition, since no op of the loop would be that one.

    ```mlir
    %r:2 = scf.while (%k = %c0, %sum = %zero) : (i32, f32) -> (i32, f32) {
      %goes = arith.cmpi slt, %k, %n : i32
      scf.condition(%goes) %k, %sum : i32, f32
    } do {
    ^bb0(%k: i32, %sum: f32):
      …
      %next = arith.addi %k, %c64 : i32
      scf.yield %next, %more : i32, f32
    }
    // becomes
    %r = scf.for %at = %c0 to %n step %c64 iter_args(%sum = %zero) -> (f32) {
      %k = arith.index_cast %at : index to i32
      …
      scf.yield %more : f32
    }
    ```
    The test is `test/Dialect/Tile/count-whiles.mlir`.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def ExpandArgReduce : Pass<"tile-expand-arg-reduce"> {
  let summary = "turns tile.arg_reduce into a tile.reduce of values and positions";
  let description = [{
    For targets with nothing better. Postcondition: no `tile.arg_reduce` is left.

    ```mlir
    %v, %i = tile.arg_reduce %x axis = 0 : tensor<8xf32> -> tensor<f32>, tensor<i32> { … }
    // becomes
    %at = tile.iota 0 : tensor<8xi32>
    %v, %i = tile.reduce %x, %at axis = 0
           : tensor<8xf32>, tensor<8xi32> -> tensor<f32>, tensor<i32> { … }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def ExpandPhilox : Pass<"tile-expand-philox"> {
  let summary = "turns tile.philox into its ten rounds of integer arithmetic";
  let description = [{
    The four words stay elementwise, so that a target computes them where they are used.
    Postcondition: no `tile.philox` is left.

    ```mlir
    %low, %high = arith.mului_extended %counter, %multiplier : tensor<64xi32>   // and so on
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def ExpandTF32 : Pass<"tile-expand-tf32"> {
  let summary = "keeps tf32 as f32, and rounds what is computed";
  let description = [{
    For targets whose threads have no tf32. Arithmetic is done in f32 and its result rounded once
    more, to nearest, ties to even; from f64 and from integers it is rounded once. A dot of tf32
    becomes one of f32 of that precision. Postcondition: no value is a tf32.

    ```mlir
    %s = arith.addf %x, %y : tensor<64xtf32>
    // becomes
    %wide = arith.addf %x, %y : tensor<64xf32>
    %bits = arith.bitcast %wide : tensor<64xf32> to tensor<64xi32>   // and so on
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

def InlineFunctions : Pass<"tile-inline-functions", "::mlir::ModuleOp"> {
  let summary = "puts the bodies of helper functions where kernels call them";
  let description = [{
    Precondition: a function that a kernel calls has one block that ends in `func.return`, and
    does not call itself, directly or through others; what is not so is an error at the call.
    Postcondition: the module holds no function and its kernels call none. An inlined op's
    location says both where it was written and where it was called.

    ```mlir
    func.func @relu(%x: tensor<8xf32>) -> tensor<8xf32> {
      %zero = arith.constant dense<0.0> : tensor<8xf32>
      %y = arith.maximumf %x, %zero : tensor<8xf32>
      return %y : tensor<8xf32>
    }
    %r = func.call @relu(%t) : (tensor<8xf32>) -> tensor<8xf32>
    // becomes
    %zero = arith.constant dense<0.0> : tensor<8xf32>
    %r = arith.maximumf %t, %zero : tensor<8xf32>
    ```
  }];
  let dependentDialects = ["::kiln::tile::TileDialect"];
  let options = [
    Option<"maxOps", "max-ops", "int64_t", "1000000", "how many operations a kernel may gain">,
  ];
}

def MultiplyDivisions : Pass<"tile-multiply-divisions", "::mlir::ModuleOp"> {
  let summary = "divides tiles by one scalar as multiplications";
  let description = [{
    Where ranges show that both are positive and fit 31 bits, a tile of 32-bit integers is
    multiplied by the reciprocal of the scalar that divides all of it. A scalar of up to 53 bits is
    divided as a float. Results do not change. What is known of neighbours in a quotient can be
    seen of the division only, so what asks for that comes before.

    ```mlir
    %q = arith.divui %at, %ns : tensor<1024xi32>      // %ns is a splat of %n
    // becomes
    %low, %high = arith.mului_extended %twice, %factor : tensor<1024xi32>
    %q = arith.shrui %high, %shift : tensor<1024xi32>
    ```
    The test is `test/Dialect/Tile/multiply-divisions.mlir`.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def NarrowIndices : Pass<"tile-narrow-indices", "::mlir::ModuleOp"> {
  let summary = "computes indices in 32 bits where ranges allow it";
  let description = [{
    Ranges come from facts about arguments, from shapes and from the numbers of programs. Integer
    arithmetic on tiles that repeat one element becomes scalar; what ranges decide is folded; tiles
    of 64-bit integers, and scalar divisions, are computed in 32 bits where nothing is lost; of a
    sum of a scalar and a tile the scalar is divided by itself. Results do not change. Ops that
    carry a decision are left alone.

    ```mlir
    %q = arith.floordivsi %at, %n : tensor<1024xi64>   // all of them fit 32 bits
    // becomes
    %narrow = arith.divui %at32, %n32 : tensor<1024xi32>
    %q = arith.extsi %narrow : tensor<1024xi32> to tensor<1024xi64>
    ```
    The test is `test/Dialect/Tile/narrow-indices.mlir`.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def Canonicalize : Pass<"canonicalize"> {
  let summary = "applies the canonicalisation patterns of all ops";
  let description = [{
    Upstream's `canonicalize` without the patterns of MLIR 22 that change values. A cast of an index
    to a narrower type and back drops bits, and stays
    ([llvm-project#90296](https://github.com/llvm/llvm-project/issues/90296)); an `scf.if` stays in
    front of an `scf.condition` that forwards its result
    ([llvm-project#219456](https://github.com/llvm/llvm-project/issues/219456)).

    ```mlir
    %byte = arith.index_cast %i : index to i8
    %low = arith.index_cast %byte : i8 to index       // upstream makes it %i
    %wide = arith.index_cast %i : index to i64
    %same = arith.index_cast %wide : i64 to index     // becomes %i
    ```
    The tests are `test/Dialect/Tile/narrow-casts.mlir` and `forwarded-twice.mlir`.
  }];
}

def Simplify : Pass<"tile-simplify", "::mlir::ModuleOp"> {
  let summary = "canonicalises and merges equal ops, except those that carry a decision";
  let description = [{
    `canonicalize` and `cse` for sources that may be pinned: an op with a decision about its atom or
    its schedule is neither rewritten, folded nor merged. One that nobody uses is an error.

    ```mlir
    %x = arith.addf %a, %b : tensor<8xf32>
    %y = arith.addf %a, %b : tensor<8xf32>                          // becomes %x
    %z = arith.addf %a, %b {tile.role = "mma"} : tensor<8xf32>      // stays
    ```
    The test is `test/Dialect/Tile/simplify.mlir`.
  }];
}

def HoistBreaks : Pass<"tile-hoist-breaks", "::mlir::ModuleOp"> {
  let summary = "has an scf.while that leaves a trip at its beginning ask so in front of the trip";
  let description = [{
    Where a loop carries a flag that ends it, and a trip does all but asking behind the condition
    that the flag is not set by this very trip, as a `for` with a `break` in front of all else. What
    is asked is numbers: computed, or loaded from what the kernel does not write. Then nothing of the
    trip stands in a condition, and trips can overlap. What is decided of the loop and of what its
    trips do stays; what asks is left alone if anything is decided of it.

    ```mlir
    %r = scf.while (%i = %c0, %left = %false, %sum = %zero) : (index, i1, f32) -> (f32) {
      %more = arith.cmpi slt, %i, %n : index
      %stays = arith.xori %left, %true : i1
      %goes = arith.andi %more, %stays : i1
      scf.condition(%goes) %i, %sum : index, f32
    } do {
    ^bb0(%i: index, %sum: f32):
      %leaves = …
      %next = scf.if %leaves -> (f32) {
        scf.yield %sum : f32
      } else {
        …
      }
      scf.yield %j, %leaves, %next : index, i1, f32
    }
    // becomes
    %r = scf.while (%i = %c0, %sum = %zero) : (index, f32) -> (f32) {
      %more = arith.cmpi slt, %i, %n : index
      %leaves = …
      %stays = arith.xori %leaves, %true : i1
      %goes = arith.andi %more, %stays : i1
      scf.condition(%goes) %i, %sum : index, f32
    } do {
    ^bb0(%i: index, %sum: f32):
      …
      scf.yield %j, %more : index, f32
    }
    ```
    The test is `test/Dialect/Tile/hoist-breaks.mlir`.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def HoistInvariants : Pass<"tile-hoist-invariants", "::mlir::ModuleOp"> {
  let summary = "moves what no trip changes out of loops, except what carries a decision";
  let description = [{
    The test is `test/Dialect/Tile/simplify.mlir`.
  }];
}

def VerifyKernels : Pass<"tile-verify-kernels", "::mlir::ModuleOp"> {
  let summary = "checks that kernels hold only what every target is promised";
  let description = [{
    Precondition: functions are inlined. Postcondition, or an error at the op that breaks it:

    - the module holds nothing but kernels, whose names are identifiers;
    - each op is one of tile, arith, math, or structured control flow (`scf.for`, `scf.if`,
      `scf.while`), nested no deeper than `max-depth` regions;
    - each value is a scalar or a tile within the dialect's limits, or memory that stays where
      it was made: no loop or branch carries a view, a pointer or a buffer;
    - a loop's step, where it is constant, is at least 1.

    Nothing is changed.
  }];
  let options = [
    Option<"maxDepth", "max-depth", "int64_t", "64", "how deep regions may nest in a kernel">,
  ];
}

#endif // KILN_DIALECT_TILE_TRANSFORMS_PASSES_TD
