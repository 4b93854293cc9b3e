// Accesses of which the proof of all paths cannot say whether they clash (WaitProblem::earlier),
// and whether waves have come to the later one in just the state of which it cannot.
//
// A wave is watched as the proof watches paths: what is outstanding of its own earlier accesses,
// which waits complete them, and how many barriers it has passed since, or looks behind an arrival
// that told of them. Where it comes to the later access like that, the clocks of the run say
// whether any bytes clash.
#ifndef KILN_LIB_TARGET_AMDGPU_ISA_REPLAY_DISPUTES_H
#define KILN_LIB_TARGET_AMDGPU_ISA_REPLAY_DISPUTES_H

#include "kiln/Target/AMDGPU/Waits.h"
#include <map>
#include <set>

namespace kiln::amdgcn {

class Disputes {
public:
  Disputes(const KernelCode &kernel, llvm::ArrayRef<WaitProblem> problems);
  bool areDecided() const { return open.empty(); }
  /// A run begins, and has come to its end: what was seen in it counts.
  void begin(unsigned waves);
  void end();
  /// A wave executes an instruction.
  void step(unsigned wave, unsigned at);
  /// What no run has decided.
  std::vector<WaitProblem> listOpen() const;

private:
  /// An earlier access of a wave.
  struct Access {
    uint64_t number = 0; ///< among those that its counter counts
    bool isDone = false, isTold = false;
    unsigned barriers = 0;
  };
  struct Watched {
    uint64_t issued[kNumCounters] = {};
    std::map<unsigned, Access> accesses;
  };
  using Pair = std::pair<unsigned, unsigned>;

  const KernelCode &kernel;
  const llvm::ArrayRef<WaitProblem> problems;
  unsigned neededBarriers = 1;
  std::set<unsigned> earlier;
  /// By the later access and the earlier one: whether that one is done.
  std::map<Pair, bool> open;
  std::set<Pair> seen;
  std::vector<Watched> waves;
};

} // namespace kiln::amdgcn

#endif // KILN_LIB_TARGET_AMDGPU_ISA_REPLAY_DISPUTES_H
