// The `nvptx` dialect: the target attribute and its matrix instructions.
#ifndef KILN_TARGET_NVPTX_NVPTX_TD
#define KILN_TARGET_NVPTX_NVPTX_TD

include "kiln/Layout/Transforms/AsyncAtomInterfaces.td"
include "kiln/Layout/Transforms/WarpCopyAtomInterface.td"
include "kiln/Layout/Transforms/WarpMmaAtomInterface.td"
include "kiln/Target/Common/CacheHints.td"
include "kiln/Target/Common/ForeignTarget.td"
include "kiln/Target/Common/Synchronisation.td"
include "kiln/Target/TargetInterface.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"

def NVPTX_Dialect : Dialect {
  let name = "nvptx";
  let cppNamespace = "::kiln::nvptx";
  let summary = "what compiling for NVIDIA's chips decides";
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let dependentDialects = ["::mlir::NVVM::NVVMDialect"];
}

def NVPTX_TargetAttr : AttrDef<NVPTX_Dialect, "Target", [
    DeclareAttrInterfaceMethods<TargetInterface,
        ["getSpelling", "getChipRecord", "runsOnHost", "whyUnsupported", "isEmulated", "getMmaAtoms", "getAtoms", "hasAtom",
         "getCopyAtoms", "addOwnPasses", "emit"]>,
    DeclareAttrInterfaceMethods<CacheHintsInterface>,
    DeclareAttrInterfaceMethods<ForeignTargetInterface>,
    DeclareAttrInterfaceMethods<SynchronisationInterface,
        ["getGroupBarriers", "groupBarrier", "setRegisters", "hasByteBarriers",
         "initBarrier", "publishBarriers", "arrive", "arriveExpecting", "awaitCopies", "waitBarrier",
         "meetLanes", "publishShared", "publishGlobal", "getMapType", "prefetchMap", "commitStores",
         "waitStores", "waitDots", "getTensorBytes", "getTensorColumnBytes", "allocTensor",
         "endTensorAllocs", "freeTensor", "getTensorSlot", "publishTensor", "observeTensor",
         "commitDots", "hasClusters", "meetCluster", "getNumberInCluster", "getBarrierOf", "arriveAt",
         "overlapsLaunches",
         "launchDependents", "waitDependencies"]>]> {
  let mnemonic = "target";
  let summary = "an NVIDIA chip";
  let description = [{
    ```mlir
    module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {}
    ```
  }];
  let parameters = (ins StringRefParameter<>:$chip);
  let assemblyFormat = "`<` `chip` `=` $chip `>`";
  let genVerifyDecl = 1;
}

def NVPTX_MmaSyncAttr : AttrDef<NVPTX_Dialect, "MmaSync", [
    DeclareAttrInterfaceMethods<MmaAtomInterface>,
    DeclareAttrInterfaceMethods<WarpMmaAtomInterface>]> {
  let mnemonic = "mma_sync";
  let summary = "`mma.sync`: a matrix product by the 32 lanes of a warp, out of registers";
  let description = [{
    The shape as PTX spells it, the type of a and b, and that of the accumulator; the type of b
    where it is not that of a. Unsigned integers are told apart by their type.

    ```mlir
    #nvptx.mma_sync<"m16n8k16", bf16, f32>
    #nvptx.mma_sync<"m16n8k32", f8E4M3FN, f32, b = f8E5M2>
    ```
  }];
  let parameters = (ins StringRefParameter<>:$shape, "::mlir::Type":$element,
                        "::mlir::Type":$accumulator, OptionalParameter<"::mlir::Type">:$elementB);
  let assemblyFormat = "`<` $shape `,` $element `,` $accumulator (`,` `b` `=` $elementB^)? `>`";
  let extraClassDeclaration = [{
    /// The types of a and b.
    ::mlir::Type getTypeOf(unsigned operand) const {
      return operand == 1 && getElementB() ? getElementB() : getElement();
    }
  }];
  let genVerifyDecl = 1;
}

def NVPTX_WgmmaAttr : AttrDef<NVPTX_Dialect, "Wgmma", [
    DeclareAttrInterfaceMethods<MmaAtomInterface,
                                ["getExtents", "getWarps", "readsFrom", "getCompletion",
                                 "sumsExactly"]>,
    DeclareAttrInterfaceMethods<AsyncMmaAtomInterface>]> {
  let mnemonic = "wgmma";
  let summary = "`wgmma.mma_async`: a matrix product by the 128 lanes of four warps";
  let description = [{
    The shape as PTX spells it, the type of a and b, and that of the accumulator. b is read from
    shared memory, a from there or from registers. A buffer lies in rows of 128, 64 or 32 bytes
    whose 16-byte pieces are permuted; along k in each row (any type) or, for types of 16 bits,
    along m or n.

    ```mlir
    #nvptx.wgmma<"m64n256k16", bf16, f32>
    ```
  }];
  let parameters = (ins StringRefParameter<>:$shape, "::mlir::Type":$element,
                        "::mlir::Type":$accumulator);
  let assemblyFormat = "`<` $shape `,` $element `,` $accumulator `>`";
  let genVerifyDecl = 1;
}

def NVPTX_Tcgen05Attr : AttrDef<NVPTX_Dialect, "Tcgen05", [
    DeclareAttrInterfaceMethods<MmaAtomInterface,
        ["getExtents", "getWarps", "getPrograms", "readsFrom", "getAccumulatorPlace",
         "getCompletion"]>,
    DeclareAttrInterfaceMethods<AsyncMmaAtomInterface,
        ["multipliesScaled", "getScaleLayout", "fetch", "fill"]>]> {
  let mnemonic = "tcgen05";
  let summary = "`tcgen05.mma`: a matrix product into tensor memory, which one thread starts";
  let description = [{
    The shape, the type of a and b, and that of the accumulator; the type of b where floats of a byte
    are not those of a. Operands are read from shared
    memory, from buffers as `wgmma` reads them. 128 rows of the accumulator are the 128 lanes of
    tensor memory, its columns are columns there; the four warps of the role fetch 32 rows each. Of 64
    rows each warp has 16, in the first half of its lanes, and two threads fetch a row together.
    Integers are of either sign.

    What warps have computed of a is read from tensor memory. Each thread writes what it would
    fetch of an accumulator; a column has 32 bits of a row, two elements of 16 bits or four of 8.

    Of 256 rows two programs of a cluster that follow one another have 128 each: a pair, whose first
    program starts the product for both. Each of them has its own rows of a and half of the columns of
    b in its shared memory, and its own rows of the accumulator, in all columns, in its tensor memory.

    With a type of `scale` each block of 32 elements along k has a scale, or of 16 with f8E4M3FN (`kind::mxf8f6f4`,
    `mxf4` and `mxf4nvf4`). Scales lie in tensor memory, where warps have written them: four of a row
    in a column, rows in 32 lanes and in further columns, and all of it in each warp's 32 lanes again.

    ```mlir
    #nvptx.tcgen05<"m128n256k16", bf16, f32>
    #nvptx.tcgen05<"m64n8k32", i8, i32>
    #nvptx.tcgen05<"m64n64k32", f8E4M3FN, f32, b = f8E5M2>
    #nvptx.tcgen05<"m256n256k16", bf16, f32>
    #nvptx.tcgen05<"m128n128k32", f8E4M3FN, f32 scale = f8E8M0FNU>
    #nvptx.tcgen05<"m128n128k64", f4E2M1FN, f32 scale = f8E4M3FN>
    ```
  }];
  let parameters = (ins StringRefParameter<>:$shape, "::mlir::Type":$element,
                        "::mlir::Type":$accumulator, OptionalParameter<"::mlir::Type">:$elementB,
                        OptionalParameter<"::mlir::Type">:$scale);
  let assemblyFormat = [{
    `<` $shape `,` $element `,` $accumulator (`,` `b` `=` $elementB^)?
    (`scale` `=` $scale^)? `>`
  }];
  let extraClassDeclaration = [{
    /// The types of a and b.
    ::mlir::Type getTypeOf(unsigned operand) const {
      return operand == 1 && getElementB() ? getElementB() : getElement();
    }
    /// How many elements along k have a scale together; 0 if there are none.
    int64_t getBlock() const;
  }];
  let genVerifyDecl = 1;
}

def NVPTX_TmaAttr : AttrDef<NVPTX_Dialect, "Tma", [
    DeclareAttrInterfaceMethods<CopyAtomInterface,
                                ["getCompletion", "follows", "admits", "getUnit"]>,
    DeclareAttrInterfaceMethods<EngineAtomInterface>]> {
  let mnemonic = "tma";
  let summary = "`cp.async.bulk.tensor`: copies of boxes by an engine";
  let description = [{
    Box and swizzle follow from the buffer: row-major, or in rows of 128, 64 or 32 bytes whose
    16-byte pieces are permuted. The view's last stride is 1, its address and other strides are
    multiples of 16 bytes; elements outside read as zero.

    ```mlir
    #nvptx.tma
    ```
  }];
}

def NVPTX_CpAsyncAttr : AttrDef<NVPTX_Dialect, "CpAsync", [
    DeclareAttrInterfaceMethods<CopyAtomInterface, ["getCompletion", "follows", "admits"]>,
    DeclareAttrInterfaceMethods<DirectAtomInterface>]> {
  let mnemonic = "cp_async";
  let summary = "`cp.async`: a load from global memory that goes to shared memory past the registers";
  let description = [{
    How many bytes each lane moves: 4, 8 or 16. A role fills its own ring by it (one `tile.put` is
    one group), on every chip from sm_80 on.

    The buffer may have any order of pieces of so many bytes, each of them consecutive elements of a
    row: permuted against bank conflicts, say, as `ldmatrix` reads it. The view's last stride is 1
    and its address, other strides and offsets are known to be multiples of so many bytes; extents
    need not be, for elements outside are filled with zeros one by one. 16 bytes pass by the first
    cache, unless the load says `cache = all`; 4 and 8 cannot.

    ```mlir
    #nvptx.cp_async<16>
    ```
  }];
  let parameters = (ins "unsigned":$bytes);
  let assemblyFormat = "`<` $bytes `>`";
  let genVerifyDecl = 1;
}

// Matrices of 8 rows of 16 bytes that the lanes of a warp move together, each lane naming a row.
class NVPTX_MatrixCopy<string name, string mnemonicOf> : AttrDef<NVPTX_Dialect, name, [
    DeclareAttrInterfaceMethods<CopyAtomInterface>,
    DeclareAttrInterfaceMethods<WarpCopyAtomInterface>]> {
  let mnemonic = mnemonicOf;
  let parameters = (ins "unsigned":$count, "unsigned":$bits,
                        DefaultValuedParameter<"bool", "false">:$transposed);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def NVPTX_LdMatrixAttr : NVPTX_MatrixCopy<"LdMatrix", "ldmatrix"> {
  let summary = "`ldmatrix`: 8x8 matrices of 16-bit units from shared memory to a warp's registers";
  let description = [{
    How many matrices, the bits of an element (32, 16 or 8: two or four of them share a register,
    or one fills it), and whether each matrix is transposed on the way, which 16 bits can be.

    ```mlir
    #nvptx.ldmatrix<4, 16, transposed>
    ```
  }];
}

def NVPTX_StMatrixAttr : NVPTX_MatrixCopy<"StMatrix", "stmatrix"> {
  let summary = "`stmatrix`: the same from registers to shared memory, from sm_90 on";
  let description = [{
    ```mlir
    #nvptx.stmatrix<4, 16>
    ```
  }];
}

#endif // KILN_TARGET_NVPTX_NVPTX_TD
