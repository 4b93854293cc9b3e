// What the targets refuse of a document's kernels.
#ifndef KILN_TOOLS_TILE_LSP_SERVER_REFUSALS_H
#define KILN_TOOLS_TILE_LSP_SERVER_REFUSALS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/JSON.h"
#include <string>

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace kiln::lsp {

/// An LSP diagnostic over the word at line and column, which count from 1.
llvm::json::Object makeDiagnostic(llvm::StringRef text, unsigned line, unsigned column,
                                  llvm::StringRef message);

/// Compiles each kernel of a document that parses, as far as the last stage before LLVM's code
/// generator, for each target; the errors, as LSP diagnostics.
llvm::json::Array findRefusals(llvm::StringRef text, llvm::ArrayRef<std::string> targets,
                               const mlir::DialectRegistry &registry);

} // namespace kiln::lsp

#endif // KILN_TOOLS_TILE_LSP_SERVER_REFUSALS_H
