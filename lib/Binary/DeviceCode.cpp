// LLVM's code generators for accelerators, and its linker.
#include "kiln/Binary/DeviceCode.h"
#include "CollectErrors.h"
#include "kiln/Binary/CodeGenerator.h"
#include "kiln/Binary/LinkBitcode.h"
#include "lld/Common/Driver.h"
#include "mlir/Dialect/LLVMIR/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include <mutex>

LLD_HAS_DRIVER(elf)

using namespace mlir;
using namespace kiln;

DeviceCompilation::DeviceCompilation() : context(std::make_unique<llvm::LLVMContext>()) {
  context->setDiagnosticHandler(std::make_unique<CollectErrors>(errors));
}

DeviceCompilation::~DeviceCompilation() = default;

llvm::Error DeviceCompilation::translate(ModuleOp source, const DeviceMachine &description,
                                         int optLevel) {
  hasLineDirectives = description.hasLineDirectives;
  // A global made for an inlined op (a table) has its call site, whose function the pass
  // below looks for around it.
  for (auto global : source.getOps<LLVM::GlobalOp>())
    global->setLoc(UnknownLoc::get(source.getContext()));
  LLVM::DIScopeForLLVMFuncOpPassOptions lines;
  lines.emissionKind = hasLineDirectives ? LLVM::DIEmissionKind::DebugDirectivesOnly
                                         : LLVM::DIEmissionKind::LineTablesOnly;
  PassManager passes(source.getContext());
  passes.addPass(LLVM::createDIScopeForLLVMFuncOpPass(lines));
  if (failed(passes.run(source)))
    return llvm::createStringError("the module's functions cannot be given their lines");
  module = translateModuleToLLVMIR(source, *context, "kiln");
  if (!module)
    return llvm::createStringError("the module cannot be translated to LLVM IR");
  llvm::Expected<LentMachine> created = lendTargetMachine(
      description.triple, description.chip, description.features, optLevel, description.isKept);
  if (!created)
    return created.takeError();
  machine = std::move(*created);
  for (auto [flag, value] : description.flags)
    module->addModuleFlag(llvm::Module::Error, flag, value);
  module->setTargetTriple(machine->getTargetTriple());
  module->setDataLayout(machine->createDataLayout());
  if (description.link)
    if (llvm::Error error = description.link(*module))
      return error;
  if (llvm::Error error = linkDeviceMath(*module, description.math))
    return error;
  if (description.prepare)
    description.prepare(*module);
  optimise(*module, *machine, optLevel);
  if (description.finish)
    description.finish(*module);
  if (!errors.empty())
    return llvm::createStringError(errors);
  return llvm::Error::success();
}

std::string DeviceCompilation::printIR() const {
  std::string text;
  llvm::raw_string_ostream stream(text);
  std::unique_ptr<llvm::Module> copy = llvm::CloneModule(*module);
  llvm::StripDebugInfo(*copy);
  copy->print(stream, nullptr);
  return text;
}

llvm::Expected<std::string> DeviceCompilation::emit(llvm::CodeGenFileType type) {
  std::unique_ptr<llvm::Module> copy = llvm::CloneModule(*module);
  if (type == llvm::CodeGenFileType::AssemblyFile && !hasLineDirectives)
    llvm::StripDebugInfo(*copy);
  llvm::Expected<std::string> text = emitFile(*copy, *machine, type);
  if (text && !errors.empty())
    return llvm::createStringError(errors);
  return text;
}

llvm::Expected<std::string> DeviceCompilation::emitAssembly() {
  return emit(llvm::CodeGenFileType::AssemblyFile);
}

llvm::Expected<std::string> DeviceCompilation::emitObject() {
  return emit(llvm::CodeGenFileType::ObjectFile);
}

llvm::Expected<std::string> kiln::linkSharedObject(llvm::StringRef object) {
  static std::mutex mutex;
  static bool usable = true;
  std::lock_guard<std::mutex> lock(mutex);
  if (!usable)
    return llvm::createStringError("the linker failed before in this process and cannot go on");
  // The linker reads and writes files only.
  llvm::SmallString<128> input, output;
  int descriptor;
  if (std::error_code code = llvm::sys::fs::createTemporaryFile("kiln", "o", descriptor, input))
    return llvm::createStringError(code, "cannot create a temporary file: " + code.message());
  llvm::FileRemover removeInput(input);
  {
    llvm::raw_fd_ostream stream(descriptor, /*shouldClose=*/true);
    stream << object;
    if (stream.has_error())
      return llvm::createStringError("cannot write " + input.str());
  }
  if (std::error_code code = llvm::sys::fs::createTemporaryFile("kiln", "so", output))
    return llvm::createStringError(code, "cannot create a temporary file: " + code.message());
  llvm::FileRemover removeOutput(output);
  std::string messages;
  llvm::raw_string_ostream stream(messages);
  const char *arguments[] = {"ld.lld", "-shared", input.c_str(), "-o", output.c_str()};
  lld::Result result = lld::lldMain(arguments, stream, stream, {{lld::Gnu, &lld::elf::link}});
  usable = result.canRunAgain;
  if (result.retCode)
    return llvm::createStringError("the linker failed: " + messages);
  auto buffer = llvm::MemoryBuffer::getFile(output, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    return llvm::createStringError(buffer.getError(), "cannot read the linked object");
  return (*buffer)->getBuffer().str();
}
