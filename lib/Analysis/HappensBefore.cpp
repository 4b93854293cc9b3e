// Clocks, and who tells them to whom.
#include "kiln/Analysis/HappensBefore.h"
#include <algorithm>

using namespace kiln::analysis;

void Clock::raise(Agent agent, Tick tick) {
  if (agent >= ticks.size())
    ticks.resize(agent + 1, 0);
  ticks[agent] = std::max(ticks[agent], tick);
}

void Clock::join(const Clock &other) {
  if (ticks.size() < other.ticks.size())
    ticks.resize(other.ticks.size(), 0);
  for (size_t i = 0; i < other.ticks.size(); ++i)
    ticks[i] = std::max(ticks[i], other.ticks[i]);
}

std::pair<bool, bool> Clock::compare(const Clock &other) const {
  size_t common = std::min(ticks.size(), other.ticks.size());
  // Without branches, so that many are compared at a time.
  unsigned isMore = 0, isLess = 0;
  for (size_t i = 0; i < common; ++i) {
    isMore |= ticks[i] > other.ticks[i];
    isLess |= ticks[i] < other.ticks[i];
  }
  auto hasAny = [&](const std::vector<Tick> &of) {
    return std::any_of(of.begin() + common, of.end(), [](Tick tick) { return tick != 0; });
  };
  return {isMore || hasAny(ticks), isLess || hasAny(other.ticks)};
}

void Clocks::join(const Clocks &other) {
  done.join(other.done);
  visible.join(other.visible);
  fenced.join(other.fenced);
  heard.join(other.heard);
  reached.join(other.reached);
}

void Clocks::join(const Knowledge &knows) {
  auto add = [](Clock &clock, const std::shared_ptr<const Clock> &known) {
    if (known)
      clock.join(*known);
  };
  add(done, knows.done);
  add(visible, knows.visible);
  add(fenced, knows.fenced);
  add(heard, knows.heard);
  add(reached, knows.reached);
}

HappensBefore::HappensBefore(unsigned threads, unsigned lanes) : lanes(lanes), views(threads) {
  for (View &view : views) {
    view.knows = {nothing, nothing, nothing, nothing, nothing};
    view.behind = view.knows;
  }
}

size_t
HappensBefore::PairHash::operator()(const std::pair<const Clock *, const Clock *> &pair) const {
  auto first = reinterpret_cast<uintptr_t>(pair.first);
  auto second = reinterpret_cast<uintptr_t>(pair.second);
  return first / alignof(Clock) * 31 + second / alignof(Clock);
}

/// What both have.
static std::shared_ptr<const Clock> merge(const std::shared_ptr<const Clock> &a,
                                          const std::shared_ptr<const Clock> &b) {
  auto [isMore, isLess] = a->compare(*b);
  if (!isMore || !isLess)
    return isMore ? a : b;
  auto made = std::make_shared<Clock>(*a);
  made->join(*b);
  return made;
}

HappensBefore::Shared HappensBefore::join(const Shared &a, const Shared &b) {
  // Of few agents it costs less to make it than to look it up.
  constexpr size_t few = 64;
  if (a == b)
    return a;
  if (a->size() <= few && b->size() <= few)
    return merge(a, b);
  // Those who meet come one behind the other.
  for (const Joined &last : recent)
    if (last.a == a && last.b == b)
      return last.both;
  std::rotate(recent.begin(), recent.end() - 1, recent.end());
  Shared both = find(a, b);
  recent.front() = {a, b, both};
  return both;
}

HappensBefore::Shared HappensBefore::find(const Shared &a, const Shared &b) {
  constexpr size_t most = 1024;
  if (joined.size() > most)
    joined.clear();
  auto [at, isNew] = joined.try_emplace({a.get(), b.get()});
  if (isNew)
    at->second = {a, b, merge(a, b)};
  return at->second.both;
}

Knowledge HappensBefore::join(const Knowledge &a, const Knowledge &b) {
  return {join(a.done, b.done), join(a.visible, b.visible), join(a.fenced, b.fenced),
          join(a.heard, b.heard), join(a.reached, b.reached)};
}

//===- Threads ------------------------------------------------------------------------------===//

/// A clock that is nobody else's.
static Clock &own(std::shared_ptr<const Clock> &clock) {
  if (!clock)
    clock = std::make_shared<Clock>();
  else if (clock.use_count() > 1)
    clock = std::make_shared<Clock>(*clock);
  return const_cast<Clock &>(*clock); // made as one that changes
}

static void raise(std::shared_ptr<const Clock> &clock, Agent agent, Tick tick) {
  if (tick > 0 && (!clock || clock->get(agent) < tick))
    own(clock).raise(agent, tick);
}

void HappensBefore::tell(Place &place, const Knowledge &knows) const {
  auto add = [&](Shared &to, const Shared &last, const Shared &from) {
    if (last == from || from == nothing)
      return;
    if (!to)
      to = from;
    else if (to.use_count() == 1)
      own(to).join(*from);
    else
      to = merge(to, from);
  };
  add(place.knows.done, place.last.done, knows.done);
  add(place.knows.visible, place.last.visible, knows.visible);
  add(place.knows.fenced, place.last.fenced, knows.fenced);
  add(place.knows.heard, place.last.heard, knows.heard);
  add(place.knows.reached, place.last.reached, knows.reached);
  place.last = knows;
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
  Knowledge &knows = views[thread].knows;
  auto learn = [&](Shared &known, const Shared &told) {
    if (told)
      known = join(known, told);
  };
  learn(knows.done, place.knows.done);
  learn(knows.visible, place.knows.visible);
  learn(knows.fenced, place.knows.fenced);
  learn(knows.heard, place.knows.heard);
  learn(knows.reached, place.knows.reached);
  if (watched) {
    views[thread].byWatched.join(place.byWatched);
    if (isWatched())
      views[thread].byWatched.join(place.knows);
  }
}

void HappensBefore::hear(Agent thread, const Clock &others) {
  Shared &heard = views[thread].knows.heard;
  if (!heard->covers(others))
    heard = merge(heard, std::make_shared<Clock>(others));
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
  view.knows.visible = view.knows.done;
  if (watched)
    view.byWatched.visible.join(view.byWatched.done);
  if (isWatched()) {
    view.byWatched.visible.join(*view.knows.done);
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
    view.byWatched.reached.join(*view.knows.done);
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
    raise(view.knows.reached, lane, view.knows.done->get(lane));
    if (watched)
      view.byWatched.reached.raise(lane,
                                   (isOwn ? *view.knows.done : view.byWatched.done).get(lane));
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
  queue.given = queue.behind = {nothing, nothing, nothing, nothing, nothing};
  queues.push_back(std::move(queue));
  return Agent(views.size() + queues.size() - 1);
}

Event HappensBefore::start(Agent queue, Agent thread, Proxy proxy) {
  Queue &of = queues[queue - views.size()];
  of.given = join(of.given, views[thread].knows);
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
  for (; !of.closed.empty() && of.closed.front().tick <= tick; of.closed.pop_front()) {
    const Queue::Closed &closed = of.closed.front();
    of.behind = closed.given;
    of.behindWatched.join(closed.byWatched);
    if (closed.isWatched)
      of.watched = closed.tick;
  }
  of.told = 0;
  tell(place, of.behind);
  place.time = std::max(place.time, of.time);
  raise(place.knows.done, queue, tick);
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
  return event.agent == thread || views[thread].knows.done->get(event.agent) >= event.tick;
}

bool HappensBefore::follows(Agent thread, const Event &event, const Event &earlier) const {
  if (event.proxy != Proxy::Tensor)
    return knows(thread, earlier);
  bool isUse = earlier.proxy == Proxy::Tensor;
  if (earlier.agent == event.agent || earlier.agent == thread ||
      (isUse && !isQueue(earlier.agent) && earlier.agent / lanes == thread / lanes))
    return true;
  const Knowledge &behind = views[thread].behind;
  return (isUse ? behind.fenced : behind.done)->get(earlier.agent) >= earlier.tick;
}

bool HappensBefore::finds(Agent thread, const Event &write) const {
  if (write.proxy != Proxy::Generic)
    return knows(thread, write);
  if (write.agent == thread)
    return views[thread].visible >= write.tick;
  return views[thread].knows.visible->get(write.agent) >= write.tick;
}

bool HappensBefore::isBehindWatched(Agent thread, const Event &event, const Event &earlier) const {
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
  return done.get(earlier.agent) >= earlier.tick;
}
