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

void HappensBefore::tell(Place &place, const Knowledge &knows) const {
  if (place.last.done != knows.done)
    place.done.join(*knows.done);
  if (place.last.visible != knows.visible)
    place.visible.join(*knows.visible);
  if (place.last.fenced != knows.fenced && knows.fenced != nothing)
    place.fenced.join(*knows.fenced);
  if (place.last.heard != knows.heard && knows.heard != nothing)
    place.heard.join(*knows.heard);
  if (place.last.reached != knows.reached && knows.reached != nothing)
    place.reached.join(*knows.reached);
  place.last = knows;
}

void HappensBefore::release(Agent thread, Place &place) {
  View &view = views[thread];
  tell(place, view.knows);
  if (!times.empty())
    place.time = std::max(place.time, times[thread]);
  view.told = view.tick;
  place.done.raise(thread, view.tick++);
  place.visible.raise(thread, view.visible);
  if (view.fenced)
    place.fenced.raise(thread, view.fenced);
  if (view.reached)
    place.reached.raise(thread, view.reached);
  place.acquired = {};
}

void HappensBefore::acquire(Agent thread, Place &place) {
  auto copy = [&](const Clock &clock) {
    return clock.isEmpty() ? nothing : std::make_shared<const Clock>(clock);
  };
  if (!place.acquired.done)
    place.acquired = {copy(place.done), copy(place.visible), copy(place.fenced), copy(place.heard),
                      copy(place.reached)};
  if (!times.empty())
    times[thread] = std::max(times[thread], place.time);
  Knowledge &knows = views[thread].knows;
  knows = join(knows, place.acquired);
}

void HappensBefore::hear(Agent thread, const Clock &others) {
  Shared &heard = views[thread].knows.heard;
  if (!heard->covers(others))
    heard = merge(heard, std::make_shared<const Clock>(others));
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
  view.visible = view.tick++;
}

void HappensBefore::fenceGlobal(Agent thread) {
  View &view = views[thread];
  view.knows.reached = view.knows.done;
  view.reached = view.tick++;
}

void HappensBefore::publishWarp(Agent thread) {
  Knowledge &knows = views[thread].knows;
  auto reached = std::make_shared<Clock>(*knows.reached);
  for (Agent lane = thread / lanes * lanes, end = lane + lanes; lane < end; ++lane)
    if (Tick done = knows.done->get(lane))
      reached->raise(lane, done);
  knows.reached = std::move(reached);
}

void HappensBefore::fenceBefore(Agent thread) { views[thread].fenced = views[thread].tick++; }

void HappensBefore::fenceAfter(Agent thread) { views[thread].behind = views[thread].knows; }

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
  if (!times.empty())
    of.time = std::max(of.time, times[thread]);
  return {queue, of.open, proxy};
}

Tick HappensBefore::close(Agent queue) {
  Queue &of = queues[queue - views.size()];
  of.closed.emplace_back(of.open, of.given);
  return of.open++;
}

void HappensBefore::end(Agent queue, Tick tick, Place &place) {
  Queue &of = queues[queue - views.size()];
  of.ended = std::max(of.ended, tick);
  for (; !of.closed.empty() && of.closed.front().first <= tick; of.closed.pop_front())
    of.behind = of.closed.front().second;
  of.told = 0;
  tell(place, of.behind);
  place.time = std::max(place.time, of.time);
  place.done.raise(queue, tick);
  place.fenced.raise(queue, tick);
  place.acquired = {};
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
