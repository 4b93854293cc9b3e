// What runs beside the threads of an emulated block: barriers in shared memory that count arrivals
// and bytes, barriers of some of the threads, and the engine that copies boxes of a tensor.
//
// The blocks of a cluster run side by side. What one knows of another's shared memory is what it
// was told by arrivals at its own barriers, or by the barrier of the cluster: a box that goes to
// another block must not come while somebody may still read there.
//
// A box that was asked for lands only when a thread waits for its barrier; until then its place may
// not be touched. A box that is stored is read only when the thread that stores it waits, or at the
// program's end. So who waits too late, or not at all, gets an error or other numbers.
#ifndef KILN_LIB_RUNTIME_EMULATED_ENGINES_H
#define KILN_LIB_RUNTIME_EMULATED_ENGINES_H

#include "SharedMemory.h"
#include <cstdint>
#include <deque>
#include <map>
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

class Engines {
public:
  explicit Engines(SharedMemory &shared) : shared(shared) {}
  void reset();
  /// Those of all blocks of the cluster, and which of them this is.
  void join(std::vector<Engines *> all, unsigned own);

  // Each gives what is wrong, or nothing.
  std::string initBarrier(uint64_t address, uint32_t arrivals);
  /// At any barrier of the cluster; what is told of may be another block's doing, too.
  std::string arrive(uint64_t address, int64_t bytes, const Engines *mate = nullptr);
  /// The same address in another block.
  std::string mapTo(unsigned block, uint64_t &address) const;
  /// Lands what the barrier waits for; whether a phase of this parity has ended.
  std::string poll(uint64_t address, uint32_t parity, bool &hasEnded);
  /// In front of an arrival at a barrier that is a word, which counts round up to this.
  void arriveAtWord(uint64_t address, uint32_t last);
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
  std::string waitStores(unsigned thread, unsigned inFlight);
  std::string finish();
  /// The block's threads have ended: nobody may reach it any more.
  void close() { isClosed = true; }

  unsigned getNumber() const { return number; }

  /// All threads of the cluster have come to its barrier: all that was done is known to all.
  void meetCluster();

  /// Comes to a barrier of so many threads: the round that must end before the thread goes on.
  uint64_t come(int barrier, unsigned threads);
  bool hasEnded(int barrier, uint64_t round) const { return groups.at(barrier).round != round; }

private:
  struct Box {
    unsigned thread;
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
    /// Blocks that have arrived in this phase, and at which of their epochs.
    std::map<unsigned, uint32_t> told;
  };
  struct Group {
    unsigned waiting = 0;
    uint64_t round = 0;
  };
  struct Stores {
    std::vector<Box> open;
    std::deque<std::vector<Box>> committed;
  };
  std::string find(uint64_t address, Barrier *&barrier);
  void end(Barrier &barrier);
  std::string land(const Box &box);
  std::string accept(unsigned thread, uint64_t to, Engines &counting, uint64_t barrier,
                     const TensorMap &map, const int32_t *place, const Engines &from);
  std::string store(const Box &box);

  SharedMemory &shared;
  std::vector<Engines *> cluster = {this};
  unsigned number = 0;
  bool isClosed = false;
  /// Phases of barriers that are words.
  uint64_t endedWords = 0;
  /// By block, up to which of its epochs this one knows what was done there.
  std::vector<uint32_t> known = {0};
  std::map<uint64_t, Barrier> barriers;
  std::map<int, Group> groups;
  std::map<unsigned, Stores> stores;
};

/// Where the byte of an address lies once rows are permuted.
inline uint64_t placeOf(uint64_t address, unsigned span) {
  uint64_t rows = span < 32 ? 0 : span / 16 - 1;
  return address ^ ((address >> 7 & rows) << 4);
}

} // namespace kiln::emulated

#endif // KILN_LIB_RUNTIME_EMULATED_ENGINES_H
