// Which waits of the innermost loops could let one more access run on: the proof is made again with
// each that may be weaker.
#include "WaitCheck.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;
using namespace kiln::amdgcn;

/// A fence in front of a barrier waits for all accesses to LDS: there is no weaker one. For stores
/// it waits since others read global memory behind the barrier, which is not proven here. LLVM may
/// put loads of other memory between the two.
static bool isFence(const KernelCode &kernel, unsigned wait) {
  for (unsigned at = wait + 1; at < kernel.code.size(); ++at) {
    Kind kind = kernel.code[at].kind;
    if (kind == Kind::Barrier || kind == Kind::BarrierSignal)
      return true;
    if (!is_contained({Kind::Other, Kind::Matrix, Kind::Wait, Kind::LoadGlobal, Kind::LoadScalar},
                      kind))
      return false;
  }
  return false;
}

std::vector<WaitProblem> kiln::amdgcn::findStrongWaits(const KernelCode &kernel) {
  std::vector<WaitProblem> strong;
  // LLVM fills a run of registers that it had spilled part by part, and waits for all of it.
  if (auto spills = kernel.metadata.find("vgpr_spill_count");
      spills != kernel.metadata.end() && spills->second > 0)
    return strong;
  KernelCode weaker = kernel;
  // Waits do not decide who lags.
  const Lags lags = followLags(kernel);
  WaitCheck check(kernel, lags);
  check.run();
  for (const std::vector<unsigned> &loop : kernel.getInnerLoops())
    for (unsigned at : loop) {
      if (kernel.code[at].kind != Kind::Wait)
        continue;
      // Counters that one number stands for are weakened together.
      static constexpr std::pair<unsigned, StringLiteral> names[] = {
          {1u << unsigned(Counter::Load), "loads"},
          {1u << unsigned(Counter::Store), "stores"},
          {1u << unsigned(Counter::LDS), "LDS accesses"},
          {1u << unsigned(Counter::Scalar), "scalar loads"},
          {1u << unsigned(Counter::LDS) | 1u << unsigned(Counter::Scalar), "LDS accesses"}};
      bool together = !kernel.countsScalarsApart();
      for (auto [mask, name] : names) {
        bool isPair = (mask & (mask - 1)) != 0;
        if ((mask >> unsigned(Counter::LDS) & 1) && isFence(kernel, at))
          continue;
        bool ofPair =
            mask == 1u << unsigned(Counter::LDS) || mask == 1u << unsigned(Counter::Scalar);
        if ((isPair && !together) || (ofPair && together))
          continue;
        Instruction &wait = weaker.code[at];
        bool has = false;
        for (unsigned counter = 0; counter < kNumCounters; ++counter)
          if ((mask >> counter & 1) && wait.waits[counter]) {
            // The next weaker one must be a wait at all.
            ++*wait.waits[counter];
            has |= *wait.waits[counter] < kernel.getCounterLimit(Counter(counter)) &&
                   check.mayWait(at, counter) &&
                   !(check.mayWaitForStore(at, counter) && isFence(kernel, at));
          }
        if (has && WaitCheck(weaker, lags).run(/*onlyFirst=*/true).empty())
          strong.push_back(
              {at, formatv("expected a wait for fewer {0}: one more may be outstanding", name)});
        wait = kernel.code[at];
      }
    }
  return strong;
}
