// Shrinks an .mlir file for as long as a script of yours still finds it interesting (exit code
// 1): the first step in reporting a defect.
//
// What MLIR's own driver leaves to a crash is looked at first: the script that a pass is to run,
// and what the parser would overflow its stack on.
#include "ReduceOps.h"
#include "kiln/Pipeline/Registration.h"
#include "kiln/Support/PrintVersion.h"
#include "kiln/Support/SourceLimits.h"
#include "kiln/Support/WriteFile.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Reducer/Passes.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/WithColor.h"

namespace cl = llvm::cl;
using llvm::StringRef;

static int fail(const llvm::Twine &message) {
  llvm::WithColor::error(llvm::errs(), "tile-reduce") << message << "\n";
  return EXIT_FAILURE;
}

/// What is wrong with the script of a pass's option `test`; empty if nothing is.
static std::string checkScript(mlir::Pass &pass) {
  std::string text;
  llvm::raw_string_ostream os(text);
  pass.printAsTextualPipeline(os);
  StringRef rest = StringRef(text).split('{').second, script;
  while (!rest.empty() && script.empty()) {
    auto [option, more] = rest.split(' ');
    if (option.consume_front("test="))
      script = option.rtrim('}');
    rest = more;
  }
  std::string expected = "--" + pass.getArgument().str() + "=test=SCRIPT: expected a script";
  if (script.empty())
    return expected + ", got none";
  if (!llvm::sys::fs::exists(script))
    return expected + ", got '" + script.str() + "', which does not exist";
  if (!llvm::sys::fs::can_execute(script))
    return expected + " that can be executed, got '" + script.str() + "'";
  return "";
}

namespace {
struct CommandLine {
  cl::OptionCategory category{"All options of tile-reduce"};
  cl::opt<std::string> input{cl::Positional, cl::desc("<file, or - for standard input>"),
                             cl::init("-"), cl::cat(category)};
  cl::opt<std::string> output{
      "o", cl::desc("The file to write, whole or not at all; - is standard output (default: -)"),
      cl::value_desc("file"), cl::init("-"), cl::cat(category)};
  mlir::PassPipelineCLParser passes{"", "What reduces"};
};
} // namespace

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  mlir::DialectRegistry registry;
  kiln::registerAllDialects(registry);
  mlir::registerReducerPasses();
  kiln::registerAllPasses();
  kiln::registerReduceOpsPass();
  // LLVM's options are for --help-hidden.
  for (auto [name, option] : cl::getRegisteredOptions())
    if (name != "help" && option->getOptionHiddenFlag() == cl::NotHidden)
      option->setHiddenFlag(cl::Hidden);
  kiln::printKilnVersion();
  CommandLine line;
  for (auto [name, option] : cl::getRegisteredOptions())
    if (option->Categories.front() == &cl::getGeneralCategory())
      option->addCategory(line.category);
  cl::ParseCommandLineOptions(argc, argv,
                              "Shrinks an .mlir file while a script finds it interesting\n");

  std::string message;
  std::unique_ptr<llvm::MemoryBuffer> source = mlir::openInputFile(line.input, &message);
  if (!source)
    return fail(message);
  if (std::optional<kiln::SourceProblem> problem = kiln::findSourceProblem(source->getBuffer()))
    return fail(source->getBufferIdentifier() + ":" + llvm::Twine(problem->line) + ":" +
                llvm::Twine(problem->column) + ": " + problem->text);

  mlir::MLIRContext context(registry);
  mlir::PassManager pm(&context, mlir::ModuleOp::getOperationName());
  auto report = [](const llvm::Twine &text) { return fail(text), mlir::failure(); };
  if (failed(line.passes.addToPipeline(pm, report)))
    return EXIT_FAILURE;
  if (pm.empty())
    return fail("expected --reduce-ops or --reduction-tree, got nothing to do");
  for (mlir::Pass &pass : pm.getPasses())
    if (StringRef name = pass.getArgument(); name == "reduce-ops" || name == "reduction-tree")
      if (std::string wrong = checkScript(pass); !wrong.empty())
        return fail(wrong);

  auto sources = std::make_shared<llvm::SourceMgr>();
  sources->AddNewSourceBuffer(std::move(source), llvm::SMLoc());
  mlir::SourceMgrDiagnosticHandler handler(*sources, &context);
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::parseSourceFile<mlir::ModuleOp>(sources, mlir::ParserConfig(&context));
  if (!module || failed(pm.run(*module)))
    return EXIT_FAILURE;
  std::string text;
  llvm::raw_string_ostream(text) << *module << "\n";
  if (std::error_code error = kiln::writeFile(line.output, text))
    return fail("cannot write '" + line.output + "': " + error.message());
  return EXIT_SUCCESS;
}
