// Reads the assembly of AMD kernels, proves that what is read was waited for, and says what the
// code consists of.
#include "kiln/Support/PrintVersion.h"
#include "kiln/Target/AMDGPU/CodeFigures.h"
#include "kiln/Target/AMDGPU/Waits.h"
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

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  kiln::printKilnVersion();
  cl::OptionCategory category("tile-check-isa's options");
  cl::opt<std::string> input(cl::Positional, cl::desc("<assembly, as tile-compile --emit asm>"),
                             cl::init("-"), cl::cat(category));
  cl::opt<bool> allowStrong("allow-strong-waits", cl::cat(category),
                            cl::desc("accept waits of inner loops that are stronger than needed"));
  cl::opt<bool> figures("figures", cl::cat(category),
                        cl::desc("print what the code consists of, one JSON object a kernel"));
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(argc, argv,
                              "Checks the waits of AMD kernels in their final code.\n\n"
                              "Exit status: 0 proven, 1 a wait is missing or too strong, 2 the "
                              "text cannot be read.\n");
  auto buffer = MemoryBuffer::getFileOrSTDIN(input, /*IsText=*/true);
  if (!buffer)
    return fail("cannot read '" + input + "': " + buffer.getError().message());
  auto kernels = parseISA((*buffer)->getBuffer());
  if (!kernels)
    return fail(input + ": " + toString(kernels.takeError()));
  if (all_of(*kernels, [](const KernelCode &kernel) { return kernel.isFunction; }))
    return fail(input + ": expected at least one kernel");
  bool proven = true;
  for (const KernelCode &kernel : *kernels) {
    auto report = [&](const std::vector<WaitProblem> &problems) {
      proven &= problems.empty();
      for (const WaitProblem &problem : problems)
        WithColor::error(errs(), (input + ":" + Twine(kernel.code[problem.at].line)).str())
            << "'" << kernel.name << "', '" << kernel.code[problem.at].mnemonic
            << "': " << problem.text << "\n";
      return problems.empty();
    };
    std::vector<WaitProblem> strong;
    if (report(checkWaits(kernel)))
      strong = findStrongWaits(kernel);
    if (!allowStrong)
      report(strong);
    if (figures && !kernel.isFunction) {
      json::Object object = describeCode(kernel);
      object["strong_waits"] = int64_t(strong.size());
      outs() << json::Value(std::move(object)) << "\n";
    }
  }
  return proven ? 0 : 1;
}
