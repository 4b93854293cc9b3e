// EmitHost.h: the module's functions for a processor, optimised, as the stages asked for.
#include "kiln/Target/Common/EmitHost.h"
#include "kiln/Binary/HostCode.h"
#include "kiln/Target/Common/ABI.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"

using namespace mlir;
using namespace kiln;

/// What the code asks of the processor that runs it, for the metadata.
static void describeProcessor(ModuleOp module, const HostCPU &processor, StringRef changes) {
  SmallVector<StringRef> without;
  changes.split(without, ',');
  SmallVector<Attribute> needed;
  Builder builder(module.getContext());
  for (const std::string &feature : getNeededFeatures(processor))
    if (!llvm::is_contained(without, "-" + feature))
      needed.push_back(builder.getStringAttr(feature));
  setMetadata(module, "processor",
              builder.getStringAttr(llvm::Triple(processor.triple).getArchName()));
  setMetadata(module, "processor_features", builder.getArrayAttr(needed));
}

FailureOr<TargetCode> kiln::emitForHost(ModuleOp module, llvm::Module &code,
                                        const EmitRequest &request, const HostEmission &how) {
  auto fail = [&](llvm::Error error) -> FailureOr<TargetCode> {
    return module.emitError(llvm::toString(std::move(error)));
  };
  const HostCPU *found = getProcessor(how.processor);
  if (!found)
    return module.emitError("expected a kind of processor that is known, got '" + how.processor +
                            "'");
  const HostCPU &host = *found;
  auto machine = lendHostMachine(host, how.optLevel);
  if (!machine)
    return fail(machine.takeError());
  if (how.prepare)
    if (llvm::Error error = how.prepare(code, **machine))
      return fail(std::move(error));
  describeProcessor(module, host, how.features);
  std::string features = host.features + how.features.str();
  for (llvm::Function &function : code) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("target-cpu", host.name);
    function.addFnAttr("target-features", features);
    if (how.vectorBits)
      function.addFnAttr("prefer-vector-width", std::to_string(how.vectorBits));
    if (how.tellsStack)
      function.addFnAttr("warn-stack-size", "0");
  }
  optimizeForHost(code, **machine, how.optLevel);
  TargetCode result;
  if (request.keepLLVMIR || request.last == Stage::LLVMIR)
    llvm::raw_string_ostream(result.llvmIR) << code;
  if (request.keepAssembly || request.last == Stage::Asm)
    if (llvm::Error error = emitHostAssembly(code, **machine).moveInto(result.assembly))
      return fail(std::move(error));
  if (request.last == Stage::Binary) {
    uint64_t stackBytes = 0;
    if (llvm::Error error = emitHostObject(code, **machine, &stackBytes).moveInto(result.binary))
      return fail(std::move(error));
    if (how.tellsStack)
      result.figures.push_back({"stack_bytes", stackBytes});
  }
  return result;
}
