// The instructions of the kernels of a PTX text, by lines.
#ifndef KILN_LIB_TARGET_NVPTX_TEXT_CODE_H
#define KILN_LIB_TARGET_NVPTX_TEXT_CODE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <vector>

namespace kiln::nvptx {

inline constexpr int64_t kLanes = 32;

/// A register, a number, or bytes behind where shared memory begins.
struct Operand {
  llvm::StringRef text;
  std::optional<unsigned> reg;
  std::optional<int64_t> number; ///< behind the register or the symbol, if there is one
  bool isShared = false;
  /// In brackets: of a place in memory.
  bool isPlace = false;
  /// Of a register that is read: the line that has set it, where no other can have.
  std::optional<unsigned> setBy = std::nullopt;
};

struct Line {
  unsigned number;
  llvm::StringRef mnemonic;
  llvm::SmallVector<Operand, 4> operands;
  /// Of what is done if a predicate holds, or if it does not.
  std::optional<unsigned> guard;
  bool isNegated = false;
  /// Where it branches to, if anywhere.
  std::optional<unsigned> target;

  bool is(llvm::StringRef prefix) const { return mnemonic.starts_with(prefix); }
  /// The first place in memory that it names.
  const Operand *getPlace() const;
  bool isBranch() const { return is("bra"); }
  /// What it sets: what stands first, up to a place in memory; of most instructions one register.
  llvm::ArrayRef<Operand> getResults() const;
  /// Whether what follows is not come to from here, but for a guard.
  bool ends() const { return isBranch() || is("ret") || is("exit") || is("trap"); }
};

struct Kernel {
  llvm::StringRef name;
  unsigned line = 0;
  std::vector<Line> code;
  unsigned registers = 0;
  /// How many threads a block has; zero if the text does not say it.
  int64_t threads = 0;
};

std::vector<Kernel> readKernels(llvm::StringRef text);

/// Whether it is a barrier by a number of so many threads, or of all of the block's.
bool isBarrier(const Line &line);

} // namespace kiln::nvptx

#endif // KILN_LIB_TARGET_NVPTX_TEXT_CODE_H
