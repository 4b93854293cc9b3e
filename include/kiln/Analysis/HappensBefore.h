// What happens before what, among threads that meet and engines that work beside them.
//
// Each agent, a thread or a queue of work of an engine, counts in ticks how often it has told
// others what it did. A clock holds, by agent, up to which tick all that it did has been done; who
// holds it may use what was done by then. Clocks go from agent to agent by places: barriers, words
// in memory, whatever one releases to and another acquires from (Lamport's order by the vector
// clocks of Fidge and Mattern; by events, as FastTrack has them, Flanagan and Freund, PLDI 2009).
//
// An engine reaches memory by a proxy of its own. What threads write by theirs it finds only behind
// a fence, on the way from the write to the engine's start, whoever executes it; so there are two
// clocks, and a fence raises the second to the first. Global memory has a fence and a clock of its
// own.
//
// What uses tensor memory is not ordered by what orders the threads that start it: a fence before a
// thread tells others holds its earlier accesses in front, and a fence behind what it heard its
// later ones behind. So there is a third clock, of those that stand in front of such a fence.
#ifndef KILN_ANALYSIS_HAPPENSBEFORE_H
#define KILN_ANALYSIS_HAPPENSBEFORE_H

#include <array>
#include <cstdint>
#include <memory>
#include <new>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

namespace kiln::analysis {

/// A thread, or a queue: work of an engine that ends in the order in which it was started.
using Agent = uint32_t;
using Tick = uint32_t;
enum class Proxy : uint8_t { Generic, Async, Tensor };

/// What an agent did between two of its ticks, through a proxy.
struct Event {
  Agent agent = 0;
  Tick tick = 0;
  Proxy proxy = Proxy::Generic;
  bool operator==(const Event &other) const {
    return agent == other.agent && tick == other.tick && proxy == other.proxy;
  }
};

/// Of each agent, up to which tick what it did is known. Who has the same knowledge holds the same
/// ticks, which are copied before they change for one of them. One thread at a time uses the clocks
/// of an order, so these are counted without locks.
class Clock {
public:
  Clock() = default;
  Clock(const Clock &other) : held(other.held) {
    if (held)
      ++held->holders;
  }
  Clock(Clock &&other) noexcept : held(std::exchange(other.held, nullptr)) {}
  Clock &operator=(Clock other) noexcept {
    std::swap(held, other.held);
    return *this;
  }
  ~Clock() { drop(); }

  Tick get(Agent agent) const { return agent < size() ? held->ticks()[agent] : 0; }
  void raise(Agent agent, Tick tick);
  void join(const Clock &other);
  /// Whether it has something that the other one has not, and the other one something that it has
  /// not.
  std::pair<bool, bool> compare(const Clock &other) const;
  /// Whether it knows all that another does.
  bool covers(const Clock &other) const { return !compare(other).second; }
  bool isEmpty() const { return !held; }
  size_t size() const { return held ? held->size : 0; }
  /// Whether both hold the same ticks, or none; and a name of these.
  bool isSame(const Clock &other) const { return held == other.held; }
  const void *getName() const { return held; }
  /// What both have: the ticks of one of them, if it has all.
  static Clock merge(const Clock &a, const Clock &b);

private:
  /// In front of so many ticks.
  struct Ticks {
    uint32_t holders, size;
    Tick *ticks() { return reinterpret_cast<Tick *>(this + 1); }
  };
  bool isAlone() const { return held->holders == 1; }
  /// Makes them its own, and at least so many.
  void own(size_t size);
  void drop() {
    if (held && --held->holders == 0)
      ::operator delete(held);
  }

  Ticks *held = nullptr;
};

/// What one knows: what was done, what of it an engine finds, what of accesses to tensor memory has
/// been told behind a fence, what was heard of agents of other orders (GridOrder.h), what of
/// global memory an engine finds, or others find who hear of it beyond a block, and of whom it is
/// known what they had read by then, but not what their threads had written.
struct Clocks {
  Clock done, visible, fenced, heard, reached, reads;
  void join(const Clocks &other);
};

/// Orders at some sites, of which is asked whether anything stands behind anything by way of them:
/// there was an access, then such an order, then an access that clashes without any order.
struct Watch {
  std::set<uint32_t> sites;
  uint64_t orders = 0, uses = 0; ///< how often threads came to one, and accesses stood behind it
};

class HappensBefore {
public:
  /// Threads are the first agents; so many that follow one another are a warp. Where nobody asks
  /// for uses of tensor memory, the clock of those need not be kept.
  explicit HappensBefore(unsigned threads, unsigned lanes = 1, bool keepsTensor = true);
  /// Where in the program the agents are that do something now, for reports.
  void setSite(uint32_t number) { site = number; }
  uint32_t getSite() const { return site; }
  /// Orders that are watched from now on.
  void watch(std::shared_ptr<Watch> orders) { watched = std::move(orders); }
  bool isWatching() const { return watched != nullptr; }
  /// Whether what a thread does now is a watched order.
  bool isWatched() const { return watched && watched->sites.count(site) && ++watched->orders; }
  /// Something stands behind a watched order.
  void noteUse() const { ++watched->uses; }
  /// Times by steps, once they are kept: a thread's goes on by one with each of its steps, and to
  /// that of whom it waits for (Lamport's clocks). What engines do takes no step.
  void keepTimes() { times.assign(views.size(), 0); }
  uint64_t getTime(Agent thread) const { return times[thread]; }
  void step(Agent thread) { ++times[thread]; }

  /// Where agents tell one another: all who acquire from it know what was released to it before.
  class Place {
  public:
    /// Up to which tick what an agent did is told here; and what is of agents of other orders.
    Tick told(Agent agent) const { return knows.done.get(agent); }
    Tick reachedBy(Agent agent) const { return knows.reached.get(agent); }
    const Clock &getHeard() const { return knows.heard; }
    const Clocks &getByWatched() const { return byWatched; }

  private:
    friend class HappensBefore;
    Clocks knows, last; ///< what was told here, and what was joined last
    Clocks byWatched;   ///< what is told by way of watched orders
    uint64_t time = 0;
  };
  /// Has a thread know what another one knows, and nothing else: it stands for a new one.
  void know(Agent thread, Agent like) { views[thread].knows = views[like].knows; }
  void release(Agent thread, Place &place);
  void acquire(Agent thread, Place &place);
  /// The same of what was read alone: a release, or an acquire, whose scope does not reach the
  /// other one's.
  void releaseReads(Agent thread, Place &place);
  void acquireReads(Agent thread, Place &place);
  /// A thread hears of agents of other orders; and what it has heard.
  void hear(Agent thread, const Clock &others);
  const Clock &heard(Agent thread) const { return views[thread].knows.heard; }
  /// All of them know what each of them did.
  void meet(const std::vector<Agent> &threads);
  /// An engine that this thread, or who hears of it, starts from now on finds what is known here.
  void fence(Agent thread);
  /// The same of global memory.
  void fenceGlobal(Agent thread);
  /// What the thread itself did up to now is visible, whatever it has heard of others; beyond those
  /// that it meets, too, or to these alone.
  void publish(Agent thread, bool isForAll);
  /// What all lanes of its warp did of which it knows, others find who hear of it beyond a block: a
  /// warp waits as one.
  void publishWarp(Agent thread);
  /// The thread's accesses to tensor memory up to now stand before what it tells from now on.
  void fenceBefore(Agent thread);
  /// Its accesses, and what products that it starts read elsewhere, from now on stand behind what
  /// it has heard.
  void fenceAfter(Agent thread);

  /// `work` names one piece of what it is given.
  Agent addQueue(const char *work = "work");
  const char *nameOf(Agent queue) const { return queues[queue - views.size()].work; }
  bool isQueue(Agent agent) const { return agent >= views.size(); }
  /// Work that a thread starts in a queue; all up to the next `close` ends together.
  Event start(Agent queue, Agent thread, Proxy proxy);
  Tick close(Agent queue);
  /// The same, by a thread that says so: an order.
  Tick commit(Agent queue);
  /// All that a queue was given up to a tick has ended, which is told at a place, or to a thread.
  /// So has what the threads that gave it knew by then; but of what they themselves did beside it,
  /// this says nothing.
  void end(Agent queue, Tick tick, Place &place);
  void end(Agent queue, Tick tick, Agent thread);
  bool hasEnded(const Event &event) const;

  /// What a thread does now.
  Event now(Agent thread, Proxy proxy = Proxy::Generic) const {
    return {thread, views[thread].tick, proxy};
  }
  /// Whether a thread has told anyone anything since it did something.
  bool hasTold(const Event &event) const { return views[event.agent].told >= event.tick; }
  /// Whether a thread knows that something was done.
  bool knows(Agent thread, const Event &event) const;
  /// Whether that was visible when it was told.
  bool sees(Agent thread, const Event &event) const {
    return event.agent == thread || views[thread].knows.visible.get(event.agent) >= event.tick;
  }
  /// Whether what a thread does, or starts, now stands behind something: it knows of that, and of
  /// uses of tensor memory the fences stand between, unless they are of one queue or one warp.
  bool follows(Agent thread, const Event &event, const Event &earlier) const;
  /// The same of a read.
  bool followsRead(Agent thread, const Event &event, const Event &read) const {
    return follows(thread, event, read) ||
           (event.proxy != Proxy::Tensor && knowsReads(thread, read));
  }
  /// Whether a thread has heard that something was done, if no more of it than that it has read.
  bool knowsReads(Agent thread, const Event &event) const {
    return views[thread].knows.reads.get(event.agent) >= event.tick;
  }
  /// Whether an engine that a thread starts now finds what was written, and in global memory.
  bool finds(Agent thread, const Event &write) const;
  bool findsGlobal(Agent thread, const Event &write) const {
    const View &view = views[thread];
    return (write.agent == thread && view.reached >= write.tick) ||
           view.knows.reached.get(write.agent) >= write.tick;
  }
  /// Whether what a thread does, or starts, now stands behind something, or finds it, by way of a
  /// watched order; and what it knows so.
  bool isBehindWatched(Agent thread, const Event &event, const Event &earlier,
                       bool isRead = false) const;
  const Clocks &knowsByWatched(Agent thread) const { return views[thread].byWatched; }

private:
  struct View {
    Clocks knows;
    Tick tick = 1, told = 0;
    /// Up to which tick others' engines find what it wrote, its accesses to tensor memory stand
    /// before what it tells, and engines, or all others, find what it wrote to global memory.
    Tick visible = 0, fenced = 0, reached = 0;
    Clocks behind; ///< what its uses of tensor memory stand behind
    /// The same, by way of watched orders.
    Clocks byWatched, behindWatched;
    Tick visibleByWatched = 0, fencedByWatched = 0, reachedByWatched = 0;
  };
  struct Queue {
    const char *work;
    Tick open = 1, ended = 0;
    uint64_t time = 0; ///< when it was given work last
    /// What those knew who gave it work: up to now, at the end of each tick, of those that ended.
    struct Closed {
      Tick tick;
      Clocks given;
      Clocks byWatched;
      bool isWatched; ///< itself
    };
    Clocks given;
    std::vector<Closed> closed;
    Clocks behind;
    Clocks givenByWatched, behindWatched;
    Tick watched = 0; ///< the last that has ended whose commit is watched
    /// What a thread was told of the end of this tick, if nothing has ended since.
    Tick told = 0;
    Place end;
  };
  void tell(Place &place, const Clocks &knows) const;
  void learn(Clock &known, const Clock &told);
  void learn(Clocks &known, const Clocks &told);
  const Clock &find(const Clock &a, const Clock &b);

  const unsigned lanes;
  const bool keepsTensor;
  uint32_t site = 0;
  std::shared_ptr<Watch> watched;
  std::vector<uint64_t> times; ///< by thread; empty if they are not kept
  std::vector<View> views;
  std::vector<Queue> queues;
  /// Many threads learn the same: what two clocks make is kept for a while.
  struct Joined {
    Clock a, b, both;
  };
  using Names = std::pair<const void *, const void *>;
  struct HashNames {
    size_t operator()(const Names &names) const;
  };
  std::unordered_map<Names, Joined, HashNames> joined;
  std::array<Joined, 2> recent;
};

} // namespace kiln::analysis

#endif // KILN_ANALYSIS_HAPPENSBEFORE_H
