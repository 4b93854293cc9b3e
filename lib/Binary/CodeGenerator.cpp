// One way to set up LLVM's code generators, whichever machine they are for.
#include "kiln/Binary/CodeGenerator.h"
#include "CollectErrors.h"
#include "kiln/Support/CodeGenerators.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"

using namespace llvm;

Expected<std::unique_ptr<TargetMachine>>
kiln::createTargetMachine(StringRef tripleText, StringRef chip, StringRef features, int optLevel,
                          std::optional<CodeModel::Model> codeModel) {
  Triple triple(tripleText);
  std::string message;
  const Target *target = findCodeGenerator(triple, message);
  if (!target)
    return createStringError("no code generator for " + tripleText + ": " + message);
  auto level = CodeGenOpt::getLevel(optLevel).value_or(CodeGenOptLevel::Aggressive);
  std::unique_ptr<TargetMachine> machine(target->createTargetMachine(
      triple, chip, features, TargetOptions(), Reloc::PIC_, codeModel, level));
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
