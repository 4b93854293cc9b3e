// Hands diagnostics on at the places that a user knows.
#include "Reporter.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Location.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;

namespace kiln {

void findPlaces(Location loc, SmallVectorImpl<Place> &places) {
  if (auto file = dyn_cast<FileLineColLoc>(loc)) {
    places.push_back({file.getFilename().str(), file.getLine(), file.getColumn()});
  } else if (auto name = dyn_cast<NameLoc>(loc)) {
    findPlaces(name.getChildLoc(), places);
  } else if (auto call = dyn_cast<CallSiteLoc>(loc)) {
    findPlaces(call.getCallee(), places);
    findPlaces(call.getCaller(), places);
  } else if (auto fused = dyn_cast<FusedLoc>(loc)) {
    if (!fused.getLocations().empty())
      findPlaces(fused.getLocations().front(), places);
  }
}

/// The alias at the end of a line of IR, counted from 0, or of the line that ends the regions of
/// the operation that begins there; empty if neither has one.
static StringRef findAlias(ArrayRef<StringRef> lines, size_t number) {
  auto get = [&](StringRef line) {
    StringRef alias = line.rtrim().rsplit(" loc(#").second;
    return alias.consume_back(")") ? alias : StringRef();
  };
  if (StringRef own = get(lines[number]); !own.empty())
    return own;
  auto countSpaces = [](StringRef line) { return line.size() - line.ltrim(' ').size(); };
  for (StringRef line : lines.drop_front(number + 1))
    if (StringRef alias = get(line); !alias.empty() && line.ltrim(' ').starts_with("}") &&
                                     countSpaces(line) == countSpaces(lines[number]))
      return alias;
  return {};
}

/// Where a line of IR, counted from 1, says by an alias that its operation comes from.
static SmallVector<Place> findOrigin(StringRef text, unsigned line) {
  SmallVector<StringRef> lines;
  text.split(lines, '\n');
  if (line == 0 || line > lines.size())
    return {};
  StringRef alias = findAlias(lines, line - 1);
  if (alias.empty())
    return {};
  // The parser of locations reads them: the aliases, and a module that bears the one. It has a
  // context of its own, since the parse that failed holds the other.
  std::string module;
  for (StringRef other : lines)
    if (other.starts_with("#") && other.contains(" = loc("))
      module += (other + "\n").str();
  module += ("module {} loc(#" + alias + ")").str();
  MLIRContext context(MLIRContext::Threading::DISABLED);
  ScopedDiagnosticHandler silent(&context, [](mlir::Diagnostic &) { return success(); });
  SmallVector<Place> places;
  if (OwningOpRef<ModuleOp> origin = parseSourceString<ModuleOp>(module, ParserConfig(&context)))
    findPlaces(origin->getLoc(), places);
  return places;
}

static Severity severityOf(DiagnosticSeverity severity) {
  switch (severity) {
  case DiagnosticSeverity::Error:
    return Severity::Error;
  case DiagnosticSeverity::Warning:
    return Severity::Warning;
  case DiagnosticSeverity::Remark:
    return Severity::Remark;
  case DiagnosticSeverity::Note:
    return Severity::Note;
  }
  return Severity::Error;
}

Reporter::Reporter(MLIRContext &context, DiagnosticSink sink)
    : sink(sink), handler(&context, [this](mlir::Diagnostic &diagnostic) {
        report(diagnostic, severityOf(diagnostic.getSeverity()));
        for (mlir::Diagnostic &note : diagnostic.getNotes())
          report(note, Severity::Note);
        return success();
      }) {}

llvm::Error Reporter::takeError(StringRef otherwise, KilnErrorCode code) {
  return makeError(code, first.empty() ? otherwise.str() : first);
}

llvm::Error Reporter::error(const Twine &text) {
  sink({Severity::Error, "", 0, 0, text.str()});
  return makeError(KILN_ERROR_INVALID_ARGUMENT, text);
}

llvm::Error Reporter::error(StringRef file, const SourceProblem &problem) {
  sink({Severity::Error, file.str(), unsigned(problem.line), unsigned(problem.column),
        problem.text});
  return llvm::createStringError(file + ":" + Twine(problem.line) + ":" + Twine(problem.column) +
                                 ": " + problem.text);
}

void Reporter::beginParsing(StringRef text, StringRef name) {
  parsed = text;
  parsedName = name;
}

void Reporter::report(mlir::Diagnostic &diagnostic, Severity severity) {
  SmallVector<Place> places;
  findPlaces(diagnostic.getLocation(), places);
  if (!parsed.empty() && !places.empty()) {
    SmallVector<Place> origin = findOrigin(parsed, places.front().line);
    if (!origin.empty() && origin.front().file == parsedName)
      places = std::move(origin);
  }
  Diagnostic out{severity, "", 0, 0, diagnostic.str()};
  auto setPlace = [&](const Place &place) {
    out.file = place.file;
    out.line = place.line;
    out.column = place.column;
  };
  if (!places.empty())
    setPlace(places.front());
  sink(out);
  if (severity == Severity::Error && first.empty())
    first = (out.file.empty() ? ""
                              : out.file + ":" + std::to_string(out.line) + ":" +
                                    std::to_string(out.column) + ": ") +
            out.text;
  if (severity == Severity::Note || places.empty())
    return;
  for (const Place &place : ArrayRef(places).drop_front()) {
    out.severity = Severity::Note;
    out.text = "called from here";
    setPlace(place);
    sink(out);
  }
}

} // namespace kiln
