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

bool Clock::covers(const Clock &other) const {
  for (size_t i = 0; i < other.ticks.size(); ++i)
    if (other.ticks[i] > get(Agent(i)))
      return false;
  return true;
}

HappensBefore::HappensBefore(unsigned threads) : views(threads) {
  for (View &view : views)
    view.knows = {nothing, nothing};
}

size_t
HappensBefore::PairHash::operator()(const std::pair<const Clock *, const Clock *> &pair) const {
  auto first = reinterpret_cast<uintptr_t>(pair.first);
  auto second = reinterpret_cast<uintptr_t>(pair.second);
  return first / alignof(Clock) * 31 + second / alignof(Clock);
}

HappensBefore::Shared HappensBefore::join(const Shared &a, const Shared &b) {
  if (a == b)
    return a;
  auto make = [&]() -> Shared {
    if (b->covers(*a) || a->covers(*b))
      return b->covers(*a) ? b : a;
    auto made = std::make_shared<Clock>(*a);
    made->join(*b);
    return made;
  };
  // Of few agents that costs less than to look it up.
  constexpr size_t most = 1024, few = 64;
  if (a->size() <= few && b->size() <= few)
    return make();
  if (joined.size() > most)
    joined.clear();
  auto [at, isNew] = joined.try_emplace({a.get(), b.get()});
  if (isNew)
    at->second = {a, b, make()};
  return at->second.both;
}

//===- Threads ------------------------------------------------------------------------------===//

void HappensBefore::tell(Place &place, const Knowledge &knows) {
  if (place.last.done != knows.done)
    place.done.join(*knows.done);
  if (place.last.visible != knows.visible)
    place.visible.join(*knows.visible);
  place.last = knows;
}

void HappensBefore::release(Agent thread, Place &place) {
  View &view = views[thread];
  tell(place, view.knows);
  place.done.raise(thread, view.tick++);
  place.visible.raise(thread, view.fenced);
  place.told = {};
}

void HappensBefore::acquire(Agent thread, Place &place) {
  if (!place.told.done)
    place.told = {std::make_shared<const Clock>(place.done),
                  std::make_shared<const Clock>(place.visible)};
  Knowledge &knows = views[thread].knows;
  knows.done = join(knows.done, place.told.done);
  knows.visible = join(knows.visible, place.told.visible);
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
  view.fenced = view.tick++;
}

//===- Queues -------------------------------------------------------------------------------===//

Agent HappensBefore::addQueue() {
  Queue queue;
  queue.given = queue.behind = {nothing, nothing};
  queues.push_back(std::move(queue));
  return Agent(views.size() + queues.size() - 1);
}

Event HappensBefore::start(Agent queue, Agent thread, Proxy proxy) {
  Queue &of = queues[queue - views.size()];
  const Knowledge &knows = views[thread].knows;
  of.given = {join(of.given.done, knows.done), join(of.given.visible, knows.visible)};
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
  tell(place, of.behind);
  place.done.raise(queue, tick);
  place.told = {};
}

void HappensBefore::end(Agent queue, Tick tick, Agent thread) {
  Place place;
  end(queue, tick, place);
  acquire(thread, place);
}

bool HappensBefore::hasEnded(const Event &event) const {
  return !isQueue(event.agent) || event.tick <= queues[event.agent - views.size()].ended;
}

//===- What is known ------------------------------------------------------------------------===//

bool HappensBefore::knows(Agent thread, const Event &event) const {
  return event.agent == thread || views[thread].knows.done->get(event.agent) >= event.tick;
}

bool HappensBefore::finds(Agent thread, const Event &write) const {
  if (write.proxy == Proxy::Async)
    return knows(thread, write);
  if (write.agent == thread)
    return views[thread].fenced >= write.tick;
  return views[thread].knows.visible->get(write.agent) >= write.tick;
}
