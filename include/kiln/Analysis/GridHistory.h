// Who touched each byte of global memory last, of all programs of a grid, and what of that an
// access clashes with.
//
// The rules are those of ByteHistory (AccessHistory.h), kept for much memory at little cost: events
// are numbers, a cell of bytes that are always accessed together has one of each kind or a short
// list, and pages are made when something touches them. Lists are cut: of many unordered reads some
// are forgotten, and what clashes with these alone is not found.
#ifndef KILN_ANALYSIS_GRIDHISTORY_H
#define KILN_ANALYSIS_GRIDHISTORY_H

#include "kiln/Analysis/AccessHistory.h"
#include "kiln/Analysis/GridOrder.h"
#include <optional>

namespace kiln::analysis {

/// What an access clashes with, at an address.
struct GridClash {
  uint64_t address;
  GridEvent other;
  bool isRead; ///< whether that is a read
};

class GridHistory {
public:
  explicit GridHistory(const GridOrder &order) : order(order), events(1) {}

  /// An access that a thread makes or starts. What a plain write writes is at `value`, null if that
  /// is not known; what is there, or will be, at `present`.
  struct Access {
    uint64_t address;
    size_t bytes;
    bool reads, writes;
    const void *value = nullptr, *present = nullptr;
  };
  std::optional<GridClash> access(Agent thread, const GridEvent &event, const Access &access);

private:
  /// A number of an event, 0 if there is none; or, with the upper bit, of a list.
  using Handle = uint32_t;
  struct Cell {
    Handle writes = 0, updates = 0, reads = 0;
  };
  /// Of kPageBytes, each cell of 1 << `shift` of them.
  struct Page {
    unsigned shift;
    std::vector<Cell> cells;
  };
  Page &pageOf(uint64_t number, unsigned shift);
  Handle numberOf(const GridEvent &event);
  Handle copy(Handle handle);
  void drop(Handle &handle);
  /// Adds a number to some, in place of those that it stands behind.
  void note(Handle &handle, Handle number, Agent thread, const GridEvent &event);
  template <typename Test>
  const GridEvent *findFirst(const Handle &handle, Test test) const;
  /// Says of an access, of a cell's others, whether it stands behind them by what is watched.
  void watch(const Cell &cell, Agent thread, const GridEvent &event, bool writes) const;
  std::optional<GridClash> step(Cell &cell, uint64_t address, Handle number, Agent thread,
                                const GridEvent &event, const Access &access, bool isSame);

  const GridOrder &order;
  std::unordered_map<uint64_t, Page> pages;
  std::pair<uint64_t, Page *> last = {0, nullptr};
  std::vector<GridEvent> events;
  std::vector<std::vector<Handle>> lists;
  std::vector<uint32_t> unused; ///< of the lists
};

} // namespace kiln::analysis

#endif // KILN_ANALYSIS_GRIDHISTORY_H
