// The kernel, its grid and where a program stands in it.
#ifndef KILN_DIALECT_TILE_IR_TILEKERNELOPS_TD
#define KILN_DIALECT_TILE_IR_TILEKERNELOPS_TD

include "kiln/Dialect/Tile/IR/TileDialect.td"
include "kiln/Dialect/Tile/IR/TileEnums.td"
include "kiln/Dialect/Tile/IR/TileTypes.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/InferIntRangeInterface.td"

def Tile_KernelOp : Tile_Op<"kernel", [Symbol, IsolatedFromAbove, AutomaticAllocationScope,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>]> {
  let summary = "a kernel: the grid it runs on, and one program of it";
  let description = [{
    The arguments are views, pointers and scalars. The optional `grid` region computes, from
    the arguments alone, how many programs run along each axis; without one a launch must
    say. It runs on the host: it reads extents, strides and scalars, but no memory and no
    program's position. The body is run once by each program. Programs may run in any order, at the same
    time or one after another, and only atomics order what they do to memory.

    An argument's name is kept as `tile.name`, so that launches and messages can name it; the
    text has it as the argument's own name.

    It is no `FunctionOpInterface`, which allows one region only. The form is written by hand
    because both regions bind the names of the one signature.

    ```mlir
    tile.kernel @copy(%x: !tile.view<?xf32>, %y: !tile.view<?xf32>) grid {
      %n = tile.dim %x, 0 : !tile.view<?xf32>
      %c128 = arith.constant 128 : index
      %programs = arith.ceildivui %n, %c128 : index
      tile.grid %programs
    } {
      %i = tile.program_id x
      %c128 = arith.constant 128 : index
      %offset = arith.muli %i, %c128 : index
      %t = tile.load %x[%offset] : !tile.view<?xf32> -> tensor<128xf32>
      tile.store %t, %y[%offset] : tensor<128xf32>, !tile.view<?xf32>
      tile.return
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<FunctionType>:$function_type,
                       OptionalAttr<DictArrayAttr>:$arg_attrs);
  let regions = (region SizedRegion<1>:$body, MaxSizedRegion<1>:$grid);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    unsigned getNumArguments() { return getFunctionType().getNumInputs(); }
    bool hasGrid() { return !getGrid().empty(); }
    /// The attributes of an argument; empty if it has none.
    ::mlir::DictionaryAttr getArgumentAttributes(unsigned index);
    /// The facts known of an argument, or null.
    FactsAttr getFacts(unsigned index);
  }];
}

def Tile_GridOp : Tile_Op<"grid", [Terminator, HasParent<"KernelOp">, Pure]> {
  let summary = "ends a kernel's grid region with the number of programs along x, y and z";
  let description = [{
    One to three extents; axes that are not given have one program. An extent that is zero
    or negative launches nothing.

    ```mlir
    tile.grid %tiles_m, %tiles_n
    ```
  }];
  let arguments = (ins Variadic<Index>:$extents);
  let assemblyFormat = "$extents attr-dict";
  let hasVerifier = 1;
}

def Tile_ReturnOp : Tile_Op<"return", [Terminator, HasParent<"KernelOp">, Pure]> {
  let summary = "ends a kernel's body";
  let description = "```mlir\ntile.return\n```";
  let assemblyFormat = "attr-dict";
}

class Tile_AxisQuery<string mnemonic> : Tile_Op<mnemonic, [Pure,
    DeclareOpInterfaceMethods<InferIntRangeInterface, ["inferResultRanges"]>]> {
  let arguments = (ins Tile_AxisAttr:$axis);
  let results = (outs Index:$result);
  let assemblyFormat = "`` $axis attr-dict";
}
def Tile_ProgramIdOp : Tile_AxisQuery<"program_id"> {
  let summary = "which program of the grid this is, along one axis";
  let description = "From 0 to `tile.num_programs` - 1.\n```mlir\n%i = tile.program_id x\n```";
}
def Tile_NumProgramsOp : Tile_AxisQuery<"num_programs"> {
  let summary = "how many programs the grid has along one axis";
  let description = "At least 1.\n```mlir\n%n = tile.num_programs y\n```";
}

#endif // KILN_DIALECT_TILE_IR_TILEKERNELOPS_TD
