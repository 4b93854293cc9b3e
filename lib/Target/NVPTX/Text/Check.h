// A kernel of a PTX text, what it declares, and what the warps of each role come to.
#ifndef KILN_LIB_TARGET_NVPTX_TEXT_CHECK_H
#define KILN_LIB_TARGET_NVPTX_TEXT_CHECK_H

#include "Paths.h"
#include "kiln/Support/Protocol.h"
#include "kiln/Target/NVPTX/Declared.h"
#include "llvm/ADT/Twine.h"
#include <map>
#include <set>

namespace kiln::nvptx {

/// The warps of a role.
struct Warps {
  const Protocol::Role *role;
  Paths paths;
  std::vector<Paths> copies; ///< of a role whose copies lag
};

class Check {
public:
  Check(const Kernel &kernel, const Protocol &protocol);
  std::vector<TextProblem> run();

private:
  void fail(unsigned line, const llvm::Twine &text) {
    problems.push_back({line, kernel.name.str(), text.str()});
  }
  bool isReached(unsigned line) const;
  void checkWarps();
  void checkInits();
  void checkBarriers();
  void checkRegisters();
  void checkFences();
  void checkLags();
  void checkLag(const Warps &warps);

  void checkCounters(); // Counters.cpp
  // Rings.cpp
  void checkRings();
  void checkBytes(const Protocol::Ring &ring, const Known &barrier, size_t buffers, int64_t bytes);

  const Kernel &kernel;
  const Protocol &protocol;
  std::vector<Warps> roles;
  std::vector<TextProblem> problems;
};

} // namespace kiln::nvptx

#endif // KILN_LIB_TARGET_NVPTX_TEXT_CHECK_H
