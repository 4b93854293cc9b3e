// Decisions about who holds what, as attributes.
#ifndef KILN_DIALECT_TILE_IR_TILELAYOUTATTR_TD
#define KILN_DIALECT_TILE_IR_TILELAYOUTATTR_TD

include "kiln/Dialect/Tile/IR/TileAttributes.td"
include "kiln/Dialect/Tile/IR/TileEnums.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/TensorEncoding.td"

def Tile_LayoutAttr : Tile_Attr<"Layout", "layout", [
    DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let summary = "a linear layout: which place holds which element";
  let description = [{
    For each part of a place (`register`, `lane`, `warp`, `block`; or `offset`, of memory) the
    element that each of its bits stands for, low bit first; other places follow by exclusive
    or. See `kiln/Layout/Algebra/LinearLayout.h`. As the encoding of a tensor it says which
    thread holds which element; a buffer's says which element lies at which offset. The extents
    are those of the tensor or buffer. One that is no power of two is counted by the highest bits of
    one part other than `lane`, which ends where the extent does: of 192 columns those bits stand for
    [0,64] and [0,128], and there are 48 registers below, not 64.

    ```mlir
    tensor<16x8xf32, #tile.layout<register = [[0,1],[8,0]],
                                  lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = []>>
    ```
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::StringAttr">:$names,
                        ArrayRefParameter<"int64_t">:$bits,
                        ArrayRefParameter<"int64_t">:$bases, "int64_t":$rank);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let genMnemonicAlias = 1;
  let extraClassDeclaration = [{
    static LayoutAttr get(::mlir::MLIRContext *context, const ::kiln::LinearLayout &layout);
    /// The layout over a tensor of this shape, which verification has found to fit.
    ::kiln::LinearLayout toLinear(::llvm::ArrayRef<int64_t> shape) const;
  }];
}

def Tile_ConversionAttr : Tile_Attr<"Conversion", "conversion"> {
  let summary = "how a `tile.convert_layout` is made";
  let description = [{
    Within each thread's registers, between the lanes of each warp, or through shared memory: then
    with the layout of the buffer, and the copy atoms that write and read it if it is not each
    thread for itself.

    ```mlir
    #tile.conversion<lanes>
    #tile.conversion<memory buffer = #swizzled read = #atom>
    ```
  }];
  let parameters = (ins EnumParameter<Tile_ConversionKind>:$kind,
                        OptionalParameter<"::kiln::tile::LayoutAttr">:$buffer,
                        OptionalParameter<"::mlir::Attribute">:$write,
                        OptionalParameter<"::mlir::Attribute">:$read);
  let assemblyFormat = [{
    `<` $kind (`buffer` `=` $buffer^)? (`write` `=` $write^)? (`read` `=` $read^)? `>`
  }];
}

def Tile_FmaAtomAttr : Tile_Attr<"FmaAtom", "fma", [
    DeclareAttrInterfaceMethods<MmaAtomInterface, ["getUnit"]>]> {
  let summary = "a matrix product by one multiply-add an element";
  let description = [{
    The atom of a `tile.dot` for which the chip has no matrix instruction that keeps the
    meaning: each thread holds the rows and columns that its part of the result needs.
  }];
}

def Tile_ThroughRegistersAttr : Tile_Attr<"ThroughRegisters", "through_registers", [
    DeclareAttrInterfaceMethods<CopyAtomInterface, ["canCopy", "follows"]>]> {
  let summary = "a copy by loads into registers and stores to shared memory";
  let description = [{
    The atom of a `tile.load` with a buffer that no instruction copies as it lies: the warps load it
    into registers and write it to the buffer at the end of the trip, which hides the latency of the
    load behind the rest of the trip. Every chip has it.
  }];
}

#endif // KILN_DIALECT_TILE_IR_TILELAYOUTATTR_TD
