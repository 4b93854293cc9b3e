// What of the accesses to LDS of a block's waves is ordered with what, by the clocks of
// kiln/Analysis/HappensBefore.h.
//
// Of each wave there are two threads and a queue: the wave itself, which waits and meets others;
// its accesses to LDS, which are done in order, so that they are a thread, too; and loads that go
// to LDS past the registers, which land when they are waited for. An access stands behind what its
// wave knew when it was issued. A wait for a counter tells the wave of all accesses that the
// counter counts but the newest. Places are barriers, and the words of LDS that count arrivals.
#ifndef KILN_LIB_TARGET_AMDGPU_ISA_REPLAY_ORDER_H
#define KILN_LIB_TARGET_AMDGPU_ISA_REPLAY_ORDER_H

#include "kiln/Analysis/AccessHistory.h"
#include "kiln/Target/AMDGPU/ISA.h"
#include <deque>
#include <map>
#include <string>

namespace kiln::amdgcn {

/// So many cells of LDS from one on.
struct Cells {
  size_t first = 0, count = 0;
};

class Order {
public:
  enum class Use { Read, Write, Update };

  Order(const KernelCode &kernel, unsigned waves, size_t cells, unsigned cellBytes);

  /// A wave issues an instruction that counters count, which may touch LDS. What it clashes with is
  /// an error. Of what is written, `isSame` says by cell whether just that is there already.
  std::string issue(unsigned wave, unsigned at, llvm::ArrayRef<Cells> cells = {},
                    Use use = Use::Read, const bool *isSame = nullptr);
  void wait(unsigned wave, Counter counter, unsigned count);
  void arrive(unsigned wave, unsigned word) { order.release(wave, words[word]); }
  void look(unsigned wave, unsigned word) { order.acquire(wave, words[word]); }
  /// The barrier's phases count from zero.
  void signal(unsigned wave, uint64_t phase);
  void pass(unsigned wave, uint64_t phase) { order.acquire(wave, phases[phase]); }

private:
  using Agent = analysis::Agent;
  Agent getAccesses(unsigned wave) const { return waves + wave; }
  Agent getLoads(unsigned wave) const { return 2 * waves + wave; }
  std::string blame(unsigned wave, unsigned at, Use use, const analysis::Clash &clash) const;

  const KernelCode &kernel;
  const unsigned waves, cellBytes;
  analysis::HappensBefore order;
  analysis::AccessHistory history;
  /// By agent and tick, the instruction.
  std::vector<std::vector<unsigned>> accesses;
  /// Of a counter of a wave: how many were issued, and which of them are accesses to LDS that are
  /// not waited for: what tells of them, or up to which tick of the queue they are done.
  struct Outstanding {
    uint64_t number;
    analysis::HappensBefore::Place place;
    analysis::Tick tick = 0;
  };
  struct Counted {
    uint64_t issued = 0;
    std::deque<Outstanding> outstanding;
  };
  std::vector<std::array<Counted, kNumCounters>> counted;
  std::map<unsigned, analysis::HappensBefore::Place> words;
  std::map<uint64_t, analysis::HappensBefore::Place> phases;
};

} // namespace kiln::amdgcn

#endif // KILN_LIB_TARGET_AMDGPU_ISA_REPLAY_ORDER_H
