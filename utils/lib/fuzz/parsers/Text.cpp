// The tile dialect's text: it is parsed, verified and cleaned up. Whatever verifies must print as
// text that parses back; anything else than an error is a bug.
#include "Harness.h"
#include "kiln/Dialect/Tile/Transforms/Passes.h"
#include "kiln/Pipeline/Registration.h"
#include "kiln/Support/SourceLimits.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

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
  kiln::fuzz::fail("expected what was printed to parse, got an error for", text);
}

/// Upstream's own parser dies on these, before any code of ours runs.
static bool killsUpstream(StringRef text) { return text.contains("array<index"); }

void kiln::fuzz::fuzzText(StringRef text) {
  if (text.starts_with("ML\xefR") || killsUpstream(text))
    return;
  if (llvm::Error error = kiln::checkSource(text, "input", 1 << 16, 50)) {
    llvm::consumeError(std::move(error));
    return;
  }
  // A context of its own: types and attributes are never freed within one.
  MLIRContext context(getRegistry(), MLIRContext::Threading::DISABLED);
  ScopedDiagnosticHandler silence(&context, [](Diagnostic &) { return success(); });
  OwningOpRef<ModuleOp> module = parse(text, context);
  if (!module)
    return;
  checkRoundTrip(*module);
  PassManager pm(&context);
  pm.addPass(kiln::tile::createInlineFunctions());
  pm.addPass(kiln::tile::createVerifyKernels());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  if (succeeded(pm.run(*module)))
    checkRoundTrip(*module);
}
