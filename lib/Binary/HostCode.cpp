// LLVM's code generators for processors, set up for the machine at hand or for a kind of them.
#include "kiln/Binary/HostCode.h"
#include "ShortenBlocks.h"
#include "kiln/Binary/CodeGenerator.h"
#include "kiln/Support/CodeGenerators.h"
#include "llvm/ADT/StringExtras.h"
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

const HostCPU *getProcessor(llvm::StringRef name) {
  static const char *const x86 = "x86_64-unknown-linux-gnu";
  static const std::string v2 = "+cx16,+popcnt,+sahf,+sse3,+sse4.1,+sse4.2,+ssse3";
  static const std::string v3 = v2 + ",+avx,+avx2,+bmi,+bmi2,+f16c,+fma,+lzcnt,+movbe,+xsave";
  static const std::string v4 = v3 + ",+avx512bw,+avx512cd,+avx512dq,+avx512f,+avx512vl";
  static const HostCPU kinds[] = {{x86, "x86-64-v2", v2},
                                  {x86, "x86-64-v3", v3},
                                  {x86, "x86-64-v4", v4},
                                  {"aarch64-unknown-linux-gnu", "generic", "+fp-armv8,+neon"}};
  static const llvm::StringRef names[] = {"x86-64-v2", "x86-64-v3", "x86-64-v4", "aarch64"};
  if (name.empty())
    return &getHostCPU();
  for (size_t i = 0; i < std::size(kinds); ++i)
    if (names[i] == name)
      return &kinds[i];
  return nullptr;
}

/// What is not for computing, or what the code generator never makes unasked, is not needed.
static bool isForComputing(llvm::StringRef feature, bool isX86) {
  if (!isX86)
    return true;
  for (llvm::StringRef kind : {"avx", "sse", "ssse", "bmi", "gfni", "vaes", "vpclmul"})
    if (feature.starts_with(kind))
      return true;
  for (llvm::StringRef one : {"popcnt", "f16c", "fma", "fma4", "lzcnt", "movbe", "xop", "tbm"})
    if (feature == one)
      return true;
  return false;
}

std::vector<std::string> getNeededFeatures(const HostCPU &processor) {
  bool isX86 = llvm::Triple(processor.triple).isX86();
  llvm::SmallVector<llvm::StringRef> all;
  llvm::StringRef(processor.features).split(all, ',');
  std::vector<std::string> needed;
  for (llvm::StringRef feature : all)
    if (feature.consume_front("+") && isForComputing(feature, isX86))
      needed.push_back(feature.str());
  return needed;
}

llvm::Expected<LentMachine> lendHostMachine(const HostCPU &processor, int optLevel) {
  static const bool initialized = registerCodeGenerators([] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    llvm::InitializeNativeTargetAsmParser();
#define INITIALIZE(TARGET)                                                                         \
  LLVMInitialize##TARGET##TargetInfo(), LLVMInitialize##TARGET##Target(),                          \
      LLVMInitialize##TARGET##TargetMC(), LLVMInitialize##TARGET##AsmPrinter(),                    \
      LLVMInitialize##TARGET##AsmParser()
    INITIALIZE(X86);
    INITIALIZE(AArch64);
#undef INITIALIZE
  });
  (void)initialized;
  return lendTargetMachine(processor.triple, processor.name, processor.features, optLevel,
                           /*isKept=*/true, llvm::CodeModel::Small);
}

void optimizeForHost(llvm::Module &module, llvm::TargetMachine &machine, int optLevel) {
  // Loops arrive unrolled as they should be.
  llvm::PipelineTuningOptions tuning;
  tuning.LoopUnrolling = false;
  tuning.LoopInterleaving = false;
  optimise(module, machine, optLevel, tuning);
  if (optLevel == 0)
    shortenBlocks(module);
}

llvm::Expected<std::string> emitHostAssembly(llvm::Module &module, llvm::TargetMachine &machine) {
  return emitFile(module, machine, llvm::CodeGenFileType::AssemblyFile);
}

llvm::Expected<std::string> emitHostObject(llvm::Module &module, llvm::TargetMachine &machine,
                                           uint64_t *stackBytes) {
  return emitFile(module, machine, llvm::CodeGenFileType::ObjectFile, stackBytes);
}

} // namespace kiln
