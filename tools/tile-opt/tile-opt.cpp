// Runs passes over .mlir text: the ones Kiln ships, and no others.
//
// The input is checked before it is parsed, for the parser overflows its stack on what nests too
// deeply; so the file is read here and not by MlirOptMain. The output is written once it is whole.
#include "kiln/Pipeline/Registration.h"
#include "kiln/Support/PrintVersion.h"
#include "kiln/Support/SourceLimits.h"
#include "kiln/Support/WriteFile.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/WithColor.h"

namespace cl = llvm::cl;
using llvm::StringRef;

static int fail(const llvm::Twine &message) {
  llvm::WithColor::error() << message << "\n";
  return EXIT_FAILURE;
}

/// Registers the options so that --help shows the passes first, then what the driver of MLIR
/// takes. LLVM's own hundreds, which are there before, are for --help-hidden.
static std::string registerOptions(mlir::DialectRegistry &registry) {
  // Categories are shown by their names' order.
  static cl::OptionCategory passes("All passes of Kiln"), driver("The driver");
  llvm::DenseMap<StringRef, cl::Option *> &options = cl::getRegisteredOptions();
  llvm::DenseMap<StringRef, cl::Option *> before = options;
  for (auto [name, option] : before)
    if (option->getOptionHiddenFlag() == cl::NotHidden)
      option->setHiddenFlag(cl::Hidden);
  for (StringRef name : {"help", "help-hidden", "version"})
    if (cl::Option *option = before.lookup(name))
      option->setHiddenFlag(cl::NotHidden);
  std::string header =
      mlir::registerCLIOptions("Kiln's pass driver over the tile dialect\n", registry);
  for (auto [name, option] : options)
    if (option->Categories.front() == &cl::getGeneralCategory())
      option->addCategory(option->hasArgStr() ? driver : passes);
  return header;
}

/// Reports a pipeline that cannot be made in one line that says where to look.
static void explainPipelineErrors(mlir::MlirOptMainConfig &config) {
  mlir::MlirOptMainConfig asked = config;
  config.setPassPipelineSetupFn([asked](mlir::PassManager &pm) {
    std::string said;
    mlir::ScopedDiagnosticHandler handler(pm.getContext(), [&](mlir::Diagnostic &diagnostic) {
      said += (said.empty() ? "" : "\n") + StringRef(diagnostic.str()).trim().str();
      return mlir::success();
    });
    if (succeeded(asked.setupPassPipeline(pm)))
      return mlir::success();
    StringRef reason = said;
    if (reason.consume_front("<Pass-Options-Parser>: no such option ")) {
      auto [option, rest] = reason.split('\n');
      fail("expected an option of the pass, got '" + option +
           "'; --help lists the passes and their options");
      return mlir::failure();
    }
    fail(reason + (reason.empty() ? "" : "\n") + "--help lists the passes and their options");
    return mlir::failure();
  });
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  mlir::DialectRegistry registry;
  kiln::registerAllDialects(registry);
  kiln::registerAllPasses();
  kiln::printKilnVersion();
  std::string header = registerOptions(registry);
  auto [input, output] = mlir::parseCLIOptions(argc, argv, header);
  mlir::MlirOptMainConfig config = mlir::MlirOptMainConfig::createFromCLOptions();
  if (config.shouldShowDialects() || config.shouldListPasses())
    return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, input, output, registry));

  std::string message;
  std::unique_ptr<llvm::MemoryBuffer> source = mlir::openInputFile(input, &message);
  if (!source)
    return fail(message);
  llvm::SmallVector<StringRef> parts;
  if (config.inputSplitMarker().empty())
    parts.push_back(source->getBuffer());
  else
    source->getBuffer().split(parts, config.inputSplitMarker());
  for (StringRef part : parts)
    if (std::optional<kiln::SourceProblem> problem = kiln::findSourceProblem(part)) {
      size_t before =
          StringRef(source->getBufferStart(), part.data() - source->getBufferStart()).count('\n');
      return fail(source->getBufferIdentifier() + ":" + llvm::Twine(before + problem->line) + ":" +
                  llvm::Twine(problem->column) + ": " + problem->text);
    }
  explainPipelineErrors(config);
  std::string text;
  llvm::raw_string_ostream os(text);
  bool isRight = succeeded(mlir::MlirOptMain(os, std::move(source), registry, config));
  if (!isRight && output != "-")
    return EXIT_FAILURE;
  if (std::error_code error = kiln::writeFile(output, text))
    return fail("cannot write '" + output + "': " + error.message());
  return isRight ? EXIT_SUCCESS : EXIT_FAILURE;
}
