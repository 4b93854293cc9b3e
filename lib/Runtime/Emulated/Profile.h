// What a launch on an emulated chip does, by the places of its program: instructions, how shared
// and global memory serve what the lanes of a warp ask for, and waits.
//
// Lanes run one after another; those of a warp that come to a site for the same time since the warp
// last waited count as one instruction, as on a chip whose warps go in step. Time is counted in
// steps (analysis::HappensBefore): each access, instruction and trip of a loop of a thread is one,
// and who waits goes on at the time of whom it waited for.
#ifndef KILN_LIB_RUNTIME_EMULATED_PROFILE_H
#define KILN_LIB_RUNTIME_EMULATED_PROFILE_H

#include "Reports.h"
#include "llvm/Support/JSON.h"
#include <array>
#include <map>
#include <vector>

namespace kiln::emulated {

class Profile {
public:
  /// How shared memory serves lanes, as `kiln::SharedPhase` of include/kiln/Target/Chip.h has it:
  /// by whether they ask for at most 4 bytes, for 8 or for 16.
  struct Phase {
    unsigned banks = 32;
    std::vector<unsigned> lanes = {};
  };
  using Phases = std::array<Phase, 3>;
  Profile(unsigned sites, unsigned warpSize, Phases reads, Phases writes)
      : warpSize(warpSize), phases{std::move(reads), std::move(writes)}, sites(sites),
        lanes(warpSize, std::vector<Count>(sites)), most(sites) {}

  /// A cluster begins, of so many threads. Only of the first one is kept when it does what.
  void begin(analysis::HappensBefore &order, unsigned threads);
  /// It goes on, if others run beside it; and it has ended.
  void enter(analysis::HappensBefore &order);
  void end(const analysis::HappensBefore &order);
  /// A thread takes a step.
  void step(analysis::Agent thread, uint32_t site);
  /// It accesses memory; the kinds are those of lib/Target/Emulated/LowerToHost.h.
  void access(analysis::Agent thread, uint32_t site, uint64_t address, int64_t bytes, int kind);
  /// An engine is told to move bytes of shared memory.
  void move(uint32_t site, int64_t bytes) { sites[site].bytes += bytes; }
  /// A warp waits, or has ended.
  void endTurn();

  llvm::json::Object describe(const Names &names) const;

private:
  struct Site {
    uint64_t warps = 0, lanes = 0, bytes = 0, cycles = 0, fewest = 0, sectors = 0, waits = 0,
             waited = 0;
    int kind = 0; ///< of its accesses to memory
  };
  struct Access {
    uint32_t site, lane, number;
    uint64_t address;
    int64_t bytes;
    int kind;
  };
  /// How often something happened since the warp that runs began to.
  struct Count {
    uint64_t turn = 0;
    uint32_t number = 0;
  };
  uint32_t increase(Count &count) const;
  /// Where a thread is, and what it did when.
  struct Thread {
    uint32_t site = 0, steps = 0;
    uint64_t last = 0;
    struct Span {
      uint64_t first, last;
      uint32_t site;
      bool waits;
    };
    std::vector<Span> spans;
  };
  void putTogether();
  void countShared(Site &site, llvm::ArrayRef<Access> lanes);
  void countSectors(Site &site, llvm::ArrayRef<Access> lanes);
  void keep(Thread &thread, const Thread::Span &span);

  const unsigned warpSize;
  const Phases phases[2];
  std::vector<Site> sites;
  std::vector<Access> accesses;
  uint64_t turn = 1;
  std::vector<std::vector<Count>> lanes; ///< of the warp that runs; by site
  std::vector<Count> most;               ///< of all of them
  unsigned programs = 0, threadCount = 0;
  uint64_t total = 0;
  /// Clusters that have begun, the one that runs, and the threads of the first once it has ended.
  struct Cluster {
    std::vector<Thread> threads;
    bool isFirst = false;
  };
  std::map<const analysis::HappensBefore *, Cluster> begun;
  analysis::HappensBefore *order = nullptr;
  Cluster *running = nullptr;
  std::vector<Thread> first;
  uint64_t kept = 0;
};

} // namespace kiln::emulated

#endif // KILN_LIB_RUNTIME_EMULATED_PROFILE_H
