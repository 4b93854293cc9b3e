// See the header. A place may lie in a file that is not what is compiled: a front end writes the
// lines of its own source into the locations.
#include "DiagnosticPrinter.h"
#include "llvm/Support/WithColor.h"

using namespace kiln;
using llvm::StringRef;

/// No terminal shows a caret under a longer line.
static constexpr size_t kMostShown = 1000;

static StringRef nameOf(Severity severity) {
  switch (severity) {
  case Severity::Error:
    return "error";
  case Severity::Warning:
    return "warning";
  case Severity::Remark:
    return "remark";
  case Severity::Note:
    return "note";
  }
  return "error";
}

static llvm::raw_ostream::Colors colourOf(Severity severity) {
  switch (severity) {
  case Severity::Error:
    return llvm::raw_ostream::RED;
  case Severity::Warning:
    return llvm::raw_ostream::MAGENTA;
  default:
    return llvm::raw_ostream::BLUE;
  }
}

StringRef DiagnosticPrinter::contentsOf(StringRef file) {
  auto known = sources.find(file);
  if (known != sources.end())
    return known->second;
  StringRef contents;
  if (auto buffer = llvm::MemoryBuffer::getFile(file)) {
    files.push_back(std::move(*buffer));
    contents = files.back()->getBuffer();
  }
  return sources[file] = contents;
}

void DiagnosticPrinter::print(const Diagnostic &diagnostic) {
  if (!diagnostic.file.empty()) {
    os << diagnostic.file << ':';
    if (diagnostic.line)
      os << diagnostic.line << ':';
    if (diagnostic.line && diagnostic.column)
      os << diagnostic.column << ':';
    os << ' ';
  }
  llvm::WithColor(os, colourOf(diagnostic.severity), /*Bold=*/true)
      << nameOf(diagnostic.severity) << ':';
  os << ' ' << diagnostic.text << '\n';
  if (diagnostic.file.empty() || !diagnostic.line)
    return;

  StringRef rest = contentsOf(diagnostic.file);
  for (unsigned line = 1; line < diagnostic.line; ++line)
    rest = rest.split('\n').second;
  StringRef line = rest.split('\n').first.rtrim('\r');
  if (line.trim().empty() || line.size() > kMostShown)
    return;
  os << line << '\n';
  if (!diagnostic.column || diagnostic.column > line.size() + 1)
    return;
  for (char c : line.take_front(diagnostic.column - 1))
    os << (c == '\t' ? '\t' : ' ');
  os << "^\n";
}
