// What stands between an editor and MLIR's language server.
//
// The server parses whatever it is told, with a parser that overflows its stack on some texts, says
// that it is MLIR's, and knows nothing of targets. Each message passes through here: a document
// that must not be parsed is kept back, and answers are completed with what Kiln knows.
#ifndef KILN_TOOLS_TILE_LSP_SERVER_PROXY_H
#define KILN_TOOLS_TILE_LSP_SERVER_PROXY_H

#include "kiln/Support/SourceLimits.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/JSON.h"
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace kiln::lsp {

class Proxy {
public:
  Proxy(const mlir::DialectRegistry &registry, std::vector<std::string> targets)
      : registry(registry), targets(std::move(targets)) {}

  /// Changes a message on its way from the editor to the server.
  void fromEditor(llvm::json::Value &message);
  /// Changes a message on its way from the server to the editor.
  void fromServer(llvm::json::Value &message);

private:
  struct Document {
    std::string text;
    std::optional<SourceProblem> problem;
  };
  /// By version: those that the server has not reported on yet, and the last.
  using Versions = std::map<int64_t, Document>;
  /// A request that the server has not answered yet.
  struct Asked {
    std::string method, op; ///< op: what a hover is over
  };

  void open(llvm::json::Object &params);
  void change(llvm::json::Object &params);
  void completeHover(const Asked &asked, llvm::json::Object &answer);
  void completeDiagnostics(llvm::json::Object &params);

  const mlir::DialectRegistry &registry;
  std::mutex mutex; ///< both directions have a thread of their own
  std::vector<std::string> targets;
  llvm::StringMap<Versions> documents;
  std::map<std::string, Asked> pending; ///< by the request's id, as text
};

} // namespace kiln::lsp

#endif // KILN_TOOLS_TILE_LSP_SERVER_PROXY_H
