// What LLVM's code generators complain about, as text.
#ifndef KILN_LIB_BINARY_COLLECTERRORS_H
#define KILN_LIB_BINARY_COLLECTERRORS_H

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/DiagnosticHandler.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/Support/raw_ostream.h"

namespace kiln {

/// Keeps errors as text. LLVM's own handler prints them and exits.
struct CollectErrors : llvm::DiagnosticHandler {
  explicit CollectErrors(std::string &errors, uint64_t *stackBytes = nullptr)
      : errors(errors), stackBytes(stackBytes) {}
  bool handleDiagnostics(const llvm::DiagnosticInfo &info) override {
    if (auto *frame = llvm::dyn_cast<llvm::DiagnosticInfoStackSize>(&info); frame && stackBytes)
      *stackBytes += frame->getStackSize();
    if (info.getSeverity() != llvm::DS_Error)
      return true;
    std::string text;
    llvm::raw_string_ostream stream(text);
    if (auto *assembly = llvm::dyn_cast<llvm::DiagnosticInfoSrcMgr>(&info)) {
      const llvm::SMDiagnostic &inner = assembly->getSMDiag();
      stream << "inline assembly '" << inner.getLineContents().trim()
             << "': " << inner.getMessage();
    } else {
      llvm::DiagnosticPrinterRawOStream printer(stream);
      info.print(printer);
    }
    // An operation on a tensor is one instruction an element.
    if (!llvm::is_contained(seen, text)) {
      errors += (errors.empty() ? "" : "; ") + text;
      seen.push_back(std::move(text));
    }
    return true;
  }
  std::string &errors;
  uint64_t *stackBytes; ///< grows by each frame that is told of

private:
  std::vector<std::string> seen;
};

} // namespace kiln

#endif // KILN_LIB_BINARY_COLLECTERRORS_H
