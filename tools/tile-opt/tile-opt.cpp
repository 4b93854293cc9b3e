// Runs passes over .mlir text: the ones Kiln ships, and no others.
//
// The input is checked before it is parsed, for the parser overflows its stack on what nests too
// deeply; so the file is read here and not by MlirOptMain.
#include "kiln/Pipeline/Registration.h"
#include "kiln/Support/SourceLimits.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/ToolOutputFile.h"
#include "llvm/Support/WithColor.h"

static int fail(llvm::StringRef message) {
  llvm::WithColor::error() << message << "\n";
  return EXIT_FAILURE;
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  mlir::DialectRegistry registry;
  kiln::registerAllDialects(registry);
  kiln::registerAllPasses();
  auto [input, output] = mlir::registerAndParseCLIOptions(
      argc, argv, "Kiln's pass driver over the tile dialect\n", registry);
  mlir::MlirOptMainConfig config = mlir::MlirOptMainConfig::createFromCLOptions();
  if (config.shouldShowDialects() || config.shouldListPasses())
    return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, input, output, registry));

  std::string message;
  std::unique_ptr<llvm::MemoryBuffer> source = mlir::openInputFile(input, &message);
  if (!source)
    return fail(message);
  llvm::SmallVector<llvm::StringRef> parts;
  if (config.inputSplitMarker().empty())
    parts.push_back(source->getBuffer());
  else
    source->getBuffer().split(parts, config.inputSplitMarker());
  for (llvm::StringRef part : parts)
    if (llvm::Error error = kiln::checkSource(part, source->getBufferIdentifier(), UINT64_MAX,
                                              kiln::kMaxSourceDepth))
      return fail(llvm::toString(std::move(error)));
  std::unique_ptr<llvm::ToolOutputFile> result = mlir::openOutputFile(output, &message);
  if (!result)
    return fail(message);
  if (failed(mlir::MlirOptMain(result->os(), std::move(source), registry, config)))
    return EXIT_FAILURE;
  result->keep();
  return EXIT_SUCCESS;
}
