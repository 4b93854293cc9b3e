// The `emulated` dialect: a target that stands in front of another.
#ifndef KILN_TARGET_EMULATED_EMULATED_TD
#define KILN_TARGET_EMULATED_EMULATED_TD

include "kiln/Target/TargetInterface.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"

def Emulated_Dialect : Dialect {
  let name = "emulated";
  let cppNamespace = "::kiln::emulated";
  let summary = "what emulating a chip decides: nothing but which one";
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
}

def Emulated_TargetAttr : AttrDef<Emulated_Dialect, "Target", [
    DeclareAttrInterfaceMethods<TargetInterface,
        ["getSpelling", "getChipRecord", "getReal", "runsOnHost", "whyUnsupported", "isEmulated",
         "getMmaAtoms", "getAtoms", "hasAtom", "getScaledMmaAtoms", "getCopyAtoms", "addOwnPasses", "emit"]>]> {
  let mnemonic = "target";
  let summary = "a chip, emulated on the host";
  let description = [{
    Every pass is the chip's own, and so is the module of the LLVM dialect that they end with;
    only the code is the host's. See `lib/Runtime/Emulated` for what runs it.

    ```mlir
    module attributes {tile.target = #emulated.target<#nvptx.target<chip = "sm_90a">>} {}
    ```
  }];
  let parameters = (ins "::mlir::Attribute":$chip);
  let assemblyFormat = "`<` $chip `>`";
  let genVerifyDecl = 1;
}

#endif // KILN_TARGET_EMULATED_EMULATED_TD
