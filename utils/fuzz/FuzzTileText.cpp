// libFuzzer's way into the tile dialect: text is parsed, verified and cleaned up. Whatever
// verifies must print as text that parses back; anything else than an error is a bug.
//
//     cmake --preset fuzz && ninja -C build-fuzz fuzz-tile-text
//     build-fuzz/bin/fuzz-tile-text -timeout=20 corpus/ test/Dialect/Tile/
#include "kiln/Dialect/Tile/Transforms/Passes.h"
#include "kiln/Pipeline/Registration.h"
#include "kiln/Support/SourceLimits.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include <cstdlib>

using namespace mlir;

static OwningOpRef<ModuleOp> parse(StringRef text, MLIRContext &context) {
  return parseSourceString<ModuleOp>(text, ParserConfig(&context));
}

/// What verifies prints as text that parses back.
static void checkRoundTrip(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream(text) << module;
  if (parse(text, *module.getContext()))
    return;
  llvm::errs() << "expected what was printed to parse, got an error for:\n" << text;
  std::abort();
}

/// Upstream's own parser dies on these, before any code of ours runs.
static bool killsUpstream(StringRef text) { return text.contains("array<index"); }

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  StringRef text(reinterpret_cast<const char *>(data), size);
  if (text.starts_with("ML\xefR") || killsUpstream(text))
    return 0;
  if (llvm::Error error = kiln::checkSource(text, "input", 1 << 16, 50)) {
    llvm::consumeError(std::move(error));
    return 0;
  }
  static DialectRegistry *registry = [] {
    auto *all = new DialectRegistry();
    kiln::registerAllDialects(*all);
    return all;
  }();
  // A context of its own: types and attributes are never freed within one.
  MLIRContext context(*registry, MLIRContext::Threading::DISABLED);
  ScopedDiagnosticHandler silence(&context, [](Diagnostic &) { return success(); });
  OwningOpRef<ModuleOp> module = parse(text, context);
  if (!module)
    return 0;
  checkRoundTrip(*module);
  PassManager pm(&context);
  pm.addPass(kiln::tile::createInlineFunctions());
  pm.addPass(kiln::tile::createVerifyKernels());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  if (succeeded(pm.run(*module)))
    checkRoundTrip(*module);
  return 0;
}
