// The `tile` dialect: block-level values and views; no threads, no chip.
#ifndef KILN_DIALECT_TILE_IR_TILEDIALECT_TD
#define KILN_DIALECT_TILE_IR_TILEDIALECT_TD

include "mlir/IR/OpBase.td"

def Tile_Dialect : Dialect {
  let name = "tile";
  let cppNamespace = "::kiln::tile";
  let summary = "kernels over tiles";
  let description = [{
    A kernel of this dialect is one program of a grid. Its values are builtin tensors of
    static shape, on which `arith` and `math` work element by element, and `scf` is the
    control flow. Memory is reached through views (global memory) and buffers (the memory
    that the threads of one program share). Nothing here names a thread or a chip: passes
    write such decisions as attributes, and later passes realise them.
  }];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let extraClassDeclaration = [{
    void registerTypes();
    void registerAttributes();
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

class Tile_Op<string mnemonic, list<Trait> traits = []> : Op<Tile_Dialect, mnemonic, traits>;

#endif // KILN_DIALECT_TILE_IR_TILEDIALECT_TD
