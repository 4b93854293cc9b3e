// The diagnostics of one compile: handed on as they come, the first error kept.
#ifndef KILN_LIB_PIPELINE_REPORTER_H
#define KILN_LIB_PIPELINE_REPORTER_H

#include "kiln/Pipeline/Compile.h"
#include "kiln/Runtime/Error.h"
#include "kiln/Support/SourceLimits.h"
#include "mlir/IR/Diagnostics.h"

namespace kiln {

/// A place in a file, counted from 1.
struct Place {
  std::string file;
  unsigned line, column;
};

/// Appends the innermost place in a file, and those of the calls that led to it.
void findPlaces(mlir::Location loc, llvm::SmallVectorImpl<Place> &places);

/// Hands every diagnostic of a context on and keeps the first error as one line.
class Reporter {
public:
  Reporter(mlir::MLIRContext &context, DiagnosticSink sink);

  /// The error to return once something failed.
  llvm::Error takeError(llvm::StringRef otherwise, KilnErrorCode code = KILN_ERROR_COMPILE);
  /// One about the request, which has no place in the source.
  llvm::Error error(const llvm::Twine &text);
  /// An error found before the source was parsed.
  llvm::Error error(llvm::StringRef file, const SourceProblem &problem);

  /// Until `endParsing`, an error of the parser stands where the line of IR that it is about says
  /// that it comes from, if the IR was made from the file whose name it bears: the file has no
  /// such line of IR.
  void beginParsing(llvm::StringRef text, llvm::StringRef name);
  void endParsing() { parsed = {}; }

private:
  void report(mlir::Diagnostic &diagnostic, Severity severity);

  DiagnosticSink sink;
  mlir::ScopedDiagnosticHandler handler;
  std::string first;
  llvm::StringRef parsed, parsedName;
};

} // namespace kiln

#endif
