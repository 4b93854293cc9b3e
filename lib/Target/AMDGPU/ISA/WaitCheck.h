// The proof of Waits.h over one kernel, and what it leaves behind for whoever asks which waits are
// stronger than needed.
#ifndef KILN_LIB_TARGET_AMDGPU_ISA_WAITCHECK_H
#define KILN_LIB_TARGET_AMDGPU_ISA_WAITCHECK_H

#include "Lags.h"

namespace kiln::amdgcn {

/// An access to LDS that others may still have to know of.
struct LDSAccess {
  bool reads, writes, isAtomic;
  Range place;
  /// Its own wave knows that it is done; others know after so many barriers: all waves, and those
  /// that lag behind it by none.
  bool done;
  unsigned barriers = 0, barriersOfGroup = 0;
  /// By an arrival at a barrier in LDS, since it was done.
  bool told = false;
  bool operator==(const LDSAccess &other) const {
    return place == other.place && done == other.done && barriers == other.barriers &&
           barriersOfGroup == other.barriersOfGroup && told == other.told;
  }
};

/// What holds before an instruction, whichever way it was reached.
struct WaitState {
  /// By counter and instruction: how many of the counter's kind were issued since, at the least.
  std::map<unsigned, unsigned> ages[kNumCounters];
  std::map<unsigned, LDSAccess> lds;
  Ranges ranges;
  /// Between the halves of a split barrier, on some way and on all.
  bool signalled = false, surelySignalled = false;
  bool reached = false;
};

class WaitCheck {
public:
  WaitCheck(const KernelCode &kernel, const Lags &lags)
      : kernel(kernel), lags(lags), waveSize(kernel.getWaveSize()) {
    before.resize(kernel.code.size() + 1);
  }

  /// One problem an instruction; some of them, if it is asked whether there is any.
  std::vector<WaitProblem> run(bool onlyFirst = false);
  /// Whether anything may be outstanding of what a wait counts.
  bool mayWait(unsigned at, unsigned counter) const { return waited.count({at, counter}); }
  /// Whether a store may be among what a weaker wait leaves outstanding.
  bool mayWaitForStore(unsigned at, unsigned counter) const {
    return waitedStores.count({at, counter});
  }

private:
  void meet(WaitState &state, bool ifTold = false) const;
  void issue(WaitState &state, unsigned at) const;
  void complete(WaitState &state, unsigned at, Counter counter, unsigned upTo) const;
  std::optional<LDSAccess> getLDSAccess(const Instruction &instruction,
                                        const WaitState &state) const;
  bool mayClash(unsigned other, const LDSAccess &earlier, unsigned at,
                const LDSAccess &access) const;
  std::string findProblem(const WaitState &state, unsigned at) const;
  std::string findProblemOfFunction(const WaitState &state, unsigned at) const;
  std::string findConflicts(const WaitState &state, unsigned at,
                            std::map<unsigned, bool> &conflicting) const;
  void find(const WaitState &state, unsigned at);
  void noteWait(const WaitState &state, unsigned at);
  std::optional<unsigned> follow(unsigned at, WaitState &state);
  bool join(WaitState &into, const WaitState &from, bool widen) const;

  const KernelCode &kernel;
  const Lags &lags;
  const unsigned waveSize;
  const std::vector<uint64_t> bounds = findBounds(kernel);
  std::vector<WaitState> before;
  std::set<std::pair<unsigned, unsigned>> waited, waitedStores;
  /// By instruction; and the earlier accesses that it clashes with, and whether these are surely
  /// done, while nothing else is wrong.
  std::map<unsigned, std::string> problems;
  std::map<unsigned, std::map<unsigned, bool>> conflicts;
};

} // namespace kiln::amdgcn

#endif // KILN_LIB_TARGET_AMDGPU_ISA_WAITCHECK_H
