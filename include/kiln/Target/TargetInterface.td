// What a target answers: the seam between the common passes and each folder of lib/Target.
#ifndef KILN_TARGET_TARGETINTERFACE_TD
#define KILN_TARGET_TARGETINTERFACE_TD

include "mlir/IR/OpBase.td"

def TargetInterface : AttrInterface<"TargetInterface"> {
  let cppNamespace = "::kiln";
  let description = [{
    A target is an attribute, `tile.target` on the module. Common code never asks which one
    it is: it asks the attribute. `lib/Pipeline` lists the passes of each stage.
  }];
  let methods = [
    InterfaceMethod<"The name that parseTarget reads back, with the chip if it has one.",
                    "std::string", "getSpelling">,
    InterfaceMethod<"The chip's record.", "const ::kiln::Chip &", "getChipRecord">,
    InterfaceMethod<[{
      The target whose instructions the passes make: another one, if this one stands in front of it.
    }], "::mlir::Attribute", "getReal", (ins), "", "return $_attr;">,
    InterfaceMethod<"Whether its code runs in this process, or on a device.",
                    "bool", "runsOnHost">,
    InterfaceMethod<[{
      Why this op of the source language cannot be compiled for this target: one phrase
      without a full stop, or nothing if it can. An empty phrase says only that it cannot be
      compiled yet.
    }], "std::optional<std::string>", "whyUnsupported", (ins "::mlir::Operation *":$op)>,
    InterfaceMethod<[{
      Whether this op, which can be compiled, takes a detour: it computes in a wider type,
      unpacks elements that share a byte, is expanded into other ops, or is a loop around a
      compare-and-swap.
    }], "bool", "isEmulated", (ins "::mlir::Operation *":$op), "", "return false;">,
    InterfaceMethod<[{
      The matrix instructions that multiply these element types into this accumulator, best
      first; each implements the atom interface.
    }], "::llvm::SmallVector<::mlir::Attribute>", "getMmaAtoms",
        (ins "::mlir::Type":$a, "::mlir::Type":$b, "::mlir::Type":$accumulator), "",
        "return {};">,
    InterfaceMethod<[{
      The same where each block of a and b along k has a scale; each implements the interface of
      scaled atoms.
    }], "::llvm::SmallVector<::mlir::Attribute>", "getScaledMmaAtoms",
        (ins "::mlir::Type":$a, "::mlir::Type":$scaleA, "::mlir::Type":$b, "::mlir::Type":$scaleB,
             "::mlir::Type":$accumulator), "", "return {};">,
    InterfaceMethod<[{
      The instructions by which a warp moves elements of this type between its registers and
      shared memory other than each lane its own, best first; each implements the copy atoms'
      interface.
    }], "::llvm::SmallVector<::mlir::Attribute>", "getCopyAtoms", (ins "::mlir::Type":$element),
        "", "return {};">,
    InterfaceMethod<[{
      The matrix or copy instructions by which a `tile.dot`, `tile.load` or `tile.store` can be
      made, best first. An author names one by the part of its attribute's name behind the dot.
    }], "::llvm::SmallVector<::mlir::Attribute>", "getAtoms", (ins "::mlir::Operation *":$op), "",
        "return {};">,
    InterfaceMethod<"Whether its chip has this matrix or copy instruction.", "bool", "hasAtom",
        (ins "::mlir::Attribute":$atom), "", "return false;">,
    InterfaceMethod<[{
      Adds the passes of a stage that are the target's own, where `addStage` of `lib/Pipeline` says:
      of a host those that turn tiles into loops, in the stages `layout` and `target`; of all the
      conversion to the LLVM dialect, in the stage `llvm`.
    }], "void", "addOwnPasses", (ins "::mlir::OpPassManager &":$pm, "::kiln::Stage":$stage)>,
    InterfaceMethod<[{
      Translates a module of the LLVM dialect to what `request` asks for. Reports errors at the
      module's locations.
    }], "::mlir::FailureOr<::kiln::TargetCode>", "emit",
        (ins "::mlir::ModuleOp":$module, "const ::kiln::EmitRequest &":$request)>,
  ];
}

#endif // KILN_TARGET_TARGETINTERFACE_TD
