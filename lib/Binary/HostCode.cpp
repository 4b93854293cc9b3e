// LLVM's native code generator, set up for the machine at hand.
#include "kiln/Binary/HostCode.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/SubtargetFeature.h"

namespace kiln {

const HostCPU &getHostCPU() {
  static const HostCPU host = [] {
    llvm::SubtargetFeatures features;
    llvm::StringMap<bool> found = llvm::sys::getHostCPUFeatures();
    std::vector<std::string> names;
    for (const auto &feature : found)
      names.push_back(feature.getKey().str());
    std::sort(names.begin(), names.end());
    for (const std::string &name : names)
      features.AddFeature(name, found.lookup(name));
    return HostCPU{llvm::sys::getProcessTriple(), llvm::sys::getHostCPUName().str(),
                   features.getString()};
  }();
  return host;
}

llvm::Expected<std::unique_ptr<llvm::TargetMachine>> createHostMachine(int optLevel) {
  static const bool initialized = [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    llvm::InitializeNativeTargetAsmParser();
    return true;
  }();
  (void)initialized;
  const HostCPU &host = getHostCPU();
  llvm::Triple triple(host.triple);
  std::string message;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, message);
  if (!target)
    return llvm::createStringError("no code generator for this machine: " + message);
  llvm::TargetOptions options;
  auto level = llvm::CodeGenOpt::getLevel(optLevel).value_or(llvm::CodeGenOptLevel::Aggressive);
  std::unique_ptr<llvm::TargetMachine> machine(target->createTargetMachine(
      triple, host.name, host.features, options, llvm::Reloc::PIC_, llvm::CodeModel::Small, level));
  if (!machine)
    return llvm::createStringError("no code generator for this machine's CPU '" + host.name + "'");
  return machine;
}

void optimizeForHost(llvm::Module &module, llvm::TargetMachine &machine, int optLevel) {
  module.setTargetTriple(machine.getTargetTriple());
  module.setDataLayout(machine.createDataLayout());
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = false;
  tuning.SLPVectorization = false;
  tuning.LoopUnrolling = false;
  tuning.LoopInterleaving = false;
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine, tuning);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  const llvm::OptimizationLevel levels[] = {
      llvm::OptimizationLevel::O0, llvm::OptimizationLevel::O1, llvm::OptimizationLevel::O2,
      llvm::OptimizationLevel::O3};
  llvm::OptimizationLevel level = levels[std::clamp(optLevel, 0, 3)];
  llvm::ModulePassManager passes = level == llvm::OptimizationLevel::O0
                                       ? builder.buildO0DefaultPipeline(level)
                                       : builder.buildPerModuleDefaultPipeline(level);
  passes.run(module, modules);
}

static llvm::Expected<std::string> emit(llvm::Module &module, llvm::TargetMachine &machine,
                                        llvm::CodeGenFileType type) {
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, type))
    return llvm::createStringError("the code generator cannot write this kind of file");
  passes.run(module);
  return std::string(bytes.data(), bytes.size());
}

llvm::Expected<std::string> emitHostAssembly(llvm::Module &module, llvm::TargetMachine &machine) {
  return emit(module, machine, llvm::CodeGenFileType::AssemblyFile);
}

llvm::Expected<std::string> emitHostObject(llvm::Module &module, llvm::TargetMachine &machine) {
  return emit(module, machine, llvm::CodeGenFileType::ObjectFile);
}

} // namespace kiln
