// Histories of bytes, each kept once.
#include "kiln/Analysis/AccessHistory.h"
#include <algorithm>
#include <initializer_list>
#include <utility>

using namespace kiln::analysis;

//===- One byte -----------------------------------------------------------------------------===//

/// The event takes the place of its agent's earlier one.
static void note(std::vector<Event> &events, const Event &event) {
  auto isOwn = [&](const Event &other) {
    return other.agent == event.agent && other.proxy == event.proxy;
  };
  auto at = std::find_if(events.begin(), events.end(), isOwn);
  if (at == events.end())
    events.push_back(event);
  else
    at->tick = std::max(at->tick, event.tick);
}

/// Adds an event of a thread's to some. Who follows it follows what it follows, which need not be
/// kept; but who is told that an engine has ended is told of nothing else.
static void noteLast(std::vector<Event> &events, const HappensBefore &order, Agent thread,
                     const Event &event) {
  auto isBefore = [&](const Event &other) { return order.follows(thread, event, other); };
  if (!order.isQueue(event.agent))
    events.erase(std::remove_if(events.begin(), events.end(), isBefore), events.end());
  note(events, event);
}

static Clash makeClash(const HappensBefore &order, Agent thread, Clash::Kind kind,
                       const Event &other) {
  bool isRead = kind == Clash::Kind::AfterRead;
  return {order.knows(thread, other) ? Clash::Kind::TensorFence : kind, 0, other, isRead};
}

/// Says of an access whether it stands behind some by way of what is watched.
static void watch(const HappensBefore &order, Agent thread, const Event &event,
                  std::initializer_list<const std::vector<Event> *> earlier,
                  bool areReads = false) {
  if (!order.isWatching())
    return;
  for (const std::vector<Event> *events : earlier)
    for (const Event &other : *events)
      if (order.isBehindWatched(thread, event, other, areReads))
        order.noteUse();
}

std::optional<Clash> ByteHistory::read(const HappensBefore &order, Agent thread,
                                       const Event &event) {
  if (writes.empty())
    return Clash{Clash::Kind::Unwritten, 0, {}, false};
  watch(order, thread, event, {&writes, &updates});
  bool byEngine = event.proxy != Proxy::Generic;
  auto isKnown = [&](const Event &write) { return order.follows(thread, event, write); };
  auto isFound = [&](const Event &write) { return !byEngine || order.finds(thread, write); };
  // Of writes in any order, which all wrote the same, one is enough; of updates all are needed.
  if (std::none_of(writes.begin(), writes.end(), isKnown))
    return makeClash(order, thread, Clash::Kind::AfterWrite, writes.front());
  if (std::none_of(writes.begin(), writes.end(), isFound))
    return Clash{Clash::Kind::BehindFence, 0, writes.front(), false};
  for (const Event &update : updates) {
    if (!isKnown(update))
      return makeClash(order, thread, Clash::Kind::AfterWrite, update);
    if (!isFound(update))
      return Clash{Clash::Kind::BehindFence, 0, update, false};
  }
  noteLast(reads, order, thread, event);
  return std::nullopt;
}

std::optional<Clash> ByteHistory::write(const HappensBefore &order, Agent thread,
                                        const Event &event, bool isSame, Reads kind) {
  if (!isSame) {
    watch(order, thread, event, {&writes, &updates});
    watch(order, thread, event, {&reads}, /*areReads=*/true);
  }
  bool isOrdered = true;
  for (const std::vector<Event> *events : {&writes, &updates})
    for (const Event &write : *events) {
      bool isKnown = order.follows(thread, event, write);
      isOrdered &= isKnown;
      if (!isKnown && (!isSame || events == &updates))
        return makeClash(order, thread, Clash::Kind::AfterWrite, write);
      if (event.proxy == Proxy::Async && !order.finds(thread, write))
        return Clash{Clash::Kind::BehindFence, 0, write, false};
    }
  for (const Event &read : reads)
    if (!order.followsRead(thread, event, read) && !isSame)
      return makeClash(order, thread, Clash::Kind::AfterRead, read);
  for (const Event &read : reads)
    if (kind == Reads::NeedFences && event.proxy == Proxy::Async && read.proxy == Proxy::Generic &&
        !order.finds(thread, read))
      return Clash{Clash::Kind::BehindFence, 0, read, /*isRead=*/true};
  if (!isSame || isOrdered)
    writes.clear();
  if (!isSame)
    reads.clear();
  updates.clear();
  note(writes, event);
  return std::nullopt;
}

std::optional<Clash> ByteHistory::update(const HappensBefore &order, Agent thread,
                                         const Event &event) {
  if (writes.empty())
    return Clash{Clash::Kind::Unwritten, 0, {}, false};
  watch(order, thread, event, {&writes});
  watch(order, thread, event, {&reads}, /*areReads=*/true);
  for (const Event &write : writes) {
    if (!order.follows(thread, event, write))
      return makeClash(order, thread, Clash::Kind::AfterWrite, write);
    if (event.proxy == Proxy::Async && !order.finds(thread, write))
      return Clash{Clash::Kind::BehindFence, 0, write, false};
  }
  for (const Event &read : reads)
    if (!order.followsRead(thread, event, read))
      return makeClash(order, thread, Clash::Kind::AfterRead, read);
  if (!order.isQueue(event.agent))
    reads.clear();
  noteLast(updates, order, thread, event);
  return std::nullopt;
}

//===- Many ---------------------------------------------------------------------------------===//

AccessHistory::AccessHistory(const HappensBefore &order, size_t size)
    : order(&order), bytes(size, 0), states(1) {
  states.front().bytes = size;
}

AccessHistory::Id AccessHistory::keep(Change &change, size_t first) {
  auto isIn = [&](Id id) { return states[id].bytes && states[id].state == change.state; };
  if (isIn(last))
    return last;
  if (first && isIn(bytes[first - 1]))
    return bytes[first - 1];
  Id id = change.before;
  if (states[id].bytes != change.bytes) {
    if (unused.empty()) {
      unused.push_back(states.size());
      states.emplace_back();
    }
    id = unused.back();
    unused.pop_back();
  }
  std::swap(states[id].state, change.state);
  return last = id;
}

/// Takes each byte from its state to the next, which `step` gives, or a clash, of a state and
/// whether just that is there already.
template <typename Step>
std::optional<Clash> AccessHistory::visit(size_t first, size_t count, const bool *isSame,
                                          Step step) {
  size_t end = first + count, made = 0;
  ++visits;
  runs.clear();
  // Nothing is kept before all is known to be right.
  for (size_t at = first; at < end;) {
    Id id = bytes[at];
    bool same = isSame && isSame[at - first];
    size_t begin = at++;
    while (at < end && bytes[at] == id && (!isSame || isSame[at - first] == same))
      ++at;
    constexpr size_t none = ~size_t(0);
    Kept &kept = states[id];
    if (std::exchange(kept.visit, visits) != visits)
      kept.changes[0] = kept.changes[1] = none;
    size_t &change = kept.changes[same];
    if (change == none) {
      if (made == changes.size())
        changes.emplace_back();
      Change &next = changes[made];
      next.state = kept.state;
      next.before = id;
      next.bytes = 0;
      if (std::optional<Clash> clash = step(next.state, same)) {
        clash->offset = begin;
        return clash;
      }
      change = made++;
    }
    changes[change].bytes += at - begin;
    runs.push_back({begin, at - begin, change});
  }
  constexpr Id open = ~Id(0);
  for (size_t i = 0; i < made; ++i)
    changes[i].after = open;
  for (const Run &run : runs) {
    Change &change = changes[run.change];
    if (change.after == open)
      change.after = keep(change, run.first);
    if (change.after == change.before)
      continue;
    std::fill_n(bytes.begin() + run.first, run.count, change.after);
    states[change.after].bytes += run.count;
    states[change.before].bytes -= run.count;
    if (!states[change.before].bytes)
      unused.push_back(change.before);
  }
  return std::nullopt;
}

std::optional<Clash> AccessHistory::read(Agent thread, const Event &event, size_t first,
                                         size_t count) {
  return visit(first, count, nullptr,
               [&](State &state, bool) { return state.read(*order, thread, event); });
}

std::optional<Clash> AccessHistory::write(Agent thread, const Event &event, size_t first,
                                          size_t count, const bool *isSame) {
  return visit(first, count, isSame, [&](State &state, bool same) {
    return state.write(*order, thread, event, same, Reads::NeedFences);
  });
}

std::optional<Clash> AccessHistory::update(Agent thread, const Event &event, size_t first,
                                           size_t count) {
  return visit(first, count, nullptr,
               [&](State &state, bool) { return state.update(*order, thread, event); });
}
