// Facts and candidates that travel with a kernel.
#ifndef KILN_DIALECT_TILE_IR_TILEATTRIBUTES_TD
#define KILN_DIALECT_TILE_IR_TILEATTRIBUTES_TD

include "kiln/Dialect/Tile/IR/TileAtomInterfaces.td"
include "kiln/Dialect/Tile/IR/TileDialect.td"
include "mlir/IR/AttrTypeBase.td"

class Tile_Attr<string name, string attrMnemonic, list<Trait> traits = []>
    : AttrDef<Tile_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

def Tile_FactsAttr : Tile_Attr<"Facts", "facts"> {
  let summary = "what is known of a kernel's argument when it is compiled";
  let description = [{
    Stands as `tile.facts` on an argument of a kernel. Every fact is optional, is computed
    at launch and belongs to the key that the compiled kernel is cached under:

    - `pointer`: the base address is a multiple of so many bytes, a power of two;
    - `strides`: each stride, in bytes, is a multiple of so many bytes (0: nothing known);
    - `extents`: each extent is a positive multiple of so many elements (0: nothing known);
    - `index32`: every element lies within 2^31 bytes behind the base address, and extents and
      strides are numbers of 32 bits;
    - `noalias`: no other argument reaches this argument's memory;
    - `divisor`: for an integer argument, what its value is a multiple of.

    Strides and extents that are known to be 1 are static in the view's type. A scalar has
    only a divisor, and only if it is an integer; a view and a pointer have none.

    ```mlir
    %a: !tile.view<?x?xf32> {tile.facts = #tile.facts<pointer = 16, strides = [16, 4],
                                                      extents = [0, 16], index32>}
    ```
  }];
  let parameters = (ins DefaultValuedParameter<"int64_t", "0">:$pointer,
                        OptionalArrayRefParameter<"int64_t">:$strides,
                        OptionalArrayRefParameter<"int64_t">:$extents,
                        DefaultValuedParameter<"bool", "false">:$index32,
                        DefaultValuedParameter<"bool", "false">:$noalias,
                        DefaultValuedParameter<"int64_t", "0">:$divisor);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Tile_TunableAttr : Tile_Attr<"Tunable", "tunable"> {
  let summary = "a choice that a tuner made among candidates";
  let description = [{
    `tile.tunables` on a kernel lists one for each `kiln.tunable` of its source: the value
    that this instance was built with, and the candidates it was one of.

    ```mlir
    #tile.tunable<"BLOCK_M" = 64 of [32, 64, 128]>
    ```
  }];
  let parameters = (ins "::mlir::StringAttr":$name, "::mlir::Attribute":$value,
                        "::mlir::ArrayAttr":$candidates);
  let assemblyFormat = "`<` $name `=` $value `of` $candidates `>`";
  let genVerifyDecl = 1;
}

#endif // KILN_DIALECT_TILE_IR_TILEATTRIBUTES_TD
