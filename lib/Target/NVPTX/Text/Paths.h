// What the threads of some warps come to in a kernel, and what their registers may hold there.
#ifndef KILN_LIB_TARGET_NVPTX_TEXT_PATHS_H
#define KILN_LIB_TARGET_NVPTX_TEXT_PATHS_H

#include "Code.h"
#include "Numbers.h"
#include "llvm/ADT/BitVector.h"

namespace kiln::nvptx {

class Paths {
public:
  /// Of so many threads from one on. If these are no whole warps, of what they take from other
  /// lanes is known what is of `all`, to whom they belong.
  Paths(const Kernel &kernel, int64_t firstThread, int64_t threads, const Paths *all = nullptr);

  bool comesTo(unsigned line) const { return reached.test(line); }
  /// Whatever an operand holds, wherever its register is set, unless one line alone can have set
  /// it.
  Known get(const Operand &operand) const;
  /// The bytes of shared memory that a place is; none if it is not known, or of other memory.
  Known getPlace(const Line &line) const;

  /// Of a register, or of what a line sets: nothing yet, what is known, or that it may be anything.
  struct Value {
    bool isSet = false;
    Known known;
    unsigned changes = 0;
  };

private:
  /// That a register holds less than it may.
  struct Assumption {
    unsigned reg;
    Known known;
  };

  void findUses();
  void run();
  Numbers getLanes() const;
  void reach(unsigned line);
  void step(unsigned line);
  void set(unsigned at, const Operand &result, const Known &known);
  bool isReady(const Line &line) const;
  std::optional<bool> holds(const Line &line) const;
  Known compute(const Line &line) const;
  Known select(const Line &line) const;
  Known compareOperands(const Line &line) const;
  const Line *findComparison(unsigned predicate) const;
  Known getIf(const Operand &operand, unsigned predicate, bool isSo) const;

  const Kernel &kernel;
  const int64_t firstThread, threads;
  const Paths *all;
  std::vector<Value> values, made; ///< by registers, and by lines
  std::vector<llvm::SmallVector<unsigned, 2>> uses, definitions;
  llvm::BitVector reached;
  mutable std::optional<Assumption> assumed; ///< while a line is computed by it
  std::vector<unsigned> work;
};

} // namespace kiln::nvptx

#endif // KILN_LIB_TARGET_NVPTX_TEXT_PATHS_H
