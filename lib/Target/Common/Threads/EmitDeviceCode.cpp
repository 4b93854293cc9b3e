// From the LLVM dialect to a device's code, the same for all that LLVM generates code for.
#include "kiln/Target/Common/ForeignCalls.h"
#include "kiln/Target/Common/Threads.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace kiln;

/// What was said of a loop has come along with its branch as a foreign attribute, which the
/// translation to LLVM's IR would drop.
static void annotateBranches(ModuleOp module) {
  StringRef name = LLVM::LoopAnnotationAttr::name;
  module.walk([&](LLVM::BrOp branch) {
    if (auto said = dyn_cast_or_null<LLVM::LoopAnnotationAttr>(branch->removeDiscardableAttr(name)))
      branch.setLoopAnnotationAttr(said);
  });
}

FailureOr<TargetCode> kiln::emitDeviceCode(ModuleOp module, TargetInterface target,
                                           DeviceMachine machine, DeviceBinary form,
                                           const EmitRequest &request) {
  annotateBranches(module);
  // What is wrong with a library is said where it is called.
  bool isReported = false;
  machine.link = [&](llvm::Module &code) -> llvm::Error {
    auto foreign = dyn_cast<ForeignTargetInterface>(Attribute(target));
    isReported = foreign && failed(linkForeign(module, code, foreign));
    return isReported ? llvm::createStringError("a library cannot be linked")
                      : llvm::Error::success();
  };
  auto fail = [&](llvm::Error error) -> FailureOr<TargetCode> {
    if (isReported) {
      llvm::consumeError(std::move(error));
      return failure();
    }
    return module.emitError() << "the code generator of " << target.getSpelling()
                              << " failed: " << llvm::toString(std::move(error));
  };
  DeviceCompilation compilation;
  if (llvm::Error error = compilation.translate(module, machine, request.optLevel))
    return fail(std::move(error));
  TargetCode code;
  if (request.keepLLVMIR || request.last == Stage::LLVMIR)
    code.llvmIR = compilation.printIR();
  if (request.last == Stage::LLVMIR)
    return code;
  if (form == DeviceBinary::Text || request.keepAssembly || request.last == Stage::Asm) {
    llvm::Expected<std::string> assembly = compilation.emitAssembly();
    if (!assembly)
      return fail(assembly.takeError());
    code.assembly = std::move(*assembly);
  }
  if (form == DeviceBinary::SharedObject && request.last == Stage::Binary) {
    llvm::Expected<std::string> object = compilation.emitObject();
    if (!object)
      return fail(object.takeError());
    llvm::Expected<std::string> linked = linkSharedObject(*object);
    if (!linked)
      return fail(linked.takeError());
    code.binary = std::move(*linked);
  }
  return code;
}
