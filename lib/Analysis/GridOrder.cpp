// Releases, and who has heard of them.
#include "kiln/Analysis/GridOrder.h"
#include <algorithm>
#include <utility>

using namespace kiln::analysis;

/// Threads of a run whose releases are told apart, and releases of each.
static constexpr size_t kMostReleasers = 8, kMostReleases = 256;

Run GridOrder::begin(std::shared_ptr<HappensBefore> order, unsigned threadsOfBlock) {
  State state;
  state.order = std::move(order);
  state.threadsOfBlock = threadsOfBlock;
  runs.push_back(std::move(state));
  return Run(runs.size() - 1);
}

void GridOrder::end(Run run) {
  State state;
  state.releasers = std::move(runs[run].releasers);
  runs[run] = std::move(state);
}

//===- Words --------------------------------------------------------------------------------===//

Clock *GridOrder::find(Run run, Agent thread, uint64_t word, int far, bool make) {
  State &own = runs[run];
  std::unordered_map<uint64_t, Clock> *all = far == 2 ? &words : &own.words;
  if (far == 0) {
    size_t block = thread / own.threadsOfBlock;
    if (own.wordsOfBlocks.size() <= block)
      own.wordsOfBlocks.resize(block + 1);
    all = &own.wordsOfBlocks[block];
  }
  if (make)
    return &(*all)[word];
  auto at = all->find(word);
  return at == all->end() ? nullptr : &at->second;
}

/// How far a release of a scope is told, by the number of the clock.
static int reachOf(Scope scope) { return int(scope) - int(Scope::Block); }

void GridOrder::look(Run run, Agent thread, uint64_t word, bool acquires, Scope scope) {
  for (int far = 0; far <= reachOf(scope); ++far) {
    const Clock *told = find(run, thread, word, far, /*make=*/false);
    if (!told || told->isEmpty())
      continue;
    if (acquires)
      hear(run, thread, *told);
    else
      runs[run].fences[thread].looked[far].join(*told);
  }
}

void GridOrder::tell(Run run, Agent thread, uint64_t word, bool alone, bool releases, Scope scope) {
  // It goes on with no release that was there.
  for (int far = 0; alone && far <= reachOf(Scope::Grid); ++far)
    if (Clock *told = find(run, thread, word, far, /*make=*/false))
      *told = {};
  auto fences = runs[run].fences.find(thread);
  if (!releases && fences == runs[run].fences.end())
    return;
  if (!releases && std::exchange(fences->second.isForBlock, false))
    fences->second.released[0] = release(run, thread, Scope::Block);
  Clock made = releases ? release(run, thread, scope) : Clock();
  for (int far = 0; far <= reachOf(scope); ++far)
    if (const Clock &told = releases ? made : fences->second.released[far]; !told.isEmpty())
      find(run, thread, word, far, /*make=*/true)->join(told);
}

void GridOrder::fence(Run run, Agent thread, bool acquires, bool releases, Scope scope) {
  if (scope == Scope::Thread)
    return;
  Fences &own = runs[run].fences[thread];
  for (int far = 0; acquires && far <= reachOf(scope); ++far)
    hear(run, thread, own.looked[far]);
  if (!releases)
    return;
  publish(run, thread, blockFencesWait || scope != Scope::Block);
  own.isForBlock = scope == Scope::Block;
  if (own.isForBlock)
    return;
  Clock made = release(run, thread, scope);
  for (int far = 0; far <= reachOf(scope); ++far)
    own.released[far] = made;
}

//===- Releases -----------------------------------------------------------------------------===//

Clock GridOrder::release(Run run, Agent thread, Scope scope) {
  State &own = runs[run];
  Agent as =
      own.byThread.count(thread) || own.byThread.size() < kMostReleasers ? thread : ~Agent(0);
  auto [at, isNew] = own.byThread.try_emplace(as, Releaser(releases.size()));
  Releaser releaser = at->second;
  if (isNew) {
    own.releasers.push_back(releaser);
    releases.emplace_back();
  }
  std::vector<HappensBefore::Place> &all = releases[releaser].all;
  if (all.empty() || (as == thread && all.size() < kMostReleases))
    all.emplace_back();
  publish(run, thread, blockFencesWait || scope != Scope::Block);
  if (isBare && !blockFencesWait && scope != Scope::Block)
    own.order->publishWarp(thread);
  own.order->release(thread, all.back());
  if (scope == Scope::Grid)
    releases[releaser].widest = Tick(all.size());
  Clock made = all.back().getHeard();
  made.raise(placeOf(releaser), Tick(all.size()));
  return made;
}

void GridOrder::hear(Run run, Agent thread, const Clock &told) {
  HappensBefore &order = *runs[run].order;
  if (order.heard(thread).covers(told))
    return;
  // What threads of its own run have told it knows as from any of them.
  for (Releaser releaser : runs[run].releasers)
    if (Tick tick = told.get(placeOf(releaser)); tick > order.heard(thread).get(placeOf(releaser)))
      order.acquire(thread, releases[releaser].all[tick - 1]);
  order.hear(thread, told);
}

void GridOrder::publish(Run run, Agent thread, bool isForAll) {
  if (isBare)
    runs[run].order->publish(thread, isForAll);
}

bool GridOrder::knows(Run run, Agent thread, const GridEvent &earlier, bool isRead) const {
  const HappensBefore &order = *runs[run].order;
  const Event &event = earlier.event;
  bool mustBePublished = isBare && !isRead;
  if (earlier.run == run)
    return mustBePublished ? order.sees(thread, event) : order.knows(thread, event);
  const Clock &heard = order.heard(thread);
  return std::any_of(runs[earlier.run].releasers.begin(), runs[earlier.run].releasers.end(),
                     [&](Releaser releaser) {
                       Tick tick = heard.get(placeOf(releaser));
                       if (!tick)
                         return false;
                       const HappensBefore::Place &told = releases[releaser].all[tick - 1];
                       return (mustBePublished ? told.reachedBy(event.agent)
                                               : told.told(event.agent)) >= event.tick;
                     });
}

bool GridOrder::isBehindWatched(const GridEvent &event, Agent thread,
                                const GridEvent &earlier) const {
  const HappensBefore &order = *runs[event.run].order;
  const Clocks &known = order.knowsByWatched(thread);
  const Event &other = earlier.event;
  if (earlier.run == event.run)
    return order.isBehindWatched(thread, event.event, other) ||
           (isBare && other.agent != thread && known.visible.get(other.agent) >= other.tick);
  // In the program that told of it, or in the one that has heard.
  const std::vector<Releaser> &all = runs[earlier.run].releasers;
  return std::any_of(all.begin(), all.end(), [&](Releaser releaser) {
    auto tells = [&](Tick tick, bool byWatched) {
      if (!tick)
        return false;
      const HappensBefore::Place &told = releases[releaser].all[tick - 1];
      return (byWatched ? told.getByWatched().done.get(other.agent) : told.told(other.agent)) >=
             other.tick;
    };
    return tells(order.heard(thread).get(placeOf(releaser)), true) ||
           tells(known.heard.get(placeOf(releaser)), false);
  });
}

void GridOrder::fenceProxy(Run run, Agent thread) {
  HappensBefore &order = *runs[run].order;
  order.fenceGlobal(thread);
  Clock reached = order.heard(thread);
  for (Agent at = 0; at < reached.size(); at += 2)
    if (Tick tick = reached.get(at))
      reached.raise(at + 1, tick);
  order.hear(thread, reached);
}

bool GridOrder::finds(Run run, Agent thread, const GridEvent &write) const {
  const HappensBefore &order = *runs[run].order;
  const Event &event = write.event;
  if (event.proxy == Proxy::Async)
    return true;
  if (write.run == run && order.findsGlobal(thread, event))
    return true;
  const Clock &heard = order.heard(thread);
  // A fence on this side, or in front of what was told on that one.
  return std::any_of(runs[write.run].releasers.begin(), runs[write.run].releasers.end(),
                     [&](Releaser releaser) {
                       const std::vector<HappensBefore::Place> &all = releases[releaser].all;
                       Tick reached = heard.get(placeOfReached(releaser));
                       Tick told = heard.get(placeOf(releaser));
                       return (reached && all[reached - 1].told(event.agent) >= event.tick) ||
                              (told && all[told - 1].reachedBy(event.agent) >= event.tick);
                     });
}

bool GridOrder::hasTold(const GridEvent &event) const {
  const std::vector<Releaser> &all = runs[event.run].releasers;
  return std::any_of(all.begin(), all.end(), [&](Releaser releaser) {
    const auto &[told, widest] = releases[releaser];
    return widest && told[widest - 1].told(event.event.agent) >= event.event.tick;
  });
}
