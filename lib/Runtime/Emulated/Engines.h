// What runs beside the threads of an emulated block: barriers in shared memory that count arrivals
// and bytes, barriers of some of the threads, and the engine that copies boxes of a tensor.
//
// Only what one tells another orders accesses: an arrival, a box that has landed, a barrier
// (kiln/Analysis/HappensBefore.h). A box that is loaded lands when a thread waits for its barrier;
// until then nobody may touch its place. A box that is stored is read when the thread that stores
// it waits; a program that ends before is an error. So who waits too late, or not at all, gets an
// error or other numbers.
#ifndef KILN_LIB_RUNTIME_EMULATED_ENGINES_H
#define KILN_LIB_RUNTIME_EMULATED_ENGINES_H

#include "GlobalMemory.h"
#include "SharedMemory.h"
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace kiln::emulated {

/// What the engine knows of an argument, dimensions from the innermost on, as its instructions name
/// them. The bits of an address from 128 bytes on permute those from 16 bytes on, as far as
/// `swizzle` bytes reach.
struct TensorMap {
  uint64_t address = 0;
  unsigned rank = 0, elementBytes = 0, swizzle = 0;
  int64_t extents[5] = {}, strides[5] = {}; ///< elements; bytes
  int64_t box[5] = {};
};

/// How far an arrival tells, or a wait hears.
enum class Reach { Block, Cluster };

class Engines {
public:
  explicit Engines(SharedMemory &shared) : shared(shared) {}
  /// Of a run, whose boxes lie in global memory.
  void reset(GlobalMemory &global, analysis::Run run);
  /// Those of all blocks of the cluster, and which of them this is.
  void join(std::vector<Engines *> all, unsigned own);

  // Each gives what is wrong, or nothing.
  std::string initBarrier(unsigned thread, uint64_t address, uint32_t arrivals);
  /// Other programs and engines find the barriers that a thread has initialised, who hear of it
  /// from here on.
  void fenceBarriers(unsigned thread);
  /// A thread, at any barrier of the cluster. Of a block's own scope it tells other blocks only
  /// that it has read, and so does a wait of that scope hear them.
  std::string arrive(unsigned thread, uint64_t address, int64_t bytes,
                     Reach reach = Reach::Cluster);
  /// An engine that has ended what a queue was given up to a tick.
  std::string arriveAfter(unsigned thread, analysis::Agent queue, analysis::Tick tick,
                          uint64_t address);
  /// What a queue was given up to a tick has ended, which a barrier that counts no arrival tells.
  std::string tell(unsigned thread, analysis::Agent queue, analysis::Tick tick, uint64_t address);
  /// The same address in another block.
  std::string mapTo(unsigned block, uint64_t &address) const;
  /// A thread that waits for a barrier uses it.
  std::string use(unsigned thread, uint64_t address);
  /// Lands what the barrier waits for; whether a phase of this parity has ended.
  bool poll(uint64_t address, uint32_t parity);
  /// A thread that has seen a phase end knows what was done before.
  void hear(unsigned thread, uint64_t address, Reach reach = Reach::Cluster);
  /// In front of an arrival at a barrier that is a word, which counts round up to this.
  void arriveAtWord(unsigned thread, uint64_t address, uint32_t last);
  /// A thread looks at a word, which may be a barrier.
  void lookAtWord(unsigned thread, uint64_t address);
  /// A phase that is waited for, and what is missing to its end, as far as it is known.
  std::string describe(uint64_t barrier) const;
  uint64_t countEndedWords() const { return endedWords; }
  std::string startLoad(unsigned thread, uint64_t to, uint64_t barrier, const TensorMap &map,
                        const int32_t *place);
  /// Into each block of the cluster whose bit is set.
  std::string startLoads(unsigned thread, uint64_t to, uint64_t barrier, const TensorMap &map,
                         const int32_t *place, uint32_t mask);
  /// Where a pair's blocks multiply together: the barrier may be that of the other one, and of each
  /// block's pair the same one counts.
  std::string startLoadsOfPairs(unsigned thread, uint64_t to, uint64_t barrier,
                                const TensorMap &map, const int32_t *place, uint32_t mask);
  std::string startStore(unsigned thread, uint64_t from, const TensorMap &map,
                         const int32_t *place);
  void commitStores(unsigned thread);
  /// Until all but so many groups have been read, or written as well.
  void waitStores(unsigned thread, unsigned inFlight, bool areReadAlone = false);
  std::string finish();
  /// The block's threads have ended: nobody may reach it any more.
  void close() { isClosed = true; }

  unsigned getNumber() const { return number; }
  analysis::HappensBefore &order() const { return shared.order(); }
  const Names &getNames() const { return shared.getNames(); }
  analysis::Agent agentOf(unsigned thread) const { return shared.agentOf(thread); }

  /// A round of a barrier of some threads, who may go on once it has ended.
  struct Round {
    unsigned expected = 0, waiting = 0;
    bool hasEnded = false;
    std::vector<analysis::Event> comers;
    analysis::HappensBefore::Place place;
  };
  /// What is wrong with coming to a barrier of so many threads, which others may be at, or nothing.
  std::string checkComing(unsigned thread, int barrier, unsigned threads) const;
  /// Comes to it: the round that must end before the thread goes on.
  std::shared_ptr<Round> come(unsigned thread, int barrier, unsigned threads);
  /// It goes on.
  void leave(unsigned thread, Round &round);

private:
  struct Box {
    Engines *owner; ///< of the memory that it goes to, or comes from
    uint64_t shared;
    TensorMap map;
    int32_t place[5];
  };
  struct Barrier {
    uint32_t arrivals = 0, pending = 0;
    int64_t bytes = 0;
    uint64_t phase = 0;
    std::vector<Box> boxes;
    analysis::Agent queue = 0; ///< of what lands here
    /// What was told so far, and up to the end of the last phase; in a cluster also what hears who
    /// hears of other blocks only what they have read.
    analysis::HappensBefore::Place open, ended, openOwn, endedOwn;
    bool isWatched = false; ///< where it is initialised
    Access initialised;
    /// From where on others than the block's threads find it.
    std::optional<analysis::Event> published;
    bool isPublishedByWatched = false;
  };
  struct Stores {
    /// Of what it reads of shared memory, and of what it writes.
    analysis::Agent queue = 0, writes = 0;
    std::vector<Box> open;
    using Groups = std::deque<std::pair<analysis::Tick, std::vector<Box>>>;
    Groups committed, read;
  };
  /// Uses a barrier of this block.
  std::string use(analysis::Agent by, const analysis::Event &event, uint64_t address,
                  Barrier *&barrier);
  /// That of any block of the cluster, which must not have ended, and its block.
  std::string useOpen(analysis::Agent by, const analysis::Event &event, uint64_t address,
                      Barrier *&barrier, Engines *&owner);
  std::string count(Barrier &barrier, int64_t bytes);
  std::string checkPublished(analysis::Agent by, const analysis::Event &event, uint64_t address,
                             const Barrier &barrier) const;
  /// An engine's work tells all who wait for a barrier.
  void end(Barrier &barrier, analysis::Agent queue, analysis::Tick tick) const;
  void end(Barrier &barrier);
  static void land(const Box &box);
  std::string accept(analysis::Agent by, uint64_t to, Engines &counting, uint64_t barrier,
                     const TensorMap &map, const int32_t *place);
  Stores &storesOf(unsigned thread);
  static void store(const Box &box);
  /// An agent begins to move a box from or to global memory.
  std::string reach(analysis::Agent by, const analysis::Event &event, const Box &box, bool isStore);

  SharedMemory &shared;
  GlobalMemory *global = nullptr;
  analysis::Run run = 0;
  std::vector<Engines *> cluster = {this};
  unsigned number = 0;
  bool isClosed = false;
  /// Phases of barriers that are words.
  uint64_t endedWords = 0;
  std::map<uint64_t, analysis::HappensBefore::Place> words;
  std::map<uint64_t, Barrier> barriers;
  /// Of barriers of some threads: those that have not ended, and the last that has.
  std::map<int, std::shared_ptr<Round>> rounds, lastRounds;
  std::map<unsigned, Stores> stores;
};

/// Where the byte of an address lies once rows are permuted.
inline uint64_t placeOf(uint64_t address, unsigned span) {
  uint64_t rows = span < 32 ? 0 : span / 16 - 1;
  return address ^ ((address >> 7 & rows) << 4);
}

} // namespace kiln::emulated

#endif // KILN_LIB_RUNTIME_EMULATED_ENGINES_H
