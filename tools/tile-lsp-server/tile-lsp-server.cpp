// Speaks the Language Server Protocol over standard input and output, so that an editor shows
// errors, types, definitions, uses and the documentation of ops in .mlir files of any stage, and
// what a target refuses of a kernel.
//
// MLIR's server runs in this process behind two pipes in the place of standard input and output; a
// thread for each direction carries the messages through Proxy.
#include "Proxy.h"
#include "kiln-c/Version.h"
#include "kiln/Pipeline/Registration.h"
#include "kiln/Support/ParseJSON.h"
#include "kiln/Support/PrintVersion.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Support/LLVM.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/LSP/Transport.h"
#include "llvm/Support/raw_ostream.h"
#include <csignal>
#include <cstdio>
#include <thread>
#include <unistd.h>

using namespace kiln;
namespace cl = llvm::cl;
using llvm::lsp::JSONStreamStyle;
using llvm::lsp::JSONTransportInputOverFile;

namespace {

struct Options {
  std::vector<std::string> targets;
  std::string log;
  bool isTest, isPretty;
};

struct CommandLine {
  cl::OptionCategory category{"tile-lsp-server's options"};
  cl::list<std::string> targets{
      "target",
      cl::desc("What kernels are compiled for, to show what it refuses; may be given several "
               "times (default: cpu). An editor may send {\"targets\": [...]} in its "
               "initializationOptions instead"),
      cl::value_desc("name"), cl::cat(category)};
  cl::opt<std::string> log{"log", cl::desc("What to write to standard error: error, info, verbose"),
                           cl::value_desc("level"), cl::init("info"), cl::cat(category)};
  cl::opt<bool> test{"lit-test",
                     cl::desc("Messages end with '// -----' lines, and are printed to be read"),
                     cl::cat(category)};
  cl::opt<bool> pretty{"pretty", cl::desc("Print JSON to be read"), cl::cat(category)};

  Options get() const {
    return {std::vector<std::string>(targets.begin(), targets.end()), log, test, pretty || test};
  }
  /// MLIR's server has options of the same names.
  ~CommandLine() {
    targets.removeArgument();
    log.removeArgument();
    test.removeArgument();
    pretty.removeArgument();
  }
};

Options parseCommandLine(int argc, char **argv) {
  printKilnVersion();
  CommandLine line;
  cl::HideUnrelatedOptions(line.category);
  cl::ParseCommandLineOptions(
      argc, argv, "Kiln's language server for .mlir files, version " KILN_VERSION_STRING "\n");
  Options options = line.get();
  if (options.targets.empty())
    options.targets = {"cpu"};
  return options;
}

void write(llvm::raw_ostream &os, const llvm::json::Value &message, bool isPretty) {
  std::string text = llvm::formatv(isPretty ? "{0:2}\n" : "{0}", message).str();
  os << "Content-Length: " << text.size() << "\r\n\r\n" << text;
  os.flush();
}

/// Carries messages from one side to the other until the first ends.
template <typename Parse, typename Change>
void carry(int from, JSONStreamStyle style, int to, bool isPretty, Parse parse, Change change) {
  std::FILE *file = ::fdopen(from, "rb");
  JSONTransportInputOverFile input(file, style);
  llvm::raw_fd_ostream os(to, /*shouldClose=*/true);
  while (!input.isEndOfInput() && !input.hasError()) {
    std::string text;
    if (failed(input.readMessage(text)))
      continue;
    llvm::Expected<llvm::json::Value> message = parse(text);
    if (!message) {
      llvm::errs() << "tile-lsp-server: " << llvm::toString(message.takeError()) << "\n";
      continue;
    }
    change(*message);
    write(os, *message, isPretty);
  }
  os.clear_error(); // whoever is gone reads no more
}

} // namespace

int main(int argc, char **argv) {
  Options options = parseCommandLine(argc, argv);
  mlir::DialectRegistry registry;
  registerAllDialects(registry);
  ::signal(SIGPIPE, SIG_IGN);
  int input = ::dup(STDIN_FILENO), output = ::dup(STDOUT_FILENO), toServer[2], toEditor[2];
  if (input < 0 || output < 0 || ::pipe(toServer) != 0 || ::pipe(toEditor) != 0 ||
      ::dup2(toServer[0], STDIN_FILENO) < 0 || ::dup2(toEditor[1], STDOUT_FILENO) < 0) {
    llvm::errs() << "tile-lsp-server: cannot make pipes\n";
    return EXIT_FAILURE;
  }
  ::close(toServer[0]);
  ::close(toEditor[1]);

  lsp::Proxy proxy(registry, options.targets);
  auto style = options.isTest ? JSONStreamStyle::Delimited : JSONStreamStyle::Standard;
  std::thread([&, style] {
    carry(input, style, toServer[1], false, parseJSON,
          [&](llvm::json::Value &message) { proxy.fromEditor(message); });
  }).detach();
  // What our own server says may nest as deep as a source does.
  auto parse = [](llvm::StringRef text) { return llvm::json::parse(text); };
  std::thread answers([&] {
    carry(toEditor[0], JSONStreamStyle::Standard, output, options.isPretty, parse,
          [&](llvm::json::Value &message) { proxy.fromServer(message); });
  });
  std::string program = "tile-lsp-server", log = "--log=" + options.log;
  char *arguments[] = {program.data(), log.data(), nullptr};
  bool isRight = succeeded(mlir::MlirLspServerMain(2, arguments, registry));
  llvm::outs().flush();
  ::close(STDOUT_FILENO);
  answers.join();
  // The other thread may wait for an editor that says no more.
  ::_exit(isRight ? EXIT_SUCCESS : EXIT_FAILURE);
}
