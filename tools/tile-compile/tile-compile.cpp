// Compiles a kernel from a file to any stage, without Python: the pipeline that ships, and
// nothing that only this tool knows.
#include "DiagnosticPrinter.h"
#include "kiln/Dialect/Tile/IR/Decisions.h"
#include "kiln/Pipeline/Compile.h"
#include "kiln/Runtime/Error.h"
#include "kiln/Support/PrintVersion.h"
#include "kiln/Support/WriteFile.h"
#include "kiln/Target/Stage.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/WithColor.h"

using namespace kiln;
namespace cl = llvm::cl;
using llvm::StringRef;

namespace {

enum ExitCode { kDone = 0, kBadSource = 1, kBadUsage = 2, kBadFile = 3, kBadCompiler = 4 };

const char *const kOverview =
    R"(Compiles one kernel of an .mlir file (text or bytecode) and writes the stage asked for.

EXAMPLES:
  tile-compile add.mlir -o add.kiln                      compiled for this machine
  tile-compile add.mlir --emit layout                    the IR once layouts are decided
  tile-compile add.mlir --target NAME --emit asm         for another (--list-targets)
  tile-compile - --kernel add --emit llvmir < add.mlir
  tile-compile edited.mlir --from layout -o add.kiln     on from that IR, edited

EXIT CODES:
  0  written
  1  the source does not compile; the diagnostics say where
  2  the command line is wrong: an unknown option, target, stage or pipeline option; no kernel
     of that name, or without --kernel not one but several, or none
  3  a file cannot be read or written
  4  a defect of the compiler ended the compile
)";

/// What was asked for. Plain values: the linker that makes some targets' code resets every
/// `cl::opt` of the process.
struct Options {
  std::string input, output, target, kernel, emit, from, pipeline;
  int optLevel;
  bool exact, fastMath, vendorMath, listTargets, listDecisions;
};

struct CommandLine {
  cl::OptionCategory category{"tile-compile's options"};
  cl::opt<std::string> input{cl::Positional, cl::desc("<file, or - for standard input>"),
                             cl::init("-"), cl::cat(category)};
  cl::opt<std::string> output{"o",
                              cl::desc("The file to write, whole or not at all; - is "
                                       "standard output (default: -)"),
                              cl::value_desc("file"), cl::init("-"), cl::cat(category)};
  cl::opt<std::string> target{
      "target",
      cl::desc("What to compile for (default: what the module "
               "says, else cpu); see --list-targets. Several kinds of processor, with commas: "
               "an artifact with a version for each"),
      cl::value_desc("name"), cl::cat(category)};
  cl::opt<std::string> kernel{"kernel", cl::desc("Which kernel, if the file holds several"),
                              cl::value_desc("name"), cl::cat(category)};
  cl::opt<std::string> emit{
      "emit",
      cl::desc("tile, layout, schedule, target, llvm (that stage's MLIR), llvmir, asm, binary "
               "(what the device loads), metadata (JSON) or artifact (all that a launch needs) "
               "(default: artifact)"),
      cl::value_desc("stage"), cl::init("artifact"), cl::cat(category)};
  cl::opt<std::string> from{
      "from",
      cl::desc("The file is what --emit of this stage wrote, from tile to llvm, perhaps edited: go "
               "on behind it"),
      cl::value_desc("stage"), cl::cat(category)};
  cl::opt<bool> exact{"exact",
                      cl::desc("With --from layout: decide nothing that the file leaves open"),
                      cl::cat(category)};
  cl::opt<int> optLevel{"O",
                        cl::Prefix,
                        cl::desc("How hard to optimise, 0 to 3 (default: 3)"),
                        cl::value_desc("level"),
                        cl::init(3),
                        cl::cat(category)};
  cl::opt<bool> fastMath{"fast-math", cl::desc("May reassociate and ignore NaN and infinities"),
                         cl::cat(category)};
  cl::opt<bool> vendorMath{"vendor-math",
                           cl::desc("On accelerators, the vendor's functions of mathematics if "
                                    "they are found"),
                           cl::cat(category)};
  cl::opt<std::string> pipeline{"options", cl::desc("More options of the pipeline"),
                                cl::value_desc("name=value ..."), cl::cat(category)};
  cl::opt<bool> listTargets{"list-targets",
                            cl::desc("Print the targets that are built in, one "
                                     "a line"),
                            cl::cat(category)};
  cl::opt<bool> listDecisions{"list-decisions",
                              cl::desc("Print what may be decided, one decision a line: its "
                                       "attribute, the stage that reads it last, the pass that "
                                       "obeys it, and whether passes alone write it"),
                              cl::cat(category)};

  Options get() const {
    return {input,    output, target,   kernel,     emit,        from,         pipeline,
            optLevel, exact,  fastMath, vendorMath, listTargets, listDecisions};
  }
};

llvm::raw_ostream &error() { return llvm::WithColor::error(llvm::errs(), "tile-compile"); }

/// Every name that --target takes.
std::vector<std::string> targetNames() {
  std::vector<std::string> names;
  llvm::Expected<llvm::json::Value> described = llvm::json::parse(describeTargets());
  if (!described) {
    llvm::consumeError(described.takeError());
    return names;
  }
  for (const llvm::json::Value &target : *described->getAsObject()->getArray("targets"))
    for (const llvm::json::Value &name : *target.getAsObject()->getArray("spellings"))
      names.push_back(name.getAsString()->str());
  return names;
}

std::string listDecisions() {
  std::string text;
  llvm::raw_string_ostream out(text);
  for (const tile::Decision &decision : tile::getDecisions()) {
    constexpr llvm::StringLiteral stages[] = {"layout", "schedule", "lowering"};
    out << decision.name << " " << stages[unsigned(decision.readBy)] << " " << decision.pass
        << (decision.isMark ? " mark\n" : "\n");
  }
  return text;
}

/// Where the artifact keeps what `emit` asks for; empty if there is no such stage.
std::string sectionOf(StringRef emit) {
  std::optional<Stage> stage = parseStage(emit);
  if (!stage)
    return "";
  bool isText = *stage != Stage::Asm && *stage != Stage::Binary;
  return isText ? ("ir:" + emit).str() : emit.str();
}

int checkUsage(const Options &options) {
  std::vector<std::string> targets = targetNames();
  llvm::SmallVector<StringRef> asked;
  StringRef(options.target).split(asked, ',');
  for (StringRef target : asked)
    if (!options.target.empty() && !llvm::is_contained(targets, target)) {
      error() << "expected one of the targets " << llvm::join(targets, ", ") << ", got '" << target
              << "'\n";
      return kBadUsage;
    }
  if (options.emit != "artifact" && options.emit != "metadata" && sectionOf(options.emit).empty()) {
    error() << "expected one of the stages tile, layout, schedule, target, llvm, llvmir, asm, "
               "binary, metadata, artifact, got '"
            << options.emit << "'\n";
    return kBadUsage;
  }
  if (options.optLevel < 0 || options.optLevel > 3) {
    error() << "expected an optimisation level from 0 to 3, got " << options.optLevel << "\n";
    return kBadUsage;
  }
  bool isBytes = options.emit == "artifact" || options.emit == "binary";
  if (isBytes && options.output == "-" && llvm::sys::Process::StandardOutIsDisplayed()) {
    error() << "expected -o FILE or --emit of a text, got bytes for a terminal\n";
    return kBadUsage;
  }
  return kDone;
}

int writeOutput(StringRef path, StringRef bytes) {
  std::error_code failure = writeFile(path, bytes);
  if (!failure)
    return kDone;
  error() << "cannot write '" << path << "': " << failure.message() << "\n";
  return kBadFile;
}

int run(const Options &options) {
  if (options.listTargets)
    return writeOutput(options.output, llvm::join(targetNames(), "\n") + "\n");
  if (options.listDecisions)
    return writeOutput(options.output, listDecisions());
  if (int code = checkUsage(options))
    return code;

  auto buffer = llvm::MemoryBuffer::getFileOrSTDIN(options.input, /*IsText=*/false);
  if (!buffer) {
    error() << "cannot read '" << options.input << "': " << buffer.getError().message() << "\n";
    return kBadFile;
  }

  CompileRequest request;
  request.source = (*buffer)->getBuffer();
  request.sourceName = options.input == "-" ? "<stdin>" : options.input;
  request.kernel = options.kernel;
  request.target = options.target;
  request.optLevel = options.optLevel;
  request.fastMath = options.fastMath;
  request.vendorMath = options.vendorMath;
  request.options = options.pipeline;
  if (!options.from.empty())
    request.options += " from=" + options.from;
  if (options.exact)
    request.options += " exact=true";
  std::string section = sectionOf(options.emit);
  if (!section.empty()) {
    request.keepStages = {options.emit};
    request.options += " stop-after=" + options.emit;
  }

  DiagnosticPrinter printer(llvm::errs());
  printer.addSource(request.sourceName, request.source);
  bool reported = false;
  llvm::Expected<Artifact> artifact = compile(request, [&](const Diagnostic &diagnostic) {
    reported |= diagnostic.severity == Severity::Error;
    printer.print(diagnostic);
  });
  if (!artifact) {
    int code = kBadSource;
    auto note = [&](const RuntimeError &failure) {
      if (failure.code == KILN_ERROR_INVALID_ARGUMENT || failure.code == KILN_ERROR_NOT_FOUND)
        code = kBadUsage;
      if (!reported)
        error() << failure.text << "\n";
    };
    auto noteOther = [&](const llvm::ErrorInfoBase &failure) {
      if (!reported)
        error() << failure.message() << "\n";
    };
    llvm::handleAllErrors(artifact.takeError(), note, noteOther);
    return code;
  }

  if (options.emit == "artifact")
    return writeOutput(options.output, artifact->serialized());
  if (options.emit == "metadata")
    return writeOutput(options.output, (artifact->metadataText() + "\n").str());
  if (std::optional<StringRef> bytes = artifact->section(section))
    return writeOutput(options.output, *bytes);
  error() << "the target has no stage '" << options.emit << "'\n";
  return kBadUsage;
}

} // namespace

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  printKilnVersion();
  CommandLine line;
  cl::HideUnrelatedOptions(line.category);
  if (!cl::ParseCommandLineOptions(argc, argv, kOverview, &llvm::errs()))
    return kBadUsage;
  // A code generator ends its process where it meets what it does not know.
  llvm::install_fatal_error_handler([](void *, const char *reason, bool) {
    error() << reason << "\n";
    llvm::sys::Process::Exit(kBadCompiler);
  });
  Options options = line.get();
  int code = kBadCompiler;
  llvm::CrashRecoveryContext::Enable();
  llvm::CrashRecoveryContext context;
  if (context.RunSafely([&] { code = run(options); }))
    return code;
  error() << "a defect of the compiler ended the compile of '" << options.input << "'\n";
  // Other threads may still compile: what they use is not destroyed under them.
  llvm::sys::Process::Exit(kBadCompiler, /*NoCleanup=*/true);
}
