// The program around the harnesses: `kiln-fuzz --harness=NAME …`.
//
// In a build of the preset `fuzz` libFuzzer drives it, with its own options. In any other build it
// replays the files it is given and mutates them blindly, from a seed, for a time or so many times,
// so that every build can run it; the input at hand is in the file of --input-file if the process
// dies.
#include "Harness.h"
#include "kiln/Pipeline/Registration.h"
#include "mlir/IR/DialectRegistry.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <cstdlib>
#include <random>
#include <string>
#include <unistd.h>
#include <vector>

using namespace kiln::fuzz;
using llvm::StringRef;

const mlir::DialectRegistry &kiln::fuzz::getRegistry() {
  static const mlir::DialectRegistry *registry = [] {
    auto *all = new mlir::DialectRegistry();
    kiln::registerAllDialects(*all);
    return all;
  }();
  return *registry;
}

void kiln::fuzz::fail(StringRef what, StringRef about) {
  llvm::errs() << what << ":\n" << about << "\n";
  std::abort();
}

static const Harness *chosen = nullptr;

/// Reads `--NAME=VALUE`; libFuzzer leaves what starts with two dashes alone.
static StringRef option(int argc, char **argv, StringRef name) {
  for (int i = 1; i < argc; ++i) {
    StringRef argument = argv[i];
    if (argument.consume_front("--") && argument.consume_front(name) && argument.consume_front("="))
      return argument;
  }
  return "";
}

extern "C" int LLVMFuzzerInitialize(int *argc, char ***argv) {
  StringRef name = option(*argc, *argv, "harness");
  for (const Harness &harness : kHarnesses)
    if (harness.name == name)
      chosen = &harness;
  if (chosen)
    return 0;
  llvm::errs() << "expected --harness= and one of";
  for (const Harness &harness : kHarnesses)
    llvm::errs() << " " << harness.name;
  llvm::errs() << "\n";
  std::_Exit(2);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  chosen->run(StringRef(reinterpret_cast<const char *>(data), size));
  return 0;
}

#ifndef KILN_LIBFUZZER

namespace {
/// Blind mutation: bytes and pieces changed, dropped, repeated, taken from elsewhere.
class Mutator {
public:
  Mutator(uint64_t seed, std::vector<std::string> corpus)
      : engine(seed), corpus(std::move(corpus)) {
    if (this->corpus.empty())
      this->corpus.emplace_back();
  }

  std::string next() {
    std::string input = pick(corpus);
    for (size_t times = 1 + below(4); times; --times)
      mutate(input);
    return input;
  }

private:
  size_t below(size_t limit) { return limit ? engine() % limit : 0; }
  const std::string &pick(const std::vector<std::string> &from) { return from[below(from.size())]; }

  void mutate(std::string &input) {
    size_t at = below(input.size() + 1),
           length = below(std::min<size_t>(16, input.size() - at) + 1);
    switch (below(7)) {
    case 0:
      input.erase(at, length);
      return;
    case 1:
      input.insert(at, input.substr(below(input.size() + 1), 1 + below(16)));
      return;
    case 2: {
      const std::string &other = pick(corpus);
      input.insert(at, other.substr(below(other.size() + 1), 1 + below(32)));
      return;
    }
    case 3:
      input.insert(at, 1, char(engine()));
      return;
    case 4:
      input.insert(at, std::to_string(int64_t(engine()) >> below(64)));
      return;
    case 5:
      if (at < input.size())
        input[at] ^= char(1 << below(8));
      return;
    case 6:
      if (at < input.size())
        input[at] = "\xff\x7f\x80\0\1<>[](){},=:?#!-0129"[below(26)];
      return;
    }
  }

  std::mt19937_64 engine;
  std::vector<std::string> corpus;
};
} // namespace

static std::vector<std::string> readCorpus(int argc, char **argv) {
  std::vector<std::string> corpus;
  auto add = [&](const llvm::Twine &path) {
    if (auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                                /*RequiresNullTerminator=*/false))
      corpus.push_back((*file)->getBuffer().str());
  };
  for (int i = 1; i < argc; ++i) {
    StringRef path = argv[i];
    if (path.starts_with("-"))
      continue;
    if (!llvm::sys::fs::is_directory(path)) {
      add(path);
      continue;
    }
    // In the order of their names, so that a seed draws the same each time.
    std::error_code error;
    std::vector<std::string> files;
    for (llvm::sys::fs::directory_iterator file(path, error), end; file != end && !error;
         file.increment(error))
      files.push_back(file->path());
    llvm::sort(files);
    llvm::for_each(files, add);
  }
  return corpus;
}

int main(int argc, char **argv) {
  using Clock = std::chrono::steady_clock;
  LLVMFuzzerInitialize(&argc, &argv);
  uint64_t seed = 0, most = 0;
  double seconds = 0;
  option(argc, argv, "seed").getAsInteger(10, seed);
  option(argc, argv, "runs").getAsInteger(10, most);
  option(argc, argv, "seconds").getAsDouble(seconds);
  std::string kept = option(argc, argv, "input-file").str();
  auto end = Clock::now() +
             std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  auto run = [&](StringRef input) {
    if (!kept.empty()) {
      std::error_code error;
      llvm::raw_fd_ostream(kept, error) << input;
    }
    chosen->run(input);
  };
  std::vector<std::string> corpus = readCorpus(argc, argv);
  llvm::for_each(corpus, run);
  uint64_t runs = corpus.size(), mutants = 0;
  for (Mutator mutator(seed, std::move(corpus)); most ? mutants < most : Clock::now() < end;
       ++mutants)
    run(mutator.next());
  llvm::outs() << runs + mutants << " runs\n";
  return 0;
}

#endif // KILN_LIBFUZZER
