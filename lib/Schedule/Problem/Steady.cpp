// Waits for work in flight and uses of slots, once all stages run.
#include "Steady.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/Support/MathExtras.h"

using namespace kiln::schedule;
using llvm::SmallVector;

Steady::Steady(const Problem &problem, const Solution &solution)
    : problem(problem), solution(solution), placements(solution.ops) {
  sequences.resize(problem.roles.size());
  for (auto [op, placement] : llvm::enumerate(placements))
    sequences[placement.role].push_back(op);
  for (SmallVector<unsigned> &sequence : sequences)
    llvm::sort(sequence, [&](unsigned x, unsigned y) {
      return std::pair(getOrder(x), x) < std::pair(getOrder(y), y);
    });

  llvm::append_range(chainEnds, llvm::seq<unsigned>(0, placements.size()));
  SmallVector<unsigned> next = chainEnds;
  for (const Dependence &each : problem.dependences)
    if (each.kind == Dependence::Chain && each.distance == 0)
      next[each.from] = each.to;
  for (unsigned &end : chainEnds)
    while (isHeld(end) && next[end] != end)
      end = next[end];

  for (unsigned op = 0; op < placements.size(); ++op)
    waits.push_back(findWait(chainEnds[op]));
  seen.resize(placements.size());
  for (unsigned op = 0; op < placements.size(); ++op)
    if (problem.ops[op].completion == Completion::Counted && chainEnds[op] == op)
      findSeen(op);
}

int64_t Steady::getRow(unsigned op) const {
  const Placement &placement = placements[op];
  return placement.start - solution.origins[placement.role] - placement.stage * solution.interval;
}

bool Steady::holds(const Condition &condition) const {
  return placements[condition.to].start + condition.distance * solution.interval >=
         placements[condition.from].start + condition.latency;
}

//===- Waits --------------------------------------------------------------------------------===//

bool Steady::isHeld(unsigned op) const {
  return llvm::none_of(problem.dependences,
                       [&](const Dependence &each) { return waitsFor(each, op); });
}

WaitPoint Steady::findWait(unsigned op) const {
  const Placement &own = placements[op];
  int64_t end = sequences[own.role].size();
  std::optional<WaitPoint> first;
  auto consider = [&](int64_t stage, int64_t place) {
    if (!first || std::pair(stage, place) < std::pair(first->stage, first->place))
      first = {stage, place};
  };
  for (const Dependence &each : problem.dependences) {
    if (!waitsFor(each, op))
      continue;
    const Placement &user = placements[each.to];
    // What a later iteration uses is there at the end of the trip, if not before.
    if (each.distance == 0 || user.stage + each.distance == own.stage)
      consider(user.stage + each.distance, user.order);
    if (each.distance > 0)
      consider(own.stage, end);
  }
  return first.value_or(WaitPoint{own.stage, end});
}

SmallVector<unsigned> Steady::getStarts(unsigned op) const {
  SmallVector<unsigned> starts;
  for (unsigned other : sequences[placements[op].role])
    if (problem.ops[other].completion == Completion::Counted &&
        problem.ops[other].counter == problem.ops[op].counter)
      starts.append(problem.ops[other].starts, other);
  return starts;
}

int64_t Steady::countLater(unsigned op) const {
  WaitPoint wait = getWait(op);
  int64_t later = 0;
  for (unsigned start : getStarts(op))
    later += wait.stage - placements[op].stage + 1 - (getOrder(start) <= getOrder(op)) -
             (getOrder(start) >= wait.place);
  return later;
}

/// Trips after the wait's own until so few are in flight that an op's work is done.
int64_t Steady::countTripsHeld(unsigned op) const {
  int64_t others = placements[getChainEnd(op)].inFlight.value_or(0) - countLater(op);
  return llvm::divideCeil(std::max<int64_t>(others, 0), getStarts(op).size());
}

int64_t Steady::getMostInFlight(unsigned op) const {
  int64_t later = countLater(op);
  if (!isHeld(op) || !problem.isLoop)
    return later;
  // The first op of the next trip stands behind the wait.
  unsigned first = sequences[placements[op].role].front();
  int64_t late = getRow(op) + problem.ops[op].latency - getRow(first);
  int64_t trips =
      std::max<int64_t>(llvm::divideCeil(std::max<int64_t>(late, 0), solution.interval) - 1, 0);
  return later + trips * int64_t(getStarts(op).size());
}

/// What a wait sees done are all starts but as many of the latest as it leaves under way.
void Steady::findSeen(unsigned op) {
  WaitPoint wait = getWait(op);
  int64_t inFlight = placements[op].inFlight.value_or(0);
  SmallVector<unsigned> starts = getStarts(op);
  for (unsigned start : starts) {
    bool isOfTrip = getOrder(start) < wait.place;
    int64_t later = 0;
    for (unsigned other : starts) {
      bool isBehind = getOrder(other) > getOrder(start), isBefore = getOrder(other) < wait.place;
      later += isOfTrip ? isBehind && isBefore : isBehind || isBefore;
    }
    int64_t trips =
        !isOfTrip + llvm::divideCeil(std::max<int64_t>(inFlight - later, 0), starts.size());
    if (problem.isLoop || trips == 0)
      seen[op].push_back({start, trips});
  }
}

SmallVector<DoneEvent> Steady::getDoneEvents(unsigned op) const {
  auto makeEvent = [&](unsigned other, int64_t distance, int64_t latency, DoneEvent::Kind kind,
                       unsigned wait) {
    int64_t cycle = placements[other].start + distance * solution.interval + latency;
    return DoneEvent{{other, distance, cycle}, kind, op, wait};
  };
  SmallVector<DoneEvent> events{makeEvent(op, 0, problem.ops[op].latency, DoneEvent::Latency, op)};
  if (problem.ops[op].completion != Completion::Counted)
    return events;
  WaitPoint wait = getWait(op);
  int64_t trip = wait.stage + (isHeld(getChainEnd(op)) ? countTripsHeld(op) : 0);
  llvm::ArrayRef<unsigned> sequence = sequences[placements[op].role];
  // Work of one counter is done in order, and waits at one place wait for one another.
  for (unsigned other : sequence)
    if (waits[other].place == wait.place)
      for (const Seen &each : seen[other])
        events.push_back(makeEvent(each.op, trip - each.trips - placements[each.op].stage,
                                   problem.ops[each.op].latency, DoneEvent::Seen, other));
  bool isFirst = wait.place == 0;
  unsigned before = isFirst ? sequence.back() : sequence[wait.place - 1];
  events.push_back(makeEvent(before, trip - isFirst - placements[before].stage, 0,
                             DoneEvent::Before, getChainEnd(op)));
  return events;
}

Event Steady::getDone(unsigned op) const {
  SmallVector<DoneEvent> events = getDoneEvents(op);
  Event done = events.back();
  for (const Event &each : events)
    done.cycle = std::max(done.cycle, each.cycle);
  return done;
}

SmallVector<Condition> Steady::getWaitConditions(unsigned op) const {
  WaitPoint wait = getWait(op);
  llvm::ArrayRef<unsigned> sequence = sequences[placements[op].role];
  bool isEnd = wait.place == int64_t(sequence.size());
  SmallVector<Condition> conditions;
  if (isEnd && !problem.isLoop)
    return conditions;
  unsigned target = isEnd ? sequence.front() : sequence[wait.place];
  for (const Seen &each : seen[op])
    conditions.push_back(
        {each.op, target, problem.ops[each.op].latency,
         isEnd + each.trips + placements[each.op].stage - placements[target].stage});
  return conditions;
}

std::optional<Breach> Steady::findLateWork(unsigned op) const {
  for (const Condition &done : getWaitConditions(op)) {
    if (holds(done))
      continue;
    int64_t least = placements[done.from].start + done.latency - done.distance * solution.interval;
    return Breach{
        done, problem.at(op, "in_flight",
                         "expected a count that lets '" + problem.ops[done.to].name +
                             "' start before cycle " + std::to_string(least) +
                             ", when the wait has seen '" + problem.ops[done.from].name +
                             "' done, got " + std::to_string(placements[op].inFlight.value_or(0)) +
                             " and a start at " + std::to_string(placements[done.to].start))};
  }
  return std::nullopt;
}

//===- Rings --------------------------------------------------------------------------------===//

bool Steady::isReadFromRing(const Dependence &dependence) const {
  return dependence.kind == Dependence::Value &&
         (crossesRoles(dependence) || problem.ops[dependence.from].isBuffered);
}

bool Steady::hasRing(unsigned op) const {
  return llvm::any_of(problem.dependences, [&](const Dependence &each) {
    bool isContinuedThere =
        each.kind == Dependence::Chain && problem.ops[op].isBuffered && problem.isContinued(op);
    return each.from == op && (isReadFromRing(each) || isContinuedThere);
  });
}

Event Steady::getRelease(unsigned op) const {
  Event last{op, 0, placements[op].start};
  for (const Dependence &each : problem.dependences) {
    if (each.from != op || !isReadFromRing(each))
      continue;
    Event done = getDone(each.to);
    int64_t cycle = done.cycle + each.distance * solution.interval;
    if (cycle >= last.cycle)
      last = {done.op, done.distance + each.distance, cycle};
  }
  return last;
}

int64_t Steady::getLeastDepth(unsigned op) const {
  return problem.isLoop ? (getRelease(op).cycle - placements[op].start) / solution.interval + 1 : 1;
}

SmallVector<Condition> Steady::getReleaseConditions() const {
  SmallVector<Condition> conditions;
  for (const Dependence &each : problem.dependences) {
    if (!isReadFromRing(each) || !problem.isLoop)
      continue;
    for (const Event &free : getDoneEvents(each.to)) {
      int64_t start = placements[free.op].start + free.distance * solution.interval;
      conditions.push_back({free.op, each.from, free.cycle - start + 1,
                            placements[each.from].depth - each.distance - free.distance});
    }
  }
  return conditions;
}
