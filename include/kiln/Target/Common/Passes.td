// Passes that more than one target runs.
#ifndef KILN_TARGET_COMMON_PASSES_TD
#define KILN_TARGET_COMMON_PASSES_TD

include "mlir/Pass/PassBase.td"

def CheckTarget : Pass<"tile-check-target", "::mlir::ModuleOp"> {
  let summary = "refuse what the target cannot do, by name and line";
  let description = [{
    Asks the module's target about each op of each kernel and reports every one that it does not
    support. Later passes and the code generator may then rely on it: the code generator ends
    the process where it cannot go on.
    The test is `test/Target/Common/check-target.mlir`.
  }];
}

def CheckDecisions : Pass<"tile-check-decisions", "::mlir::ModuleOp"> {
  let summary = "refuse decisions that the target cannot obey";
  let description = [{
    Of what a source has pinned: each matrix and copy instruction is one of the chip's, can do what
    it is decided for by types, extents and what facts say of views, and follows the hints about
    caches, as the target's plain accesses do theirs; the chip can launch the kernel as it says; decisions stand only where they mean something, and with those that they need:
    roles, buffers, products in flight. An attribute that nothing reads where it stands is an error.
    Changes nothing.
    The tests are `test/Target/Common/check-decisions-invalid.mlir` and `check-fit-invalid.mlir`.
  }];
}

def CheckRealised : Pass<"tile-check-realised", "::mlir::ModuleOp"> {
  let summary = "refuse decisions that nothing has realised";
  let description = [{
    Precondition: all realising passes of the target have run; each takes away what it obeys. A
    decision that is still there, and that no lowering reads, is an error at its op. Changes nothing.
    The test is `test/Target/Common/check-realised-invalid.mlir`.
  }];
}

def ExpandNarrowFloats : Pass<"expand-narrow-floats"> {
  let summary = "turns conversions to and from narrow floats into integer arithmetic";
  let description = [{
    Expands `arith.extf` from, and `arith.truncf` to, bf16 and the floats of 8 bits and fewer,
    on scalars and vectors, and constants of those types; and `arith.truncf` from f64 to f16,
    which has no instruction. Narrowing rounds once, to nearest, ties to even. What does not
    fit becomes:

    | type | too large | NaN |
    |---|---|---|
    | bf16, f8E5M2 | infinity | NaN |
    | f8E4M3FN, f8E4M3FNUZ, f8E5M2FNUZ, f8E4M3B11FNUZ | NaN | NaN |
    | f6E2M3FN, f6E3M2FN, f4E2M1FN | the largest value | zero, of the opposite sign |
    | f8E8M0FNU | NaN, as are zero and what is negative | NaN |

    f8E8M0FNU holds powers of two; narrowing to it takes the nearer one, of two the larger, and
    2^-126 for all that lies between 2^-127 and 2^-126. These are the results of `ml_dtypes`, to
    the bit.

    Precondition: arithmetic on those types was widened before (`arith-emulate-unsupported-floats`).
    Postcondition: no conversion to or from them is left.

    ```mlir
    %y = arith.extf %x : vector<16xbf16> to vector<16xf32>
    // becomes
    %bits = arith.bitcast %x : vector<16xbf16> to vector<16xi16>
    %wide = arith.extui %bits : vector<16xi16> to vector<16xi32>
    %high = arith.shli %wide, %c16 : vector<16xi32>
    %y = arith.bitcast %high : vector<16xi32> to vector<16xf32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def ShareReciprocals : Pass<"share-reciprocals", "::mlir::func::FuncOp"> {
  let summary = "divides the elements of a thread by one number as products with its reciprocal";
  let description = [{
    An `arith.divf` of a vector of f32 by few numbers, each of which divides four elements or more,
    becomes three products an element, whose result is the quotient rounded to nearest, to the bit.
    That holds for elements and divisors of usual sizes; which they are is looked at when the
    kernel runs, and where any element of the vector is out of bounds, all are divided as before.
    Under fast mathematics nothing is changed.

    ```mlir
    %ys = vector.broadcast %y : f32 to vector<8xf32>
    %q = arith.divf %x, %ys : vector<8xf32>
    // becomes
    %r = arith.divf %one, %y : f32
    %rs = vector.broadcast %r : f32 to vector<8xf32>
    %q = scf.if %are_plain -> (vector<8xf32>) {
      %near = arith.mulf %x, %rs : vector<8xf32>
      %minus_x = arith.negf %x : vector<8xf32>
      %over = math.fma %near, %ys, %minus_x : vector<8xf32>
      %rest = arith.negf %over : vector<8xf32>
      %quotient = math.fma %rest, %rs, %near : vector<8xf32>
      scf.yield %quotient : vector<8xf32>
    } else {
      %quotient = arith.divf %x, %ys : vector<8xf32>
      scf.yield %quotient : vector<8xf32>
    }
    ```
    The test is `test/Target/Common/share-reciprocals.mlir`.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
                           "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

#endif // KILN_TARGET_COMMON_PASSES_TD
