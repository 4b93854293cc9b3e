// The waves of one block run by the final code, with numbers, and what they do in LDS is ordered by
// what they tell one another.
//
// The proof of Waits.h is of all paths and knows words of LDS that count arrivals by their kind
// alone. Here each wave has registers that hold numbers, so each arrival, look, barrier and access
// is at its very place, rings go round, and an access that nothing orders with an earlier one of
// the same bytes is found by the clocks of kiln/Analysis/HappensBefore.h. So are waves that all
// wait for one another. The price is that it is so for these numbers alone: arguments that are
// numbers are drawn, by several sets, small enough that loops end and large enough that rings go
// round more than twice.
//
// Integer instructions are computed. What others give, and what memory holds, has a name, a hash of
// what it is made of, from which a word is drawn: the same in each wave that makes it of the same.
// So every branch is decided, and waves that agree on a chip agree here. Data may say where in LDS
// and which way; a place or a branch that follows from an integer instruction that is not known is
// an error. What data say of places is drawn, so they are not sure to differ from lane to lane.
#ifndef KILN_TARGET_AMDGPU_REPLAY_H
#define KILN_TARGET_AMDGPU_REPLAY_H

#include "kiln/Target/AMDGPU/Touched.h"
#include "kiln/Target/AMDGPU/Waits.h"

namespace kiln::amdgcn {

struct ReplayResult {
  /// The first thing that is wrong, if anything is.
  std::vector<WaitProblem> problems;
  /// Runs of the block, and those that were cut short, for they took too long.
  unsigned runs = 0, cutShort = 0;
  /// Instructions that waves executed; and of the kernel's that touch LDS, or meet others, those
  /// that no wave came to.
  uint64_t steps = 0, missed = 0;
  /// Of what was disputed, what no run has decided.
  std::vector<WaitProblem> undecided;
  /// Of a kernel that declares rings or counters, where waves were found in LDS.
  Touched touched;
};

/// The kernel must be free of problems of other checks, but for those that are disputed: accesses
/// whose places in LDS may be the same (WaitProblem::earlier), as far as intervals of bytes tell.
/// They are decided if nothing is wrong in any run, and in one that came to its end a wave has come
/// to the later one as the proof says that it may: with the earlier one not done, or no barrier
/// passed since.
ReplayResult replay(const KernelCode &kernel, llvm::ArrayRef<WaitProblem> disputed = {});

} // namespace kiln::amdgcn

#endif // KILN_TARGET_AMDGPU_REPLAY_H
