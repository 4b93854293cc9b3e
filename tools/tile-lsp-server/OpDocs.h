// What the ODS definitions say of each op, as Markdown.
#ifndef KILN_TOOLS_TILE_LSP_SERVER_OPDOCS_H
#define KILN_TOOLS_TILE_LSP_SERVER_OPDOCS_H

#include "llvm/ADT/StringRef.h"

namespace kiln::lsp {

/// The op's summary, syntax, description, operands and results; empty if it is not known.
llvm::StringRef documentationOf(llvm::StringRef op);

/// The name of an op at a place of a text, line and character from 0; empty if there is none.
llvm::StringRef opAt(llvm::StringRef text, unsigned line, unsigned character);

} // namespace kiln::lsp

#endif // KILN_TOOLS_TILE_LSP_SERVER_OPDOCS_H
