// Where in LDS the waves of a block were found when the final code was run with numbers (Replay.h).
#ifndef KILN_TARGET_AMDGPU_TOUCHED_H
#define KILN_TARGET_AMDGPU_TOUCHED_H

#include "llvm/ADT/BitVector.h"
#include <cstdint>
#include <map>

namespace kiln::amdgcn {

struct Touched {
  enum class Use { Read, Write, Copy };
  /// An instruction: the first and the last byte that it touched, and which waves came to it.
  struct Access {
    Use use;
    unsigned first = UINT32_MAX, last = 0;
    llvm::BitVector waves;
  };
  std::map<unsigned, Access> accesses;
  /// The bytes that are touched in each way.
  llvm::BitVector bytes[3];
  /// By word of LDS, which waves count arrivals there, and which look at it.
  std::map<unsigned, llvm::BitVector> arrivals, looks;
  /// By word, up to where an arrival counts; zero if arrivals do not agree.
  std::map<unsigned, uint32_t> bounds;

  bool isAny() const { return !accesses.empty(); }
  void access(unsigned at, unsigned wave, Use use, unsigned first, unsigned count);
  void arrive(unsigned wave, unsigned word, uint32_t bound);
  void look(unsigned wave, unsigned word) { note(looks[word], wave); }

private:
  static void note(llvm::BitVector &waves, unsigned wave);
};

} // namespace kiln::amdgcn

#endif // KILN_TARGET_AMDGPU_TOUCHED_H
