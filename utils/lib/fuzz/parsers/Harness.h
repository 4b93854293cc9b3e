// What a fuzzer of a parser is: a function that must survive any bytes. One program holds them all.
#ifndef KILN_UTILS_LIB_FUZZ_PARSERS_HARNESS_H
#define KILN_UTILS_LIB_FUZZ_PARSERS_HARNESS_H

#include "llvm/ADT/StringRef.h"

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace kiln::fuzz {

void fuzzText(llvm::StringRef data);
void fuzzSyntax(llvm::StringRef data);
void fuzzLayout(llvm::StringRef data);
void fuzzTarget(llvm::StringRef data);
void fuzzArtifact(llvm::StringRef data);
void fuzzCache(llvm::StringRef data);
void fuzzRequest(llvm::StringRef data);
void fuzzLaunch(llvm::StringRef data);
void fuzzFrames(llvm::StringRef data);

struct Harness {
  llvm::StringRef name;
  void (*run)(llvm::StringRef data);
};
inline constexpr Harness kHarnesses[] = {
    {"text", fuzzText},       {"syntax", fuzzSyntax},     {"layout", fuzzLayout},
    {"target", fuzzTarget},   {"artifact", fuzzArtifact}, {"cache", fuzzCache},
    {"request", fuzzRequest}, {"launch", fuzzLaunch},     {"frames", fuzzFrames},
};

/// All dialects, registered once.
const mlir::DialectRegistry &getRegistry();

/// Ends the process, which is how a fuzzer is told of a finding.
[[noreturn]] void fail(llvm::StringRef what, llvm::StringRef about);

/// Takes pieces off the front of an input; whatever it asks for, it gets.
class Pieces {
public:
  explicit Pieces(llvm::StringRef rest) : rest(rest) {}
  uint8_t byte() {
    if (rest.empty())
      return 0;
    uint8_t value = rest.front();
    rest = rest.drop_front();
    return value;
  }
  int64_t number() {
    uint64_t value = 0;
    for (unsigned size = byte() % 9; size; --size)
      value = value << 8 | byte();
    return static_cast<int64_t>(value);
  }
  /// Up to the next zero byte.
  llvm::StringRef word() {
    auto [first, second] = rest.split('\0');
    rest = second;
    return first;
  }
  bool empty() const { return rest.empty(); }
  llvm::StringRef rest;
};

} // namespace kiln::fuzz

#endif // KILN_UTILS_LIB_FUZZ_PARSERS_HARNESS_H
