// Makes clauses of broken limits.
#include "Lessons.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

using namespace kiln::schedule;
using llvm::SmallVector;
using llvm::SmallVectorImpl;

static std::optional<int64_t> findPinnedCount(const Problem &problem, const Steady &steady,
                                              unsigned end) {
  for (auto [op, its] : llvm::enumerate(problem.ops))
    if (its.pins.inFlight && steady.getChainEnd(op) == end)
      return its.pins.inFlight;
  return std::nullopt;
}

static bool isChainEnd(const Problem &problem, const Steady &steady, unsigned op) {
  return problem.ops[op].completion == Completion::Counted && steady.getChainEnd(op) == op;
}

static void setCount(const Steady &steady, Solution &solution, unsigned end, int64_t count) {
  for (auto [op, placement] : llvm::enumerate(solution.ops))
    if (placement.inFlight && steady.getChainEnd(op) == end)
      placement.inFlight = count;
}

/// Held work goes on for more trips where others of its counter would hold up the wait.
static void holdLonger(const Problem &problem, Solution &solution, unsigned end) {
  while (true) {
    Steady steady(problem, solution);
    if (!steady.isHeld(end) || !problem.isLoop || findPinnedCount(problem, steady, end) ||
        !steady.findLateWork(end))
      return;
    const Counter &counter = problem.counters[problem.ops[end].counter];
    int64_t most = counter.limit.value_or(kMostTrips), count = *solution.ops[end].inFlight;
    if (count >= most)
      return;
    setCount(steady, solution, end, std::min<int64_t>(most, count + steady.getStarts(end).size()));
  }
}

void kiln::schedule::completeCounts(const Problem &problem, Solution &solution) {
  setMostInFlight(problem, solution);
  Steady steady(problem, solution);
  for (unsigned op = 0; op < problem.ops.size(); ++op)
    if (isChainEnd(problem, steady, op))
      holdLonger(problem, solution, op);
  setLeastDepths(problem, solution);
  // Slots that the interval does not ask for may keep roles from waiting for one another.
  for (size_t round = 0; round < problem.ops.size(); ++round) {
    Steady counted(problem, solution);
    std::optional<Violation> found = findDeadlock(problem, solution, counted);
    if (!found || !found->leastDepth || !found->op)
      return;
    unsigned op = *found->op;
    if (problem.isContinued(op) || problem.ops[op].pins.depth ||
        *found->leastDepth <= solution.ops[op].depth)
      return;
    solution.ops[op].depth = *found->leastDepth;
  }
}

//===- Facts --------------------------------------------------------------------------------===//

/// The ops whose order and stages say where the wait for a chain's last op stands, and what it
/// sees.
void Lessons::addWait(Facts &facts, unsigned end) const {
  facts.insert(end);
  for (unsigned start : steady.getStarts(end))
    facts.insert(start);
  for (const Dependence &each : problem.dependences)
    if (each.from == end && each.kind != Dependence::Chain && !steady.crossesRoles(each))
      facts.insert(each.to);
}

/// That these ops of one role stand behind one another as they do, or else.
void Lessons::addOrder(const Facts &facts, SmallVectorImpl<Term> &unless) {
  SmallVector<unsigned> sequence(facts.begin(), facts.end());
  llvm::sort(sequence,
             [&](unsigned x, unsigned y) { return solution.ops[x].order < solution.ops[y].order; });
  for (auto [one, other] : llvm::zip(sequence, llvm::drop_begin(sequence)))
    unless.push_back(smt.negate(model.isBefore(one, other)));
}

/// That they are at these stages besides, or else.
void Lessons::addFacts(const Facts &facts, SmallVectorImpl<Term> &unless) {
  addOrder(facts, unless);
  for (unsigned op : llvm::ArrayRef(facts.getArrayRef()).drop_front()) {
    int64_t stages = solution.ops[op].stage - solution.ops[facts.front()].stage;
    unless.push_back(model.isBehindAtLeast(op, facts.front(), stages + 1));
    unless.push_back(smt.negate(model.isBehindAtLeast(op, facts.front(), stages)));
  }
}

/// Whether work is held for trips that a smaller count would not hold it for.
bool Lessons::isHeldFurther(unsigned end) const {
  return steady.isHeld(end) && problem.isLoop && !findPinnedCount(problem, steady, end) &&
         *solution.ops[end].inFlight > steady.countLater(end);
}

/// Whether no other count would have had an event earlier, but for those that explain() looks at.
bool Lessons::isCertain(const DoneEvent &event) const {
  return event.kind != DoneEvent::Seen || event.wait == steady.getChainEnd(event.of) ||
         !steady.isHeld(event.wait) || findPinnedCount(problem, steady, event.wait).has_value();
}

/// What else would be if something were not known to be done as late as this.
void Lessons::explain(const DoneEvent &event, SmallVectorImpl<Term> &unless) {
  if (event.kind == DoneEvent::Latency || event.kind == DoneEvent::Used)
    return;
  unsigned end = steady.getChainEnd(event.of);
  Facts facts;
  addWait(facts, end);
  if (event.kind == DoneEvent::Seen)
    addWait(facts, event.wait);
  else
    facts.insert(event.op);
  addFacts(facts, unless);
  if (event.kind != DoneEvent::Before || !isHeldFurther(end))
    return;
  // With a smaller count it would be known earlier, were the wait not held up then.
  Solution other = solution;
  setCount(steady, other, end,
           std::max<int64_t>(0, *solution.ops[end].inFlight - steady.getStarts(end).size()));
  Steady shorter(problem, other);
  for (const Condition &condition : shorter.getWaitConditions(end))
    if (!shorter.holds(condition)) {
      unless.push_back(model.needs(condition));
      for (unsigned op : steady.getSequence(solution.ops[end].role).drop_front())
        unless.push_back(smt.negate(model.isBefore(condition.to, op)));
      return;
    }
}

void Lessons::teach(llvm::ArrayRef<Term> unless) {
  smt.require(smt.any(unless));
  learned = true;
}

//===- Limits -------------------------------------------------------------------------------===//

/// Why a wait stands where it does, as far as it matters to one that comes too early: orders, which
/// user is the first, and that it is no more stages behind if that decides the count.
void Lessons::explainWait(unsigned end, SmallVectorImpl<Term> &unless) {
  const Placement &own = solution.ops[end];
  llvm::ArrayRef<unsigned> sequence = steady.getSequence(own.role);
  WaitPoint wait = steady.getWait(end);
  Facts users, facts;
  bool isOfLater = false;
  facts.insert(end);
  for (unsigned start : steady.getStarts(end))
    facts.insert(start);
  for (const Dependence &each : problem.dependences) {
    if (each.from != end || each.kind == Dependence::Chain || steady.crossesRoles(each))
      continue;
    users.insert(each.to);
    isOfLater |= each.distance > 0;
  }
  if (isOfLater) {
    addWait(facts, end);
    addFacts(facts, unless);
    return;
  }
  bool isHeld = users.empty();
  if (!isHeld)
    facts.insert(sequence[wait.place]);
  addOrder(facts, unless);
  for (unsigned user : users) {
    unsigned first = sequence[wait.place];
    if (user != first)
      unless.push_back(smt.negate(smt.any(
          {model.isBehindAtLeast(user, first, 1),
           smt.all({model.isBehindAtLeast(user, first, 0), model.isBefore(first, user)})})));
  }
  bool isLimited = findPinnedCount(problem, steady, end) ||
                   *own.inFlight == problem.counters[problem.ops[end].counter].limit;
  bool isTooMany = *own.inFlight > steady.countLater(end);
  if (!isHeld && (!isLimited || isTooMany))
    unless.push_back(model.isBehindAtLeast(sequence[wait.place], end, wait.stage - own.stage + 1));
}

/// A count that is no count of starts, or work that is not done when a wait has seen it done. With
/// fewer under way the wait would see more.
void Lessons::learnCounts(unsigned end) {
  SmallVector<Term> unless;
  explainWait(end, unless);
  if (*solution.ops[end].inFlight > steady.countLater(end) &&
      (!steady.isHeld(end) || !problem.isLoop)) {
    teach(unless);
    return;
  }
  bool isAtEnd =
      steady.getWait(end).place == int64_t(steady.getSequence(solution.ops[end].role).size());
  for (Condition condition : steady.getWaitConditions(end)) {
    if (steady.holds(condition))
      continue;
    condition.distance += solution.ops[condition.to].stage - solution.ops[condition.from].stage;
    // All of the next trip stands behind a wait at a trip's end.
    SmallVector<Term> all;
    if (isAtEnd)
      for (unsigned op : steady.getSequence(solution.ops[end].role))
        all.push_back(
            model.needsInTrip({condition.from, op, condition.latency, condition.distance}));
    else
      all.push_back(model.needsInTrip(condition));
    SmallVector<Term> clause(unless);
    clause.push_back(smt.all(all));
    teach(clause);
  }
}

/// Why a ring needs more than so many slots; false if nobody knows.
bool Lessons::explainRing(unsigned op, int64_t depth, SmallVectorImpl<Term> &unless) {
  std::optional<DoneEvent> worst;
  for (const Dependence &each : problem.dependences) {
    if (each.from != op || !steady.isReadFromRing(each))
      continue;
    for (DoneEvent event : steady.getDoneEvents(each.to)) {
      event.distance += each.distance;
      event.cycle += each.distance * solution.interval;
      if (isCertain(event) && (!worst || event.cycle > worst->cycle))
        worst = event;
    }
  }
  int64_t start = solution.ops[op].start;
  if (!worst || worst->cycle - start < depth * solution.interval)
    return false;
  explain(*worst, unless);
  int64_t latency =
      worst->cycle - solution.ops[worst->op].start - worst->distance * solution.interval;
  unless.push_back(model.needs({worst->op, op, latency + 1, depth - worst->distance}));
  return true;
}

void Lessons::learnDepths(unsigned op) {
  std::optional<int64_t> depth = problem.ops[op].pins.depth;
  if (!steady.hasRing(op) && depth)
    teach({}); // there is none in these roles
  if (!steady.hasRing(op) || !problem.isLoop)
    return;
  if (problem.isContinued(op))
    depth = 1;
  SmallVector<Term> unless;
  if (depth && steady.getLeastDepth(op) > *depth && explainRing(op, *depth, unless))
    teach(unless);
}

/// Of slots as few as overdraw the budget, one ring must do with one less.
void Lessons::learnBudget(int64_t (*getDemanded)(const Demand &), std::optional<int64_t> budget) {
  auto isOver = [&](const Solution &other) {
    return budget && getDemanded(getDemand(problem, other)) > *budget;
  };
  if (!isOver(solution))
    return;
  Solution least = solution;
  for (unsigned op = 0; op < problem.ops.size(); ++op)
    for (int64_t &depth = least.ops[op].depth; depth > 1; --depth) {
      Solution other = least;
      --other.ops[op].depth;
      if (!isOver(other))
        break;
    }
  SmallVector<Term> unless;
  for (unsigned op = 0; op < problem.ops.size(); ++op)
    if (int64_t depth = least.ops[op].depth; depth > 1)
      certain &= explainRing(op, depth - 1, unless);
  teach(unless);
}

/// Of results that are live together at the start of one of them, as few as overdraw the budget
/// must not all be.
void Lessons::learnRegisters(unsigned role) {
  std::optional<int64_t> budget = problem.roles[role].registerBytes;
  if (!budget || getDemand(problem, solution).registerBytes[role] <= *budget)
    return;
  SmallVector<unsigned> ops;
  SmallVector<std::optional<DoneEvent>> ends(problem.ops.size());
  for (unsigned op = 0; op < problem.ops.size(); ++op) {
    if (solution.ops[op].role != role || !problem.ops[op].registerBytes)
      continue;
    for (const DoneEvent &use : getLastUses(problem, solution, steady, op))
      if (isCertain(use) && (!ends[op] || use.cycle > ends[op]->cycle))
        ends[op] = use;
    if (ends[op])
      ops.push_back(op);
  }
  auto getBytes = [&](unsigned op) { return problem.ops[op].registerBytes; };
  llvm::sort(ops, [&](unsigned x, unsigned y) {
    return std::pair(getBytes(x), x) < std::pair(getBytes(y), y);
  });
  int64_t interval = solution.interval;
  for (unsigned last : ops) {
    int64_t now = solution.ops[last].start, bytes = 0;
    // Iterations whose result is live now; so many are at each cycle, wherever it lies.
    SmallVector<int64_t> live(problem.ops.size(), 0), always = live, newest = live;
    for (unsigned op : ops) {
      int64_t start = solution.ops[op].start;
      newest[op] = llvm::divideFloorSigned(now - start, interval);
      for (int64_t trip = newest[op]; ends[op]->cycle + trip * interval > now; --trip)
        ++live[op];
      always[op] = std::max<int64_t>(0, ends[op]->cycle - start) / interval;
      bytes += live[op] * getBytes(op);
    }
    if (bytes <= *budget)
      continue;
    for (const SmallVector<int64_t> &least : {always, SmallVector<int64_t>(live.size(), 0)})
      for (unsigned op : ops)
        for (; live[op] > least[op] && bytes - getBytes(op) > *budget; --live[op])
          bytes -= getBytes(op);
    SmallVector<Term> unless;
    for (unsigned op : ops) {
      if (live[op] == 0)
        continue;
      const DoneEvent &end = *ends[op];
      explain(end, unless);
      int64_t latency = end.cycle - solution.ops[end.op].start - end.distance * interval;
      if (live[op] <= always[op]) { // it lives shorter
        unless.push_back(model.needs({end.op, op, latency + 1, live[op] - end.distance}));
        continue;
      }
      // The oldest is over by the time that the last one starts, or the newest has not started.
      int64_t oldest = newest[op] - live[op] + 1;
      unless.push_back(model.needs({end.op, last, latency, -oldest - end.distance}));
      if (op != last)
        unless.push_back(model.needs({last, op, 1, newest[op]}));
    }
    teach(unless);
    return;
  }
}

/// These starts alone.
void Lessons::exclude() {
  SmallVector<Term> unless;
  for (auto [op, placement] : llvm::enumerate(solution.ops)) {
    int64_t trip = llvm::divideFloorSigned(placement.start, solution.interval);
    unless.push_back(
        smt.negate(model.startsAt(op, trip, placement.start - trip * solution.interval)));
  }
  teach(unless);
  certain = false;
}

bool Lessons::learn() {
  for (unsigned op = 0; op < problem.ops.size(); ++op) {
    if (isChainEnd(problem, steady, op))
      learnCounts(op);
    learnDepths(op);
  }
  for (unsigned role = 0; role < problem.roles.size() && !learned; ++role)
    learnRegisters(role);
  if (!learned) {
    const Budget &budget = problem.budget;
    learnBudget([](const Demand &demand) { return demand.sharedBytes; }, budget.sharedBytes);
    learnBudget([](const Demand &demand) { return demand.tensorColumns; }, budget.tensorColumns);
    learnBudget([](const Demand &demand) { return demand.namedBarriers; }, budget.namedBarriers);
  }
  if (!learned)
    exclude();
  return certain;
}
