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
// clocks, and a fence raises the second to the first.
#ifndef KILN_ANALYSIS_HAPPENSBEFORE_H
#define KILN_ANALYSIS_HAPPENSBEFORE_H

#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

namespace kiln::analysis {

/// A thread, or a queue: work of an engine that ends in the order in which it was started.
using Agent = uint32_t;
using Tick = uint32_t;
enum class Proxy : uint8_t { Generic, Async };

/// What an agent did between two of its ticks, through a proxy.
struct Event {
  Agent agent = 0;
  Tick tick = 0;
  Proxy proxy = Proxy::Generic;
  bool operator==(const Event &other) const {
    return agent == other.agent && tick == other.tick && proxy == other.proxy;
  }
};

class Clock {
public:
  Tick get(Agent agent) const { return agent < ticks.size() ? ticks[agent] : 0; }
  void raise(Agent agent, Tick tick);
  void join(const Clock &other);
  /// Whether it has all that the other one has.
  bool covers(const Clock &other) const;
  size_t size() const { return ticks.size(); }

private:
  std::vector<Tick> ticks;
};

/// What one knows: what was done, and what of it an engine finds.
struct Knowledge {
  std::shared_ptr<const Clock> done, visible;
};

class HappensBefore {
public:
  /// Threads are the first agents.
  explicit HappensBefore(unsigned threads);

  /// Where agents tell one another: all who acquire from it know what was released to it before.
  class Place {
    friend class HappensBefore;
    Clock done, visible;
    /// What was joined last, and a copy of both for who acquires, null if it is out of date.
    Knowledge last, told;
  };
  void release(Agent thread, Place &place);
  void acquire(Agent thread, Place &place);
  /// All of them know what each of them did.
  void meet(const std::vector<Agent> &threads);
  /// An engine that this thread, or who hears of it, starts from now on finds what is known here.
  void fence(Agent thread);

  Agent addQueue();
  bool isQueue(Agent agent) const { return agent >= views.size(); }
  /// Work that a thread starts in a queue; all up to the next `close` ends together.
  Event start(Agent queue, Agent thread, Proxy proxy);
  Tick close(Agent queue);
  /// All that a queue was given up to a tick has ended, which is told at a place, or to a thread.
  /// So has what the threads that gave it knew by then; but of what they themselves did beside it,
  /// this says nothing.
  void end(Agent queue, Tick tick, Place &place);
  void end(Agent queue, Tick tick, Agent thread);
  bool hasEnded(const Event &event) const;

  /// What a thread does now.
  Event now(Agent thread) const { return {thread, views[thread].tick, Proxy::Generic}; }
  /// Whether a thread knows that something was done.
  bool knows(Agent thread, const Event &event) const;
  /// Whether an engine that a thread starts now finds what was written.
  bool finds(Agent thread, const Event &write) const;

private:
  using Shared = std::shared_ptr<const Clock>;
  struct View {
    Knowledge knows;
    Tick tick = 1, fenced = 0;
  };
  struct Queue {
    Tick open = 1, ended = 0;
    /// What those knew who gave it work: up to now, at the end of each tick, of those that ended.
    Knowledge given;
    std::deque<std::pair<Tick, Knowledge>> closed;
    Knowledge behind;
  };
  static void tell(Place &place, const Knowledge &knows);
  struct PairHash {
    size_t operator()(const std::pair<const Clock *, const Clock *> &pair) const;
  };
  Shared join(const Shared &a, const Shared &b);

  const Shared nothing = std::make_shared<const Clock>();
  std::vector<View> views;
  std::vector<Queue> queues;
  /// Many threads learn the same: what two clocks make is kept for a while.
  struct Joined {
    Shared a, b, both;
  };
  std::unordered_map<std::pair<const Clock *, const Clock *>, Joined, PairHash> joined;
};

} // namespace kiln::analysis

#endif // KILN_ANALYSIS_HAPPENSBEFORE_H
