// Reads the assembly of kernels and looks for the protocol that they declare. Of AMD's it proves,
// too, that what is read was waited for, and says what the code consists of.
#include "kiln/Support/PrintVersion.h"
#include "kiln/Target/AMDGPU/CodeFigures.h"
#include "kiln/Target/AMDGPU/Declared.h"
#include "kiln/Target/AMDGPU/Replay.h"
#include "kiln/Target/NVPTX/Declared.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/WithColor.h"

using namespace llvm;
using namespace kiln::amdgcn;

static int fail(const Twine &text) {
  WithColor::error(errs(), "tile-check-isa") << text << "\n";
  return 2;
}

/// Reads one protocol a line, and says of each the first thing that the code does not keep of it,
/// or that it is kept.
static int checkAgainst(StringRef path,
                        function_ref<std::string(const kiln::Protocol &)> findProblem) {
  auto buffer = MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!buffer)
    return fail("cannot read '" + path + "': " + buffer.getError().message());
  bool isAnyBroken = false;
  for (StringRef rest = (*buffer)->getBuffer(); !rest.empty(); rest = rest.split('\n').second) {
    Expected<kiln::Protocol> protocol = kiln::parseProtocol(rest.split('\n').first);
    std::string problem = protocol ? findProblem(*protocol) : toString(protocol.takeError());
    isAnyBroken |= !problem.empty();
    outs() << (problem.empty() ? "kept" : problem) << "\n";
  }
  return isAnyBroken;
}

/// Of a declaration, what the code does not keep of it; the runs are those of its own one.
static std::string findProblem(KernelCode kernel, const kiln::Protocol &protocol,
                               const ReplayResult &replayed) {
  if (protocol.kernel != kernel.name)
    return "the metadata declares no protocol of the kernel";
  kernel.protocol = protocol;
  std::vector<WaitProblem> problems = checkDeclared(kernel);
  if (problems.empty())
    problems = checkDeclaredPlaces(kernel, replayed);
  if (problems.empty())
    problems = checkWaits(kernel);
  return problems.empty() || !problems.front().earlier.empty() ? "" : problems.front().text;
}

/// The protocol alone: waits are those of an assembler that comes later.
static int checkProtocols(StringRef input, StringRef text) {
  auto problems = kiln::nvptx::checkText(text);
  if (!problems)
    return fail(input + ": " + toString(problems.takeError()));
  for (const kiln::nvptx::TextProblem &problem : *problems)
    WithColor::error(errs(), (input + ":" + Twine(problem.line)).str())
        << "'" << problem.kernel << "': " << problem.text << "\n";
  return problems->empty() ? 0 : 1;
}

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  kiln::printKilnVersion();
  cl::OptionCategory category("tile-check-isa's options");
  cl::opt<std::string> input(cl::Positional, cl::desc("<assembly, as tile-compile --emit asm>"),
                             cl::init("-"), cl::cat(category));
  cl::opt<bool> allowStrong("allow-strong-waits", cl::cat(category),
                            cl::desc("accept waits of inner loops that are stronger than needed"));
  cl::opt<std::string> against(
      "against", cl::cat(category), cl::value_desc("file"),
      cl::desc("check the code of one kernel against each protocol of this file, one a line, in "
               "place of its own, and print what it does not keep of each, or 'kept'"));
  cl::opt<bool> figures("figures", cl::cat(category),
                        cl::desc("print what the code consists of, one JSON object a kernel"));
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(
      argc, argv,
      "Checks that the final code of kernels has what they declare of their "
      "protocol, and of AMD's that they wait for what they read.\n\n"
      "Exit status: 0 proven, 1 the code does not keep the protocol, a wait "
      "is missing or too strong, 2 the text cannot be read, 3 not decided.\n");
  auto buffer = MemoryBuffer::getFileOrSTDIN(input, /*IsText=*/true);
  if (!buffer)
    return fail("cannot read '" + input + "': " + buffer.getError().message());
  StringRef text = (*buffer)->getBuffer();
  bool isOther = kiln::nvptx::isText(text);
  if (isOther && against.empty())
    return checkProtocols(input, text);
  if (isOther)
    return checkAgainst(against, [&](const kiln::Protocol &protocol) {
      auto problems = kiln::nvptx::checkText(text, {protocol});
      return problems.empty() ? "" : problems.front().text;
    });
  auto kernels = parseISA(text);
  if (!kernels)
    return fail(input + ": " + toString(kernels.takeError()));
  if (all_of(*kernels, [](const KernelCode &kernel) { return kernel.isFunction; }))
    return fail(input + ": expected at least one kernel");
  if (!against.empty()) {
    const ReplayResult replayed = replay(kernels->front());
    return checkAgainst(against, [&](const kiln::Protocol &protocol) {
      return findProblem(kernels->front(), protocol, replayed);
    });
  }
  bool proven = true, wrong = false;
  for (const KernelCode &kernel : *kernels) {
    auto report = [&](const std::vector<WaitProblem> &problems) {
      proven &= problems.empty();
      for (const WaitProblem &problem : problems) {
        wrong |= !problem.isOpen;
        WithColor::error(errs(), (input + ":" + Twine(kernel.code[problem.at].line)).str())
            << "'" << kernel.name << "', '" << kernel.code[problem.at].mnemonic
            << "': " << (problem.isOpen ? "not decided: " : "") << problem.text << "\n";
      }
      return problems.empty();
    };
    std::vector<WaitProblem> strong;
    ReplayResult replayed;
    std::vector<WaitProblem> waits = checkDeclared(kernel);
    bool isDeclared = report(waits);
    if (isDeclared)
      waits = checkWaits(kernel);
    auto isDisputed = [](const WaitProblem &problem) { return !problem.earlier.empty(); };
    if (isDeclared && (all_of(waits, isDisputed) || report(waits))) {
      if (waits.empty())
        strong = findStrongWaits(kernel);
      replayed = replay(kernel, waits);
      report(replayed.problems);
      // What was wrong in a run does not decide the others.
      report(replayed.problems.empty() ? replayed.undecided : waits);
      if (replayed.problems.empty())
        report(checkDeclaredPlaces(kernel, replayed));
    }
    if (!allowStrong)
      report(strong);
    if (figures && !kernel.isFunction) {
      json::Object object = describeCode(kernel);
      object["strong_waits"] = int64_t(strong.size());
      object["replayed"] = json::Object{{"runs", int64_t(replayed.runs)},
                                        {"cut_short", int64_t(replayed.cutShort)},
                                        {"instructions", int64_t(replayed.steps)},
                                        {"missed", int64_t(replayed.missed)}};
      outs() << json::Value(std::move(object)) << "\n";
    }
  }
  return wrong ? 1 : proven ? 0 : 3;
}
