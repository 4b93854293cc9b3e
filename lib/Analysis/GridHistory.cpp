// Cells of global memory, and events by number.
#include "kiln/Analysis/GridHistory.h"
#include <algorithm>
#include <cstring>

using namespace kiln::analysis;

static constexpr uint64_t kPageBytes = 4096;
static constexpr unsigned kMostShift = 4;
static constexpr uint32_t kIsList = 1u << 31;
/// Events that nothing orders, of one kind in one cell, of which is known.
static constexpr size_t kMostListed = 8;
/// Numbers there are of events. Behind these no access is looked at.
static constexpr size_t kMostEvents = size_t(1) << 24;

//===- Events -------------------------------------------------------------------------------===//

/// An agent that goes on where it was has its number already.
GridHistory::Handle GridHistory::numberOf(const GridEvent &event) {
  const GridEvent &newest = events.back();
  bool isKnown = events.size() > 1 && newest.run == event.run && newest.event == event.event &&
                 newest.site == event.site && newest.isAtomic == event.isAtomic;
  if (!isKnown)
    events.push_back(event);
  return Handle(events.size() - 1);
}

template <typename Test>
const GridEvent *GridHistory::findFirst(const Handle &handle, Test test) const {
  if (!handle)
    return nullptr;
  const Handle *begin = &handle, *end = begin + 1;
  if (handle & kIsList) {
    const std::vector<Handle> &list = lists[handle & ~kIsList];
    begin = list.data();
    end = begin + list.size();
  }
  for (; begin != end; ++begin)
    if (test(events[*begin]))
      return &events[*begin];
  return nullptr;
}

void GridHistory::drop(Handle &handle) {
  if (handle & kIsList) {
    lists[handle & ~kIsList].clear();
    unused.push_back(handle & ~kIsList);
  }
  handle = 0;
}

GridHistory::Handle GridHistory::copy(Handle handle) {
  if (!(handle & kIsList))
    return handle;
  std::vector<Handle> all = lists[handle & ~kIsList];
  lists.push_back(std::move(all));
  return Handle(lists.size() - 1) | kIsList;
}

void GridHistory::note(Handle &handle, Handle number, Agent thread, const GridEvent &event) {
  // Who is told that an engine has ended is told of nothing else.
  bool stands = !order.orderOf(event.run).isQueue(event.event.agent);
  auto isBefore = [&](Handle other) {
    return other == number ||
           (stands && order.knows(event.run, thread, events[other], /*isRead=*/true));
  };
  if (!(handle & kIsList)) {
    if (!handle || isBefore(handle)) {
      handle = number;
      return;
    }
    if (unused.empty()) {
      unused.push_back(uint32_t(lists.size()));
      lists.emplace_back();
    }
    lists[unused.back()] = {handle, number};
    handle = unused.back() | kIsList;
    unused.pop_back();
    return;
  }
  std::vector<Handle> &list = lists[handle & ~kIsList];
  list.erase(std::remove_if(list.begin(), list.end(), isBefore), list.end());
  if (list.size() == kMostListed)
    list.back() = number;
  else
    list.push_back(number);
}

//===- Cells --------------------------------------------------------------------------------===//

GridHistory::Page &GridHistory::pageOf(uint64_t number, unsigned shift) {
  if (last.second && last.first == number && last.second->shift <= shift)
    return *last.second;
  auto [at, isNew] = pages.try_emplace(number);
  Page &page = at->second;
  if (isNew) {
    page.shift = shift;
    page.cells.resize(kPageBytes >> shift);
  } else if (page.shift > shift) {
    // Bytes part that were accessed together up to now.
    std::vector<Cell> parts(kPageBytes >> shift);
    unsigned ratio = page.shift - shift;
    for (size_t i = 0; i < parts.size(); ++i) {
      const Cell &whole = page.cells[i >> ratio];
      bool isFirst = (i & ((size_t(1) << ratio) - 1)) == 0;
      parts[i] = isFirst ? whole : Cell{copy(whole.writes), copy(whole.updates), copy(whole.reads)};
    }
    page.cells = std::move(parts);
    page.shift = shift;
  }
  last = {number, &page};
  return page;
}

void GridHistory::watch(const Cell &cell, Agent thread, const GridEvent &event, bool writes) const {
  auto look = [&](const GridEvent &other) {
    if (!(event.isAtomic && other.isAtomic) && order.isBehindWatched(event, thread, other))
      order.orderOf(event.run).noteUse();
    return false;
  };
  findFirst(cell.writes, look);
  findFirst(cell.updates, look);
  if (writes)
    findFirst(cell.reads, look);
}

std::optional<GridClash> GridHistory::step(Cell &cell, uint64_t address, Handle number,
                                           Agent thread, const GridEvent &event,
                                           const Access &access, bool isSame) {
  auto isUnknown = [&](const GridEvent &other) {
    return !order.knows(event.run, thread, other, /*isRead=*/false) ||
           (event.event.proxy == Proxy::Async && !order.finds(event.run, thread, other));
  };
  auto clash = [&](const GridEvent *other, bool isRead) {
    return GridClash{address, *other, isRead};
  };
  if (order.orderOf(event.run).isWatching())
    watch(cell, thread, event, access.writes && !isSame);
  if (!access.writes) {
    if (cell.reads == number)
      return std::nullopt;
    // Of writes in any order, which all wrote the same, one is enough; of updates all are needed.
    const GridEvent *known =
        findFirst(cell.writes, [&](const GridEvent &other) { return !isUnknown(other); });
    if (cell.writes && !known)
      return clash(findFirst(cell.writes, isUnknown), false);
    if (const GridEvent *update = event.isAtomic ? nullptr : findFirst(cell.updates, isUnknown))
      return clash(update, false);
    note(cell.reads, number, thread, event);
    return std::nullopt;
  }
  if (cell.writes == number && !cell.updates && !cell.reads)
    return std::nullopt;
  const GridEvent *write = findFirst(cell.writes, isUnknown);
  if (write && (event.isAtomic || !isSame))
    return clash(write, false);
  auto isUnordered = [&](const GridEvent &other) {
    return !(event.isAtomic && other.isAtomic) &&
           !order.knows(event.run, thread, other, /*isRead=*/true);
  };
  if (const GridEvent *read = isSame ? nullptr : findFirst(cell.reads, isUnordered))
    return clash(read, true);
  if (event.isAtomic) {
    drop(cell.reads);
    note(cell.updates, number, thread, event);
    return std::nullopt;
  }
  if (const GridEvent *update = findFirst(cell.updates, isUnknown))
    return clash(update, false);
  if (!write)
    drop(cell.writes);
  if (!isSame)
    drop(cell.reads);
  drop(cell.updates);
  note(cell.writes, number, thread, event);
  return std::nullopt;
}

std::optional<GridClash> GridHistory::access(Agent thread, const GridEvent &event,
                                             const Access &access) {
  if (!access.bytes || events.size() == kMostEvents)
    return std::nullopt;
  uint64_t parts = access.address | access.bytes | (1u << kMostShift);
  unsigned shift = 0;
  while (!(parts >> shift & 1))
    ++shift;
  Handle number = numberOf(event);
  uint64_t end = access.address + access.bytes;
  const auto *value = static_cast<const uint8_t *>(access.value);
  const auto *present = static_cast<const uint8_t *>(access.present);
  for (uint64_t at = access.address; at < end;) {
    Page &page = pageOf(at / kPageBytes, shift);
    uint64_t bytes = uint64_t(1) << page.shift;
    uint64_t stop = std::min(end, (at / kPageBytes + 1) * kPageBytes);
    for (; at < stop; at += bytes) {
      // To write what is there already harms nobody.
      uint64_t offset = at - access.address;
      bool isSame = access.writes && !event.isAtomic && value &&
                    std::memcmp(value + offset, present + offset, bytes) == 0;
      Cell &cell = page.cells[at % kPageBytes >> page.shift];
      if (std::optional<GridClash> clash = step(cell, at, number, thread, event, access, isSame))
        return clash;
    }
  }
  return std::nullopt;
}
