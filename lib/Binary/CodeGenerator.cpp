// One way to set up LLVM's code generators, whichever machine they are for.
#include "kiln/Binary/CodeGenerator.h"
#include "CollectErrors.h"
#include "kiln/Support/CodeGenerators.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include <mutex>
#include <vector>

using namespace llvm;

/// One of each of a few chips: a process compiles for one and for the host.
static constexpr size_t kIdleMachines = 8;

namespace {
struct IdleMachines {
  std::mutex mutex;
  std::vector<std::unique_ptr<TargetMachine>> machines; ///< used last at the end
};
} // namespace

/// Never destroyed, as a thread may still compile while the process ends.
static IdleMachines &getIdleMachines() {
  static auto *idle = new IdleMachines;
  return *idle;
}

void kiln::KeepMachine::operator()(TargetMachine *machine) const {
  std::unique_ptr<TargetMachine> dropped;
  if (!isKept) {
    dropped.reset(machine);
    return;
  }
  IdleMachines &idle = getIdleMachines();
  std::lock_guard<std::mutex> lock(idle.mutex);
  idle.machines.emplace_back(machine);
  if (idle.machines.size() > kIdleMachines) {
    dropped = std::move(idle.machines.front());
    idle.machines.erase(idle.machines.begin());
  }
}

Expected<kiln::LentMachine> kiln::lendTargetMachine(StringRef tripleText, StringRef chip,
                                                    StringRef features, int optLevel, bool isKept,
                                                    std::optional<CodeModel::Model> codeModel) {
  Triple triple(tripleText);
  std::string message;
  const Target *target = findCodeGenerator(triple, message);
  if (!target)
    return createStringError("no code generator for " + tripleText + ": " + message);
  auto level = CodeGenOpt::getLevel(optLevel).value_or(CodeGenOptLevel::Aggressive);
  {
    IdleMachines &idle = getIdleMachines();
    std::lock_guard<std::mutex> lock(idle.mutex);
    auto found = llvm::find_if(idle.machines, [&](const std::unique_ptr<TargetMachine> &kept) {
      return kept->getTargetTriple() == triple && kept->getTargetCPU() == chip &&
             kept->getTargetFeatureString() == features && kept->getOptLevel() == level;
    });
    if (found != idle.machines.end()) {
      LentMachine machine(found->release());
      idle.machines.erase(found);
      return machine;
    }
  }
  LentMachine machine(target->createTargetMachine(triple, chip, features, TargetOptions(),
                                                  Reloc::PIC_, codeModel, level),
                      KeepMachine{isKept});
  if (!machine)
    return createStringError("no code generator for chip '" + chip + "'");
  return machine;
}

void kiln::optimise(Module &module, TargetMachine &machine, int optLevel,
                    PipelineTuningOptions tuning) {
  module.setTargetTriple(machine.getTargetTriple());
  module.setDataLayout(machine.createDataLayout());
  tuning.LoopVectorization = false;
  tuning.SLPVectorization = false;
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager components;
  ModuleAnalysisManager modules;
  PassBuilder builder(&machine, tuning);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  const OptimizationLevel levels[] = {OptimizationLevel::O0, OptimizationLevel::O1,
                                      OptimizationLevel::O2, OptimizationLevel::O3};
  OptimizationLevel level = levels[std::clamp(optLevel, 0, 3)];
  ModulePassManager passes = level == OptimizationLevel::O0
                                 ? builder.buildO0DefaultPipeline(level)
                                 : builder.buildPerModuleDefaultPipeline(level);
  passes.run(module, modules);
}

Expected<std::string> kiln::emitFile(Module &module, TargetMachine &machine, CodeGenFileType type,
                                     uint64_t *stackBytes) {
  SmallVector<char, 0> bytes;
  raw_svector_ostream stream(bytes);
  legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, type))
    return createStringError("the code generator cannot write this kind of file");
  // Errors, of inline assembly for example, go to the context's handler if its owner has set one
  // (one with a context of its own); LLVM's default ends the process.
  std::string errors;
  LLVMContext &context = module.getContext();
  if (context.getDiagHandlerPtr()->DiagnosticContext) {
    passes.run(module);
    return std::string(bytes.data(), bytes.size());
  }
  std::unique_ptr<DiagnosticHandler> before = context.getDiagnosticHandler();
  context.setDiagnosticHandler(std::make_unique<CollectErrors>(errors, stackBytes));
  passes.run(module);
  context.setDiagnosticHandler(std::move(before));
  if (!errors.empty())
    return createStringError(errors);
  return std::string(bytes.data(), bytes.size());
}
