// The passes that decide layouts and realise what they imply.
#ifndef KILN_LAYOUT_TRANSFORMS_PASSES_TD
#define KILN_LAYOUT_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def DecideAtoms : Pass<"tile-decide-atoms", "::mlir::ModuleOp"> {
  let summary = "choose the number of warps and the matrix instruction of each dot";
  let description = [{
    Precondition: the module has a target. Postcondition: each kernel has `tile.warps`, each
    `tile.dot` an `atom`: the first of those that the target offers for its types that fits its
    extents, else `#tile.fma`. What is already decided stays.

    Before:
    ```mlir
    %d = tile.dot %a, %b, %c : tensor<64x32xf16>, tensor<32x64xf16> -> tensor<64x64xf32>
    ```
    After, on a chip without matrix instructions for these types:
    ```mlir
    %d = tile.dot %a, %b, %c {atom = #tile.fma}
       : tensor<64x32xf16>, tensor<32x64xf16> -> tensor<64x64xf32>
    ```
    The test is `test/Layout/Transforms/decide-atoms.mlir`.
  }];
}

def DecideLayouts : Pass<"tile-decide-layouts", "::mlir::ModuleOp"> {
  let summary = "give each tensor a layout";
  let description = [{
    Precondition: atoms and warps are decided; extents are powers of two. Postcondition: the
    type of each tensor in a kernel's body has a `#tile.layout`, and ops agree in layouts up to
    `tile.convert_layout`.

    Anchors are loads (coalesced, as wide as facts about the arguments allow) and the fragments
    of atoms; other ops take their operands' layout. A loop's value that starts as a constant
    takes the layout that the body gives it. Where a layout must change, ops that cost nothing
    (constants, iota, splat, broadcast) are made again in the new layout; others are converted.
    The test is `test/Layout/Transforms/decide-layouts.mlir`.
  }];
  let dependentDialects = ["::kiln::tile::TileDialect"];
}

def RealiseConversions : Pass<"tile-realise-conversions", "::mlir::ModuleOp"> {
  let summary = "send layout conversions that threads cannot make alone through shared memory";
  let description = [{
    Precondition: layouts are decided. Postcondition: each `tile.convert_layout` left moves
    values between the registers of one thread, or between the lanes of one warp with at most
    two candidates for each value; every other has become a `tile.alloc`, a `tile.write` and a
    `tile.read`.
    The test is `test/Layout/Transforms/realise-conversions.mlir`.
  }];
  let dependentDialects = ["::kiln::tile::TileDialect"];
}

#endif // KILN_LAYOUT_TRANSFORMS_PASSES_TD
