// What the programs of a grid tell one another by words in global memory.
//
// The threads of a cluster have an order of their own (HappensBefore.h), a run, and know of one
// another what it says. Of other runs a thread knows what it has heard: releases, which threads
// make to a word by an atomic access, or by a fence in front of one, and who acquires from the
// word, or looks at it in front of a fence, hears of. A release tells what its thread knew. Words,
// releases and fences have a scope, and only those tell one another of whom each is in the other's.
//
// Clocks of what was heard are by threads that release, in releases: for each what was heard, and
// up to where engines find what it tells of, which a fence of the proxy raises to that. Of each run
// some threads have numbers of their own; all others share one, and count as knowing of one
// another.
#ifndef KILN_ANALYSIS_GRIDORDER_H
#define KILN_ANALYSIS_GRIDORDER_H

#include "kiln/Analysis/HappensBefore.h"
#include <unordered_map>

namespace kiln::analysis {

using Run = uint32_t;
/// Whom a release reaches.
enum class Scope : uint8_t { Thread, Block, Cluster, Grid };

/// What an agent of a run did, or was given by a thread; at a site of the program, for reports.
struct GridEvent {
  Run run = 0;
  Event event;
  Agent by = 0;
  uint32_t site = 0;
  bool isAtomic = false;
};

class GridOrder {
public:
  /// Where barriers are bare, what a thread has written is there for others once it has waited for
  /// it, by a fence or otherwise. A fence for a block may not wait: what was written is there then
  /// for the block alone, none of whose threads can tell others of it.
  explicit GridOrder(bool isBare = false, bool blockFencesWait = true)
      : isBare(isBare), blockFencesWait(blockFencesWait) {}
  /// A run begins, of blocks of so many threads that follow one another; it has ended.
  Run begin(std::shared_ptr<HappensBefore> order, unsigned threadsOfBlock);
  void end(Run run);
  HappensBefore &orderOf(Run run) const { return *runs[run].order; }

  /// A thread reads a word by an atomic access; and writes it, as one with that or alone.
  void look(Run run, Agent thread, uint64_t word, bool acquires, Scope scope);
  void tell(Run run, Agent thread, uint64_t word, bool alone, bool releases, Scope scope);
  /// A fence holds atomic accesses behind it and in front of it for releases and acquires.
  void fence(Run run, Agent thread, bool acquires, bool releases, Scope scope);

  /// A thread has waited for what it wrote.
  void publish(Run run, Agent thread, bool isForAll = true);
  /// A fence of the proxy: engines that are started behind it find what the thread knows of.
  void fenceProxy(Run run, Agent thread);

  /// Whether what a thread does now stands behind a read, or a write.
  bool knows(Run run, Agent thread, const GridEvent &earlier, bool isRead) const;
  /// Whether it does by way of a watched order.
  bool isBehindWatched(const GridEvent &event, Agent thread, const GridEvent &earlier) const;
  /// Whether an engine that a thread starts now finds a write of which the thread knows.
  bool finds(Run run, Agent thread, const GridEvent &write) const;
  /// Whether all of the grid may have heard of what an agent did.
  bool hasTold(const GridEvent &event) const;

private:
  using Releaser = uint32_t;
  /// What atomic accesses behind a fence tell, and what a fence behind accesses hears, by how far:
  /// within a block, a cluster, the grid.
  struct Fences {
    Clock released[3], looked[3];
    /// One for a block is often none of an access's: it is made once there is one.
    bool isForBlock = false;
  };
  struct State {
    std::shared_ptr<HappensBefore> order;
    unsigned threadsOfBlock = 1;
    std::unordered_map<Agent, Releaser> byThread;
    std::vector<Releaser> releasers;
    std::unordered_map<Agent, Fences> fences;
    /// Told no further than a cluster, or than a block of it.
    std::unordered_map<uint64_t, Clock> words;
    std::vector<std::unordered_map<uint64_t, Clock>> wordsOfBlocks;
  };
  /// Where clocks have what was heard of a releaser, and up to where engines find it.
  static Agent placeOf(Releaser releaser) { return 2 * releaser; }
  static Agent placeOfReached(Releaser releaser) { return 2 * releaser + 1; }
  Clock release(Run run, Agent thread, Scope scope);
  void hear(Run run, Agent thread, const Clock &told);
  /// The word's clock, as it is told to a thread so far; null if it is not made and there is none.
  Clock *find(Run run, Agent thread, uint64_t word, int far, bool make);

  const bool isBare, blockFencesWait;
  std::vector<State> runs;
  /// By releaser: what it told, and up to which the grid, too.
  struct Releases {
    std::vector<HappensBefore::Place> all;
    Tick widest = 0;
  };
  std::vector<Releases> releases;
  std::unordered_map<uint64_t, Clock> words; ///< told to the grid
};

} // namespace kiln::analysis

#endif // KILN_ANALYSIS_GRIDORDER_H
