// Bitcode of a library, linked into a module.
#include "kiln/Binary/LinkBitcode.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/Module.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Transforms/IPO/Internalize.h"

using namespace llvm;

static void forgetChip(Function &function) {
  for (StringRef name : {"target-cpu", "target-features", "tune-cpu", "uniform-work-group-size"})
    function.removeFnAttr(name);
}

void kiln::forgetOrigin(Module &library, const Module &module) {
  library.setTargetTriple(module.getTargetTriple());
  library.setDataLayout(module.getDataLayout());
  for (StringRef name : {"llvm.module.flags", "llvm.ident", "opencl.ocl.version", "nvvmir.version",
                         "nvvm.annotations", "llvm.printf.fmts", "llvm.commandline"})
    if (NamedMDNode *node = library.getNamedMetadata(name))
      library.eraseNamedMetadata(node);
  for (Function &function : library)
    forgetChip(function);
}

Error kiln::linkBitcode(Module &module, StringRef bitcode, StringRef name) {
  Expected<std::unique_ptr<Module>> library =
      parseBitcodeFile(MemoryBufferRef(bitcode, name), module.getContext());
  if (!library)
    return createStringError("cannot read " + name + ": " + toString(library.takeError()));
  forgetOrigin(**library, module);
  bool failed = Linker::linkModules(module, std::move(*library), Linker::LinkOnlyNeeded,
                                    [](Module &linked, const StringSet<> &added) {
                                      internalizeModule(linked, [&](const GlobalValue &value) {
                                        return !value.hasName() || !added.contains(value.getName());
                                      });
                                    });
  if (failed)
    return createStringError("cannot link " + name);
  return Error::success();
}

Error kiln::linkDeviceMath(Module &module, StringRef bitcode) {
  for (const Function &function : module)
    if (function.isDeclaration() && function.getName().starts_with("kiln_math_"))
      return linkBitcode(module, bitcode, "the device's mathematics");
  return Error::success();
}
