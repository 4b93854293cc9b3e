// The `cpu` dialect: the target attribute, and what a lowered program asks of its caller.
#ifndef KILN_TARGET_CPU_CPU_TD
#define KILN_TARGET_CPU_CPU_TD

include "kiln/Target/TargetInterface.td"
include "mlir/Dialect/LLVMIR/LLVMTypes.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def CPU_Dialect : Dialect {
  let name = "cpu";
  let cppNamespace = "::kiln::cpu";
  let summary = "programs on the host";
  let description = [{
    Between the tile dialect and LLVM's there are only a program's three ways to memory: the
    addresses behind its views, its own scratch memory, and the table of services that its
    caller offers. All else is `scf`, `arith`, `math`, `vector` and `llvm`.
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def CPU_TargetAttr : AttrDef<CPU_Dialect, "Target", [
    DeclareAttrInterfaceMethods<TargetInterface, ["getSpelling", "getChipRecord", "runsOnHost",
                                                  "isEmulated",
                                                  "addOwnPasses", "emit"]>]> {
  let mnemonic = "target";
  let summary = "the processor that host code is made for";
  let description = [{
    The width of its vector registers in bits, and how many it has: what the passes choose
    their blocks by; and the kind of processor, "" for the one at hand, which the code generator
    takes its features from.

    ```mlir
    module attributes {tile.target = #cpu.target<vector_bits = 512, registers = 32>} {}
    ```
  }];
  let parameters = (ins "int64_t":$vector_bits, "int64_t":$registers,
                        StringRefParameter<"a kind of processor", "\"\"">:$processor);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

class CPU_Op<string mnemonic> : Op<CPU_Dialect, mnemonic, [Pure]>;

def CPU_BaseOp : CPU_Op<"base"> {
  let summary = "the address behind a view or a bare pointer";
  let description = "```mlir\n%p = cpu.base %view : !tile.view<?xf32> -> !llvm.ptr\n```";
  let arguments = (ins AnyType:$memory);
  let results = (outs LLVM_AnyPointer:$result);
  let assemblyFormat = "$memory attr-dict `:` qualified(type($memory)) `->` type($result)";
  let builders = [OpBuilder<(ins "::mlir::Value":$memory), [{
    build($_builder, $_state, ::mlir::LLVM::LLVMPointerType::get($_builder.getContext()), memory);
  }]>];
}

def CPU_ScratchOp : CPU_Op<"scratch"> {
  let summary = "this program's scratch memory";
  let description = [{
    64-byte aligned. The first 64 bytes take accesses that must go nowhere, the next hold the
    number of failed asserts; buffers follow.
    ```mlir
    %p = cpu.scratch : !llvm.ptr
    ```
  }];
  let results = (outs LLVM_AnyPointer:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
  let builders = [OpBuilder<(ins), [{
    build($_builder, $_state, ::mlir::LLVM::LLVMPointerType::get($_builder.getContext()));
  }]>];
}

def CPU_ServicesOp : CPU_Op<"services"> {
  let summary = "the table of services that the caller offers";
  let description = "Laid out as `kiln::HostServices`.\n```mlir\n%p = cpu.services : !llvm.ptr\n```";
  let results = (outs LLVM_AnyPointer:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
  let builders = [OpBuilder<(ins), [{
    build($_builder, $_state, ::mlir::LLVM::LLVMPointerType::get($_builder.getContext()));
  }]>];
}

#endif // KILN_TARGET_CPU_CPU_TD
