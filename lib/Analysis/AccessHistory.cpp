// Histories of bytes, each kept once.
#include "kiln/Analysis/AccessHistory.h"
#include <algorithm>

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

std::optional<Clash> ByteHistory::read(const HappensBefore &order, Agent thread,
                                       const Event &event) {
  if (writes.empty())
    return Clash{Clash::Kind::Unwritten, 0, {}};
  auto isKnown = [&](const Event &write) { return order.knows(thread, write); };
  auto isFound = [&](const Event &write) { return order.finds(thread, write); };
  // Of writes in any order, which all wrote the same, one is enough; of updates all are needed.
  auto unknown = std::find_if_not(writes.begin(), writes.end(), isKnown);
  if (unknown != writes.end() && (isAtomic || std::none_of(writes.begin(), writes.end(), isKnown)))
    return Clash{Clash::Kind::AfterWrite, 0, *unknown};
  bool byEngine = event.proxy == Proxy::Async;
  auto unfound = byEngine ? std::find_if_not(writes.begin(), writes.end(), isFound) : writes.end();
  if (unfound != writes.end() && (isAtomic || std::none_of(writes.begin(), writes.end(), isFound)))
    return Clash{Clash::Kind::BehindFence, 0, *unfound};
  // Who is ordered behind this one is behind what this thread knows of; but who is told that an
  // engine has ended is told of nothing else.
  if (!order.isQueue(event.agent))
    reads.erase(std::remove_if(reads.begin(), reads.end(), isKnown), reads.end());
  note(reads, event);
  return std::nullopt;
}

std::optional<Clash> ByteHistory::write(const HappensBefore &order, Agent thread,
                                        const Event &event, bool isSame, Reads kind) {
  bool isOrdered = true;
  for (const Event &write : writes) {
    bool isKnown = order.knows(thread, write);
    isOrdered &= isKnown;
    if (!isKnown && (!isSame || isAtomic))
      return Clash{Clash::Kind::AfterWrite, 0, write};
    if (event.proxy == Proxy::Async && !order.finds(thread, write))
      return Clash{Clash::Kind::BehindFence, 0, write};
  }
  for (const Event &read : reads)
    if (!order.knows(thread, read) && !isSame)
      return Clash{Clash::Kind::AfterRead, 0, read};
  for (const Event &read : reads)
    if (kind == Reads::NeedFences && event.proxy == Proxy::Async && read.proxy == Proxy::Generic &&
        !order.finds(thread, read))
      return Clash{Clash::Kind::BehindFence, 0, read};
  if (!isSame || isOrdered)
    writes.clear();
  if (!isSame)
    reads.clear();
  isAtomic = false;
  note(writes, event);
  return std::nullopt;
}

std::optional<Clash> ByteHistory::update(const HappensBefore &order, Agent thread,
                                         const Event &event) {
  if (writes.empty())
    return Clash{Clash::Kind::Unwritten, 0, {}};
  for (const Event &write : writes)
    if (!isAtomic && !order.knows(thread, write))
      return Clash{Clash::Kind::AfterWrite, 0, write};
  for (const Event &read : reads)
    if (!order.knows(thread, read))
      return Clash{Clash::Kind::AfterRead, 0, read};
  if (!isAtomic)
    writes.clear();
  reads.clear();
  isAtomic = true;
  note(writes, event);
  return std::nullopt;
}

//===- Many ---------------------------------------------------------------------------------===//

AccessHistory::AccessHistory(const HappensBefore &order, size_t size)
    : order(&order), bytes(size, 0) {
  intern(State());
}

size_t AccessHistory::StateHash::operator()(const State *state) const {
  size_t hash = state->isAtomic;
  auto add = [&](size_t value) { hash = (hash ^ value) * 0x9e3779b97f4a7c15; };
  for (const std::vector<Event> *events : {&state->writes, &state->reads}) {
    add(events->size());
    for (const Event &event : *events)
      add(size_t(event.agent) << 32 | event.tick);
  }
  return hash ^ hash >> 29;
}

AccessHistory::Id AccessHistory::intern(State state) {
  if (auto at = ids.find(&state); at != ids.end())
    return at->second;
  states.push_back(std::make_unique<State>(std::move(state)));
  return ids[states.back().get()] = Id(states.size() - 1);
}

void AccessHistory::collect() {
  std::vector<std::unique_ptr<State>> old = std::move(states);
  states.clear();
  ids.clear();
  intern(State());
  constexpr Id unknown = ~Id(0);
  std::vector<Id> renamed(old.size(), unknown);
  renamed[0] = 0;
  for (Id &id : bytes) {
    if (renamed[id] == unknown)
      renamed[id] = intern(std::move(*old[id]));
    id = renamed[id];
  }
}

/// Takes each byte from its state to the next, which `step` gives, or a clash, of a state and
/// whether just that is there already.
template <typename Step>
std::optional<Clash> AccessHistory::visit(size_t first, size_t count, const bool *isSame,
                                          Step step) {
  constexpr size_t mostStates = 1 << 16;
  if (states.size() > mostStates + bytes.size())
    collect();
  constexpr Id none = ~Id(0);
  Id before[2] = {none, none}, after[2] = {none, none};
  size_t begin = first;
  std::vector<Id> next(count);
  for (size_t offset = first; offset < first + count; ++offset) {
    bool same = isSame && isSame[offset - begin];
    Id id = bytes[offset];
    if (before[same] != id) {
      State state = *states[id];
      if (std::optional<Clash> clash = step(state, same)) {
        clash->offset = offset;
        return clash;
      }
      before[same] = id;
      after[same] = intern(std::move(state));
    }
    next[offset - begin] = after[same];
  }
  std::copy(next.begin(), next.end(), bytes.begin() + first);
  return std::nullopt;
}

std::optional<Clash> AccessHistory::read(Agent thread, const Event &event, size_t first,
                                         size_t count) {
  return visit(first, count, nullptr,
               [&](State &state, bool) { return state.read(*order, thread, event); });
}

std::optional<Clash> AccessHistory::write(Agent thread, const Event &event, size_t first,
                                          size_t count, const bool *isSame) {
  return visit(first, count, isSame,
               [&](State &state, bool same) { return state.write(*order, thread, event, same); });
}

std::optional<Clash> AccessHistory::update(Agent thread, const Event &event, size_t first,
                                           size_t count) {
  return visit(first, count, nullptr,
               [&](State &state, bool) { return state.update(*order, thread, event); });
}
