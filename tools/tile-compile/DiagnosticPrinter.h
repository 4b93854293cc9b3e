// Prints diagnostics for people: the place, the message, the source line and a caret.
#ifndef KILN_TOOLS_TILE_COMPILE_DIAGNOSTICPRINTER_H
#define KILN_TOOLS_TILE_COMPILE_DIAGNOSTICPRINTER_H

#include "kiln/Pipeline/Compile.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <memory>

namespace kiln {

class DiagnosticPrinter {
public:
  explicit DiagnosticPrinter(llvm::raw_ostream &os) : os(os) {}

  /// Lines of `name` are taken from here; those of any other file from the file system. The
  /// buffer must outlive the printer.
  void addSource(llvm::StringRef name, llvm::StringRef contents) { sources[name] = contents; }

  void print(const Diagnostic &diagnostic);

private:
  llvm::StringRef contentsOf(llvm::StringRef file);

  llvm::raw_ostream &os;
  llvm::StringMap<llvm::StringRef> sources;
  std::vector<std::unique_ptr<llvm::MemoryBuffer>> files;
};

} // namespace kiln

#endif // KILN_TOOLS_TILE_COMPILE_DIAGNOSTICPRINTER_H
