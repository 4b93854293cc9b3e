// LLVM's native code generator, set up for the machine at hand.
#include "kiln/Binary/HostCode.h"
#include "kiln/Binary/CodeGenerator.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/TargetSelect.h"
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
  return createTargetMachine(host.triple, host.name, host.features, optLevel,
                             llvm::CodeModel::Small);
}

void optimizeForHost(llvm::Module &module, llvm::TargetMachine &machine, int optLevel) {
  // Loops arrive unrolled as they should be.
  llvm::PipelineTuningOptions tuning;
  tuning.LoopUnrolling = false;
  tuning.LoopInterleaving = false;
  optimise(module, machine, optLevel, tuning);
}

llvm::Expected<std::string> emitHostAssembly(llvm::Module &module, llvm::TargetMachine &machine) {
  return emitFile(module, machine, llvm::CodeGenFileType::AssemblyFile);
}

llvm::Expected<std::string> emitHostObject(llvm::Module &module, llvm::TargetMachine &machine) {
  return emitFile(module, machine, llvm::CodeGenFileType::ObjectFile);
}

} // namespace kiln
