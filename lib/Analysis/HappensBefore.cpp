// Clocks, and who tells them to whom.
#include "kiln/Analysis/HappensBefore.h"
#include <algorithm>
#include <cstddef>
#include <cstring>

using namespace kiln::analysis;

void Clock::own(size_t size) {
  // With room for a few more, as agents come.
  constexpr size_t few = 8;
  size_t had = this->size();
  if (held && isAlone() && size <= had)
    return;
  size = std::max(had, (size + few - 1) / few * few);
  auto *made = static_cast<Ticks *>(::operator new(sizeof(Ticks) + size * sizeof(Tick)));
  made->holders = 1;
  made->size = uint32_t(size);
  if (held)
    std::memcpy(made->ticks(), held->ticks(), had * sizeof(Tick));
  std::memset(made->ticks() + had, 0, (size - had) * sizeof(Tick));
  drop();
  held = made;
}

void Clock::raise(Agent agent, Tick tick) {
  own(agent + 1);
  Tick &at = held->ticks()[agent];
  at = std::max(at, tick);
}

void Clock::join(const Clock &other) {
  if (isSame(other) || other.isEmpty())
    return;
  if (!held || !isAlone()) {
    *this = merge(*this, other);
    return;
  }
  own(other.size());
  for (size_t i = 0, end = other.size(); i < end; ++i)
    held->ticks()[i] = std::max(held->ticks()[i], other.held->ticks()[i]);
}

std::pair<bool, bool> Clock::compare(const Clock &other) const {
  size_t common = std::min(size(), other.size());
  // Without branches, so that many are compared at a time.
  unsigned isMore = 0, isLess = 0;
  for (size_t i = 0; i < common; ++i) {
    Tick here = held->ticks()[i], there = other.held->ticks()[i];
    isMore |= here > there;
    isLess |= here < there;
  }
  auto hasAny = [&](const Clock &of) {
    for (size_t i = common, end = of.size(); i < end; ++i)
      if (of.held->ticks()[i] != 0)
        return true;
    return false;
  };
  return {isMore || hasAny(*this), isLess || hasAny(other)};
}

Clock Clock::merge(const Clock &a, const Clock &b) {
  if (a.isSame(b) || b.isEmpty())
    return a;
  if (a.isEmpty())
    return b;
  auto [isMore, isLess] = a.compare(b);
  if (!isMore || !isLess)
    return isMore ? a : b;
  Clock made = a;
  made.own(b.size());
  made.join(b);
  return made;
}

void Clocks::join(const Clocks &other) {
  done.join(other.done);
  visible.join(other.visible);
  fenced.join(other.fenced);
  heard.join(other.heard);
  reached.join(other.reached);
  reads.join(other.reads);
}

HappensBefore::HappensBefore(unsigned threads, unsigned lanes, bool keepsTensor)
    : lanes(lanes), keepsTensor(keepsTensor), views(threads) {}

size_t HappensBefore::HashNames::operator()(const Names &names) const {
  auto first = reinterpret_cast<uintptr_t>(names.first);
  auto second = reinterpret_cast<uintptr_t>(names.second);
  return first / alignof(std::max_align_t) * 31 + second / alignof(std::max_align_t);
}

void HappensBefore::learn(Clock &known, const Clock &told) {
  // Of few agents it costs less to make it than to look it up.
  constexpr size_t few = 128;
  if (known.isSame(told) || told.isEmpty())
    return;
  if (known.size() <= few && told.size() <= few) {
    known = Clock::merge(known, told);
    return;
  }
  // Those who meet come one behind the other.
  for (const Joined &last : recent)
    if (last.a.isSame(known) && last.b.isSame(told)) {
      known = last.both;
      return;
    }
  std::rotate(recent.begin(), recent.end() - 1, recent.end());
  recent.front() = {known, told, find(known, told)};
  known = recent.front().both;
}

const Clock &HappensBefore::find(const Clock &a, const Clock &b) {
  constexpr size_t most = 1024;
  if (joined.size() > most)
    joined.clear();
  auto [at, isNew] = joined.try_emplace({a.getName(), b.getName()});
  if (isNew)
    at->second = {a, b, Clock::merge(a, b)};
  return at->second.both;
}

void HappensBefore::learn(Clocks &known, const Clocks &told) {
  learn(known.done, told.done);
  learn(known.visible, told.visible);
  learn(known.fenced, told.fenced);
  learn(known.heard, told.heard);
  learn(known.reached, told.reached);
  learn(known.reads, told.reads);
}

//===- Threads ------------------------------------------------------------------------------===//

static void raise(Clock &clock, Agent agent, Tick tick) {
  if (tick > 0 && clock.get(agent) < tick)
    clock.raise(agent, tick);
}

void HappensBefore::tell(Place &place, const Clocks &knows) const {
  auto add = [](Clock &to, Clock &last, const Clock &from) {
    if (last.isSame(from))
      return;
    to.join(from);
    last = from;
  };
  add(place.knows.done, place.last.done, knows.done);
  add(place.knows.visible, place.last.visible, knows.visible);
  add(place.knows.fenced, place.last.fenced, knows.fenced);
  add(place.knows.heard, place.last.heard, knows.heard);
  add(place.knows.reached, place.last.reached, knows.reached);
  add(place.knows.reads, place.last.reads, knows.reads);
}

void HappensBefore::release(Agent thread, Place &place) {
  View &view = views[thread];
  tell(place, view.knows);
  if (!times.empty())
    place.time = std::max(place.time, times[thread]);
  if (watched) {
    bool isOwn = isWatched();
    place.byWatched.join(view.byWatched);
    if (isOwn) {
      place.byWatched.join(view.knows);
      place.byWatched.done.raise(thread, view.tick);
    }
    place.byWatched.visible.raise(thread, isOwn ? view.visible : view.visibleByWatched);
    place.byWatched.fenced.raise(thread, isOwn ? view.fenced : view.fencedByWatched);
    place.byWatched.reached.raise(thread, isOwn ? view.reached : view.reachedByWatched);
  }
  view.told = view.tick;
  raise(place.knows.done, thread, view.tick++);
  raise(place.knows.visible, thread, view.visible);
  raise(place.knows.fenced, thread, view.fenced);
  raise(place.knows.reached, thread, view.reached);
}

void HappensBefore::acquire(Agent thread, Place &place) {
  if (!times.empty())
    times[thread] = std::max(times[thread], place.time);
  learn(views[thread].knows, place.knows);
  if (watched) {
    views[thread].byWatched.join(place.byWatched);
    if (isWatched())
      views[thread].byWatched.join(place.knows);
  }
}

/// What was read, as far as it is known, and what of it an engine finds; of tensor memory, which a
/// block reaches by itself, all uses.
static void joinReads(Clocks &known, const Clocks &told) {
  known.reads.join(told.done);
  known.reads.join(told.reads);
  known.visible.join(told.visible);
  known.fenced.join(told.fenced);
}

void HappensBefore::releaseReads(Agent thread, Place &place) {
  View &view = views[thread];
  joinReads(place.knows, view.knows);
  if (watched) {
    bool isOwn = isWatched();
    joinReads(place.byWatched, view.byWatched);
    if (isOwn) {
      joinReads(place.byWatched, view.knows);
      place.byWatched.reads.raise(thread, view.tick);
    }
    place.byWatched.visible.raise(thread, isOwn ? view.visible : view.visibleByWatched);
    place.byWatched.fenced.raise(thread, isOwn ? view.fenced : view.fencedByWatched);
  }
  if (!times.empty())
    place.time = std::max(place.time, times[thread]);
  view.told = view.tick;
  raise(place.knows.reads, thread, view.tick++);
  raise(place.knows.visible, thread, view.visible);
  raise(place.knows.fenced, thread, view.fenced);
}

void HappensBefore::acquireReads(Agent thread, Place &place) {
  if (!times.empty())
    times[thread] = std::max(times[thread], place.time);
  joinReads(views[thread].knows, place.knows);
  if (watched) {
    joinReads(views[thread].byWatched, place.byWatched);
    if (isWatched())
      joinReads(views[thread].byWatched, place.knows);
  }
}

void HappensBefore::hear(Agent thread, const Clock &others) {
  Clock &heard = views[thread].knows.heard;
  heard = Clock::merge(heard, others);
}

void HappensBefore::meet(const std::vector<Agent> &threads) {
  Place place;
  for (Agent thread : threads)
    release(thread, place);
  for (Agent thread : threads)
    acquire(thread, place);
}

void HappensBefore::fence(Agent thread) {
  View &view = views[thread];
  view.knows.visible = Clock::merge(view.knows.done, view.knows.reads);
  if (watched) {
    view.byWatched.visible.join(view.byWatched.done);
    view.byWatched.visible.join(view.byWatched.reads);
  }
  if (isWatched()) {
    view.byWatched.visible.join(view.knows.visible);
    view.visibleByWatched = view.tick;
  }
  view.visible = view.tick++;
}

void HappensBefore::fenceGlobal(Agent thread) {
  View &view = views[thread];
  view.knows.reached = view.knows.done;
  if (watched)
    view.byWatched.reached.join(view.byWatched.done);
  if (isWatched()) {
    view.byWatched.reached.join(view.knows.done);
    view.reachedByWatched = view.tick;
  }
  view.reached = view.tick++;
}

void HappensBefore::publish(Agent thread, bool isForAll) {
  View &view = views[thread];
  if (isWatched()) {
    view.visibleByWatched = view.tick;
    if (isForAll)
      view.reachedByWatched = view.tick;
  }
  view.visible = view.tick;
  if (isForAll)
    view.reached = view.tick;
  ++view.tick;
}

void HappensBefore::publishWarp(Agent thread) {
  View &view = views[thread];
  bool isOwn = isWatched();
  for (Agent lane = thread / lanes * lanes, end = lane + lanes; lane < end; ++lane) {
    raise(view.knows.reached, lane, view.knows.done.get(lane));
    if (watched)
      view.byWatched.reached.raise(lane, (isOwn ? view.knows.done : view.byWatched.done).get(lane));
  }
}

void HappensBefore::fenceBefore(Agent thread) {
  View &view = views[thread];
  if (isWatched())
    view.fencedByWatched = view.tick;
  view.fenced = view.tick++;
}

void HappensBefore::fenceAfter(Agent thread) {
  View &view = views[thread];
  view.behind = view.knows;
  if (watched)
    view.behindWatched.join(view.byWatched);
  if (isWatched())
    view.behindWatched.join(view.knows);
}

//===- Queues -------------------------------------------------------------------------------===//

Agent HappensBefore::addQueue(const char *work) {
  Queue queue;
  queue.work = work;
  queues.push_back(std::move(queue));
  return Agent(views.size() + queues.size() - 1);
}

Event HappensBefore::start(Agent queue, Agent thread, Proxy proxy) {
  Queue &of = queues[queue - views.size()];
  learn(of.given, views[thread].knows);
  if (watched)
    of.givenByWatched.join(views[thread].byWatched);
  if (!times.empty())
    of.time = std::max(of.time, times[thread]);
  return {queue, of.open, proxy};
}

Tick HappensBefore::close(Agent queue) {
  Queue &of = queues[queue - views.size()];
  of.closed.push_back({of.open, of.given, of.givenByWatched, /*isWatched=*/false});
  return of.open++;
}

Tick HappensBefore::commit(Agent queue) {
  Tick tick = close(queue);
  Queue::Closed &closed = queues[queue - views.size()].closed.back();
  closed.isWatched = isWatched();
  if (closed.isWatched)
    closed.byWatched.join(closed.given);
  return tick;
}

void HappensBefore::end(Agent queue, Tick tick, Place &place) {
  Queue &of = queues[queue - views.size()];
  of.ended = std::max(of.ended, tick);
  auto next = of.closed.begin();
  for (; next != of.closed.end() && next->tick <= tick; ++next) {
    of.behind = next->given;
    of.behindWatched.join(next->byWatched);
    if (next->isWatched)
      of.watched = next->tick;
  }
  of.closed.erase(of.closed.begin(), next);
  of.told = 0;
  tell(place, of.behind);
  place.time = std::max(place.time, of.time);
  raise(place.knows.done, queue, tick);
  if (keepsTensor)
    raise(place.knows.fenced, queue, tick);
  if (watched) {
    place.byWatched.join(of.behindWatched);
    place.byWatched.done.raise(queue, of.watched);
    place.byWatched.fenced.raise(queue, of.watched);
  }
}

void HappensBefore::end(Agent queue, Tick tick, Agent thread) {
  // The lanes of a warp are told the same, one behind the other.
  Queue &of = queues[queue - views.size()];
  if (of.told != tick) {
    of.end = {};
    end(queue, tick, of.end);
    of.told = tick;
  }
  acquire(thread, of.end);
}

bool HappensBefore::hasEnded(const Event &event) const {
  return !isQueue(event.agent) || event.tick <= queues[event.agent - views.size()].ended;
}

//===- What is known ------------------------------------------------------------------------===//

bool HappensBefore::knows(Agent thread, const Event &event) const {
  if (event.agent == thread || views[thread].knows.done.get(event.agent) >= event.tick)
    return true;
  // What an engine has written it has told to all.
  return isQueue(event.agent) && event.proxy != Proxy::Generic && knowsReads(thread, event);
}

bool HappensBefore::follows(Agent thread, const Event &event, const Event &earlier) const {
  if (event.proxy != Proxy::Tensor)
    return knows(thread, earlier);
  bool isUse = earlier.proxy == Proxy::Tensor;
  if (earlier.agent == event.agent || earlier.agent == thread ||
      (isUse && !isQueue(earlier.agent) && earlier.agent / lanes == thread / lanes))
    return true;
  const Clocks &behind = views[thread].behind;
  return (isUse ? behind.fenced : behind.done).get(earlier.agent) >= earlier.tick;
}

bool HappensBefore::finds(Agent thread, const Event &write) const {
  if (write.proxy != Proxy::Generic)
    return knows(thread, write);
  if (write.agent == thread)
    return views[thread].visible >= write.tick;
  return views[thread].knows.visible.get(write.agent) >= write.tick;
}

bool HappensBefore::isBehindWatched(Agent thread, const Event &event, const Event &earlier,
                                    bool isRead) const {
  const View &view = views[thread];
  bool isOwn = earlier.agent == thread, byEngine = event.proxy != Proxy::Generic;
  // The fence may be the thread's own.
  Tick visible = isOwn ? std::max(view.visibleByWatched, view.reachedByWatched)
                       : std::max(view.byWatched.visible.get(earlier.agent),
                                  view.byWatched.reached.get(earlier.agent));
  if (byEngine && earlier.proxy == Proxy::Generic && visible >= earlier.tick)
    return true;
  bool isUse = earlier.proxy == Proxy::Tensor;
  bool isOfWarp = isUse && !isQueue(earlier.agent) && earlier.agent / lanes == thread / lanes;
  if (isOwn || earlier.agent == event.agent || (event.proxy == Proxy::Tensor && isOfWarp))
    return false;
  const Clock &done = event.proxy != Proxy::Tensor ? view.byWatched.done
                      : isUse                      ? view.behindWatched.fenced
                                                   : view.behindWatched.done;
  return done.get(earlier.agent) >= earlier.tick ||
         ((isRead || isQueue(earlier.agent)) &&
          view.byWatched.reads.get(earlier.agent) >= earlier.tick);
}
