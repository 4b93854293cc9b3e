// What a target's chips take of code that is not Kiln's.
#ifndef KILN_TARGET_COMMON_FOREIGNTARGET_TD
#define KILN_TARGET_COMMON_FOREIGNTARGET_TD

include "mlir/IR/OpBase.td"

def ForeignTargetInterface : AttrInterface<"ForeignTargetInterface"> {
  let cppNamespace = "::kiln";
  let description = [{
    A target for which inline assembly and calls into libraries of bitcode can be compiled, a thread
    at a time. A target's attribute implements it besides its own interface.

    The vendor's library is one that comes with a toolkit, which need not be there.
  }];
  let methods = [
    InterfaceMethod<"The letters by which constraints name registers.",
                    "::llvm::StringRef", "getRegisterLetters">,
    InterfaceMethod<[{
      The type that LLVM has for the register of a letter, for a value of so many bits.
    }], "::mlir::Type", "getRegisterType",
        (ins "::mlir::Builder &":$builder, "char":$letter, "unsigned":$bits)>,
    InterfaceMethod<"The triple that a library's code is for.",
                    "::llvm::StringRef", "getLibraryTriple">,
    InterfaceMethod<"Where the vendor's library is.",
                    "::kiln::VendorLibrary", "findVendorLibrary">,
    InterfaceMethod<[{
      What the vendor's library calls a function of mathematics that C's calls by this name, in f64
      or f32.
    }], "std::string", "getVendorName", (ins "::llvm::StringRef":$function, "bool":$isDouble)>,
    InterfaceMethod<"Whether the driver has a function, so that no library need define it.",
                    "bool", "isProvided", (ins "::llvm::StringRef":$function)>,
    InterfaceMethod<[{
      Whether LLVM's release for a block has a thread wait for what it wrote to global memory. If
      not, the block finds it, but none of its threads can tell others of it.
    }], "bool", "blockFencesWait", (ins), "", "return true;">,
    InterfaceMethod<[{
      Answers what a library's functions ask of the chip and of how exact to be: by the chip, IEEE's
      rules, and subnormals of f32 as they are or (with `flushes`) taken for zeros.
    }], "void", "answerLibrary", (ins "::llvm::Module &":$module, "bool":$flushes)>,
  ];
}

#endif // KILN_TARGET_COMMON_FOREIGNTARGET_TD
