// The `amdgcn` dialect: the target attribute and its matrix instructions. (`amdgpu` is upstream's.)
#ifndef KILN_TARGET_AMDGPU_AMDGPU_TD
#define KILN_TARGET_AMDGPU_AMDGPU_TD

include "kiln/Layout/Transforms/AsyncAtomInterfaces.td"
include "kiln/Layout/Transforms/WarpCopyAtomInterface.td"
include "kiln/Layout/Transforms/WarpMmaAtomInterface.td"
include "kiln/Target/Common/BoundedMemory.td"
include "kiln/Target/Common/CacheHints.td"
include "kiln/Target/Common/ForeignTarget.td"
include "kiln/Target/Common/Synchronisation.td"
include "kiln/Target/TargetInterface.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"

def AMDGCN_Dialect : Dialect {
  let name = "amdgcn";
  let cppNamespace = "::kiln::amdgcn";
  let summary = "what compiling for AMD's chips decides";
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let dependentDialects = ["::mlir::ROCDL::ROCDLDialect"];
}

def AMDGCN_TargetAttr : AttrDef<AMDGCN_Dialect, "Target", [
    DeclareAttrInterfaceMethods<TargetInterface,
        ["getSpelling", "getChipRecord", "runsOnHost", "whyUnsupported", "isEmulated", "getMmaAtoms", "getAtoms", "hasAtom",
         "getScaledMmaAtoms", "getCopyAtoms", "addOwnPasses", "emit"]>,
    DeclareAttrInterfaceMethods<BoundedMemoryInterface>,
    DeclareAttrInterfaceMethods<CacheHintsInterface>,
    DeclareAttrInterfaceMethods<ForeignTargetInterface, ["blockFencesWait"]>,
    DeclareAttrInterfaceMethods<SynchronisationInterface,
        ["setPriority", "ordersInstructions", "orderInstructions", "initBarrier",
         "publishBarriers", "arrive", "awaitCopies", "fenceGlobal", "arriveInPhase", "waitBarrier", "meetLanes"]>]> {
  let mnemonic = "target";
  let summary = "an AMD chip";
  let description = [{
    ```mlir
    module attributes {tile.target = #amdgcn.target<chip = "gfx942">} {}
    ```
  }];
  let parameters = (ins StringRefParameter<>:$chip);
  let assemblyFormat = "`<` `chip` `=` $chip `>`";
  let genVerifyDecl = 1;
}

def AMDGCN_MatrixAttr : AttrDef<AMDGCN_Dialect, "Matrix", [
    DeclareAttrInterfaceMethods<MmaAtomInterface>,
    DeclareAttrInterfaceMethods<WarpMmaAtomInterface>,
    DeclareAttrInterfaceMethods<ScaledMmaAtomInterface>]> {
  let mnemonic = "matrix";
  let summary = "a matrix instruction, out of registers: MFMA or WMMA";
  let description = [{
    The instruction as the `rocdl` dialect names it, the chip (generations differ in where the
    lanes of one instruction hold what), and the type of its a and b; that of b where it is another.
    Unsigned integers are told apart by their type. Only `mfma.scale` has a use for scales.

    ```mlir
    #amdgcn.matrix<"mfma.f32.32x32x8f16", "gfx942", f16>
    #amdgcn.matrix<"wmma.f32.16x16x16.fp8_bf8", "gfx1201", f8E4M3FN, b = f8E5M2>
    ```
  }];
  let parameters = (ins StringRefParameter<>:$instruction, StringRefParameter<>:$chip,
                        "::mlir::Type":$element, OptionalParameter<"::mlir::Type">:$elementB);
  let assemblyFormat = "`<` $instruction `,` $chip `,` $element (`,` `b` `=` $elementB^)? `>`";
  let extraClassDeclaration = [{
    /// The types of a and b.
    ::mlir::Type getTypeOf(unsigned operand) const {
      return operand == 1 && getElementB() ? getElementB() : getElement();
    }
  }];
  let genVerifyDecl = 1;
}

def AMDGCN_TransposingReadAttr : AttrDef<AMDGCN_Dialect, "TransposingRead", [
    DeclareAttrInterfaceMethods<CopyAtomInterface>,
    DeclareAttrInterfaceMethods<WarpCopyAtomInterface>]> {
  let mnemonic = "transposing_read";
  let summary = "a read of LDS that transposes";
  let description = [{
    `ds_read_b64_tr_b16` and `_b8` of gfx950, by the bits of an element. Each lane names eight
    consecutive bytes; sixteen lanes share theirs out among themselves.

    ```mlir
    #amdgcn.transposing_read<16>
    ```
  }];
  let parameters = (ins "unsigned":$bits);
  let assemblyFormat = "`<` $bits `>`";
  let genVerifyDecl = 1;
}

def AMDGCN_LoadToLDSAttr : AttrDef<AMDGCN_Dialect, "LoadToLDS", [
    DeclareAttrInterfaceMethods<CopyAtomInterface, ["getCompletion", "follows", "admits"]>,
    DeclareAttrInterfaceMethods<DirectAtomInterface>]> {
  let mnemonic = "load_to_lds";
  let summary = "a load from global memory that goes to LDS past the registers";
  let description = [{
    `buffer_load_dword … lds` and its wide form: the chip, and the bytes that each lane moves. Lane
    `i` writes at the place that M0 says plus `i` times these bytes, so the places of a wave are
    contiguous.

    ```mlir
    #amdgcn.load_to_lds<"gfx942", 4>
    ```
  }];
  let parameters = (ins StringRefParameter<>:$chip, "unsigned":$bytes);
  let assemblyFormat = "`<` $chip `,` $bytes `>`";
  let genVerifyDecl = 1;
}

#endif // KILN_TARGET_AMDGPU_AMDGPU_TD
