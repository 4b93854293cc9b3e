// The same compile as tile-compile's, once for each kernel and target of each section.
#include "Refusals.h"
#include "kiln/Dialect/Tile/IR/Marks.h"
#include "kiln/Dialect/Tile/IR/Tile.h"
#include "kiln/Pipeline/Compile.h"
#include "kiln/Support/SourceLimits.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include <set>

using namespace kiln;
using llvm::StringRef;
namespace json = llvm::json;

/// What MLIR's server, too, takes for the end of a section.
static constexpr llvm::StringLiteral kSplitMarker = "// -----";
static constexpr llvm::StringLiteral kSourceName = "document";

json::Object lsp::makeDiagnostic(StringRef text, unsigned line, unsigned column,
                                 StringRef message) {
  for (unsigned i = 1; i < line; ++i)
    text = text.split('\n').second;
  text = text.take_until([](char c) { return c == '\n'; });
  unsigned from = column ? column - 1 : 0, to = std::min<size_t>(from + 1, text.size());
  while (to < text.size() && (llvm::isAlnum(text[to]) || text[to] == '_' || text[to] == '.'))
    ++to;
  auto place = [&](unsigned character) {
    return json::Object{{"line", line ? line - 1 : 0}, {"character", character}};
  };
  return json::Object{
      {"range", json::Object{{"start", place(from)}, {"end", place(std::max(to, from))}}},
      {"severity", 1},
      {"source", "kiln"},
      {"message", message.str()}};
}

namespace {
struct Kernel {
  std::string name;
  unsigned line;
};
} // namespace

/// The kernels of a section that parses, but of none that a target has been chosen for: what is
/// at a later stage is no source.
static std::vector<Kernel> kernelsOf(StringRef section, const mlir::DialectRegistry &registry) {
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  mlir::ScopedDiagnosticHandler silence(&context,
                                        [](mlir::Diagnostic &) { return mlir::success(); });
  std::vector<Kernel> kernels;
  auto module =
      mlir::parseSourceString<mlir::ModuleOp>(section, mlir::ParserConfig(&context), kSourceName);
  if (!module || (*module)->hasAttr(tile::kTargetAttrName))
    return kernels;
  for (tile::KernelOp kernel : module->getOps<tile::KernelOp>()) {
    auto place = kernel.getLoc()->findInstanceOf<mlir::FileLineColLoc>();
    kernels.push_back({kernel.getSymName().str(), place ? place.getLine() : 1});
  }
  return kernels;
}

json::Array lsp::findRefusals(StringRef text, llvm::ArrayRef<std::string> targets,
                              const mlir::DialectRegistry &registry) {
  json::Array found;
  if (!text.contains("tile.kernel") || findSourceProblem(text))
    return found;
  std::set<std::tuple<unsigned, unsigned, std::string>> seen;
  llvm::SmallVector<StringRef> sections;
  text.split(sections, kSplitMarker);
  for (StringRef section : sections) {
    unsigned before = StringRef(text.data(), section.data() - text.data()).count('\n');
    for (const Kernel &kernel : kernelsOf(section, registry))
      for (const std::string &target : targets) {
        CompileRequest request;
        request.source = section;
        request.sourceName = kSourceName.str();
        request.kernel = kernel.name;
        request.target = target;
        request.options = "stop-after=llvm";
        llvm::consumeError(compile(request, [&](const Diagnostic &diagnostic) {
                             if (diagnostic.severity != Severity::Error)
                               return;
                             bool here = diagnostic.file == kSourceName && diagnostic.line;
                             unsigned line = before + (here ? diagnostic.line : kernel.line);
                             unsigned column = here ? diagnostic.column : 1;
                             std::string message = target + ": " + diagnostic.text;
                             if (seen.insert({line, column, message}).second)
                               found.push_back(makeDiagnostic(text, line, column, message));
                           }).takeError());
      }
  }
  return found;
}
