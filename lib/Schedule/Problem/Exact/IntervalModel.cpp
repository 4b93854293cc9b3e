// The conditions of one interval.
#include "IntervalModel.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/Support/MathExtras.h"

using namespace kiln::schedule;
using llvm::ArrayRef;
using llvm::SmallVector;

IntervalModel::IntervalModel(const SmtLibrary &library, const Problem &problem,
                             ArrayRef<unsigned> roles, int64_t interval)
    : problem(problem), roles(roles), interval(interval), smt(library) {
  size_t count = problem.ops.size();
  starts.resize(count);
  turns.assign(count, nullptr);
  wraps.assign(count, nullptr);
  places.assign(count, nullptr);
  begins.resize(problem.roles.size());
  for (unsigned role = 0; role < problem.roles.size(); ++role) {
    framed.push_back(isFramed(role));
    ordered.push_back(llvm::any_of(llvm::seq<unsigned>(0, count), [&, role](unsigned op) {
      const Op &its = problem.ops[op];
      return roles[op] == role && (its.completion == Completion::Counted || its.pins.order);
    }));
  }
  for (Start &start : starts)
    start = makeStart();
  addFrames();
  Graph graph(problem, roles);
  for (const Edge &edge : graph.getEdges())
    if (graph.isOp(edge.from) && graph.isOp(edge.to))
      require(needs(edge));
  for (unsigned role = 0; role < problem.roles.size(); ++role)
    if (ordered[role])
      addOrders(role);
  addPins();
  addUnits();
}

/// Whether it matters where a role's trip begins.
bool IntervalModel::isFramed(unsigned role) const {
  if (problem.mostStages || !problem.isLoop)
    return true;
  return llvm::any_of(llvm::zip(problem.ops, roles), [&](auto pair) {
    auto &[op, its] = pair;
    return its == role && (op.completion == Completion::Counted || op.pins.stage || op.pins.order);
  });
}

//===- Starts and trips ---------------------------------------------------------------------===//

/// Where no start lies in so many intervals that no latency is longer, all that follows can come
/// earlier: by whole intervals, which leaves rows as they are. So there is no need for trips that
/// are further apart.
int64_t IntervalModel::getMostTrips() const {
  int64_t latency = 0, distance = 0;
  for (const Op &op : problem.ops)
    latency = std::max(latency, op.latency);
  for (const Dependence &each : problem.dependences) {
    latency = std::max(latency, each.latency.value_or(0));
    distance = std::max(distance, each.distance);
  }
  int64_t gap = llvm::divideCeil(latency + interval, interval) + distance + 1;
  return gap * int64_t(starts.size() + begins.size());
}

IntervalModel::Start IntervalModel::makeStart() {
  Start start{smt.makeNumber(), smt.makeNumber()};
  require(smt.isAtLeast(start.row, nullptr, 0));
  require(smt.isAtMost(start.row, nullptr, interval - 1));
  require(smt.isAtLeast(start.trip, nullptr, -getMostTrips()));
  require(smt.isAtMost(start.trip, nullptr, getMostTrips()));
  return start;
}

/// The first framed role begins at cycle 0: all times can be shifted together.
void IntervalModel::addFrames() {
  bool hasOrigin = false;
  for (unsigned role = 0; role < problem.roles.size(); ++role) {
    if (!framed[role])
      continue;
    Start &begin = begins[role];
    if (hasOrigin)
      begin = makeStart();
    SmallVector<Term> isFirst;
    for (unsigned op = 0; op < problem.ops.size(); ++op) {
      if (roles[op] != role)
        continue;
      turns[op] = starts[op].trip;
      if (hasOrigin) {
        turns[op] = smt.makeNumber();
        wraps[op] = smt.makeNumber();
        Term isInFront = smt.negate(smt.isAtLeast(starts[op].row, begin.row, 0));
        // In front of the begin's row it is of the trip that began in the interval before.
        for (bool inFront : {false, true}) {
          Term isOther = inFront ? smt.negate(isInFront) : isInFront;
          require(smt.any({isOther, smt.isAtLeast(starts[op].trip, turns[op], inFront)}));
          require(smt.any({isOther, smt.isAtMost(starts[op].trip, turns[op], inFront)}));
          require(smt.any({isOther, smt.isAtLeast(wraps[op], nullptr, inFront)}));
          require(smt.any({isOther, smt.isAtMost(wraps[op], nullptr, inFront)}));
        }
      }
      require(smt.isAtLeast(turns[op], begin.trip, 0));
      int64_t most = problem.isLoop ? problem.mostStages.value_or(kMostTrips) : 1;
      require(smt.isAtMost(turns[op], begin.trip, most - 1));
      isFirst.push_back(smt.isAtMost(turns[op], begin.trip, 0));
    }
    if (!isFirst.empty())
      require(smt.any(isFirst));
    hasOrigin |= !isFirst.empty();
  }
}

/// Ops that start earlier in a trip stand in front of those that start later; of ops that start
/// together, what needs another's result of its own trip stands behind it.
void IntervalModel::addOrders(unsigned role) {
  SmallVector<unsigned> ops;
  for (unsigned op = 0; op < problem.ops.size(); ++op)
    if (roles[op] == role)
      ops.push_back(op);
  for (unsigned op : ops)
    places[op] = smt.makeNumber();
  Term begin = begins[role].row;
  for (auto [index, one] : llvm::enumerate(ops))
    for (unsigned other : ArrayRef(ops).drop_front(index + 1)) {
      Term isFirst = isBefore(one, other), isSecond = isBefore(other, one);
      require(smt.any({isFirst, isSecond}));
      // Both on one side of the begin's row, or the one behind it in front of the one before it.
      Term isEarlier = smt.negate(smt.isAtLeast(starts[one].row, starts[other].row, 0));
      Term isLater = smt.negate(smt.isAtLeast(starts[other].row, starts[one].row, 0));
      if (!begin) {
        require(smt.any({smt.negate(isEarlier), isFirst}));
        require(smt.any({smt.negate(isLater), isSecond}));
        continue;
      }
      Term isOneBehind = smt.isAtLeast(starts[one].row, begin, 0);
      Term isOtherBehind = smt.isAtLeast(starts[other].row, begin, 0);
      require(smt.any({smt.negate(isOneBehind), isOtherBehind, isFirst}));
      require(smt.any({isOneBehind, smt.negate(isOtherBehind), isSecond}));
      for (auto [is, follows] : {std::pair(isEarlier, isFirst), std::pair(isLater, isSecond)}) {
        require(
            smt.any({smt.negate(isOneBehind), smt.negate(isOtherBehind), smt.negate(is), follows}));
        require(smt.any({isOneBehind, isOtherBehind, smt.negate(is), follows}));
      }
    }
  for (const Dependence &each : problem.dependences)
    if (roles[each.from] == role && roles[each.to] == role && each.from != each.to &&
        problem.getLatency(each, false) == 0)
      require(smt.any({smt.isAtLeast(turns[each.to], turns[each.from], 1 - each.distance),
                       isBefore(each.from, each.to)}));
}

void IntervalModel::addPins() {
  for (unsigned op = 0; op < problem.ops.size(); ++op) {
    const Pins &pins = problem.ops[op].pins;
    if (pins.stage) {
      require(smt.isAtLeast(turns[op], begins[roles[op]].trip, *pins.stage));
      require(smt.isAtMost(turns[op], begins[roles[op]].trip, *pins.stage));
    }
    for (unsigned other = 0; pins.order && other < problem.ops.size(); ++other)
      if (std::optional<int64_t> its = problem.ops[other].pins.order;
          its && roles[other] == roles[op] && *pins.order < *its)
        require(isBefore(op, other));
  }
}

//===- Units --------------------------------------------------------------------------------===//

/// The circle of rows has no two of them at one place.
void IntervalModel::keepApart(const std::pair<unsigned, Reservation> &one,
                              const std::pair<unsigned, Reservation> &other) {
  Term row = starts[one.first].row, its = starts[other.first].row;
  int64_t behind = other.second.offset - one.second.offset;
  // The other's row less the one's lies in no interval of these, once a turn of the circle.
  int64_t first = llvm::divideFloorSigned(behind - one.second.cycles - interval, interval);
  for (int64_t turn = first;; ++turn) {
    int64_t low = turn * interval - behind - other.second.cycles;
    int64_t high = turn * interval - behind + one.second.cycles;
    if (low >= interval - 1)
      return;
    if (high > -(interval - 1))
      require(smt.any({smt.isAtMost(its, row, low), smt.isAtLeast(its, row, high)}));
  }
}

void IntervalModel::addUnit(ArrayRef<std::pair<unsigned, Reservation>> uses, int64_t count) {
  if (count == 1) {
    for (auto [index, one] : llvm::enumerate(uses)) {
      if (one.second.cycles > interval)
        require(smt.getTruth(false));
      for (const auto &other : uses.drop_front(index + 1))
        keepApart(one, other);
    }
    return;
  }
  int64_t always = 0;
  for (const auto &use : uses)
    always += use.second.cycles / interval;
  if (always > count)
    require(smt.getTruth(false));
  // As many as ever are served at once are where some op begins.
  for (const auto &one : uses) {
    SmallVector<Term> served;
    for (const auto &other : uses) {
      int64_t rest = other.second.cycles % interval;
      if (rest == 0)
        continue;
      if (&one == &other) {
        served.push_back(smt.getTruth(true));
        continue;
      }
      Term isServed = smt.makeTruth();
      served.push_back(isServed);
      Term row = starts[one.first].row, its = starts[other.first].row;
      int64_t behind = one.second.offset - other.second.offset;
      // It is, where the one's row less the other's is from 0 on and below the rest.
      int64_t first = llvm::divideFloorSigned(behind - rest - interval, interval);
      for (int64_t turn = first; turn * interval - behind < interval; ++turn) {
        int64_t low = turn * interval - behind;
        if (low + rest > -(interval - 1))
          require(smt.any(
              {smt.isAtMost(row, its, low - 1), smt.isAtLeast(row, its, low + rest), isServed}));
      }
    }
    require(smt.atMost(served, count - always));
  }
}

void IntervalModel::addUnits() {
  for (auto [number, unit] : llvm::enumerate(problem.units)) {
    SmallVector<SmallVector<std::pair<unsigned, Reservation>>> uses(problem.roles.size());
    for (auto [op, its] : llvm::enumerate(problem.ops))
      for (const Reservation &each : its.reservations)
        if (each.unit == number)
          uses[unit.isPerRole ? roles[op] : 0].push_back({unsigned(op), each});
    for (auto &each : uses)
      addUnit(each, unit.count);
  }
}

//===- Terms --------------------------------------------------------------------------------===//

Smt::Term IntervalModel::needs(const Start &from, const Start &to, int64_t latency,
                               int64_t distance) {
  // So many intervals lie between them at least, and at most if rows are to help.
  int64_t least = llvm::divideCeilSigned(latency - (interval - 1), interval);
  int64_t most = llvm::divideCeilSigned(latency + interval - 1, interval);
  SmallVector<Term> all{smt.isAtLeast(to.trip, from.trip, least - distance)};
  for (int64_t trips = least; trips < most; ++trips)
    all.push_back(smt.any({smt.isAtLeast(to.trip, from.trip, trips + 1 - distance),
                           smt.isAtLeast(to.row, from.row, latency - trips * interval)}));
  return smt.all(all);
}

Smt::Term IntervalModel::needs(const Condition &condition) {
  if (condition.from == condition.to)
    return smt.getTruth(condition.distance * interval >= condition.latency);
  return needs(starts[condition.from], starts[condition.to], condition.latency, condition.distance);
}

Smt::Term IntervalModel::needsInTrip(const Condition &condition) {
  if (condition.from == condition.to)
    return needs(condition);
  unsigned from = condition.from, to = condition.to;
  return needs({starts[from].row, wraps[from]}, {starts[to].row, wraps[to]}, condition.latency,
               condition.distance);
}

Smt::Term IntervalModel::isBefore(unsigned first, unsigned second) {
  return smt.isAtLeast(places[second], places[first], 1);
}

Smt::Term IntervalModel::startsAt(unsigned op, int64_t trip, int64_t row) {
  const Start &start = starts[op];
  return smt.all({smt.isAtLeast(start.trip, nullptr, trip), smt.isAtMost(start.trip, nullptr, trip),
                  smt.isAtLeast(start.row, nullptr, row), smt.isAtMost(start.row, nullptr, row)});
}

Smt::Term IntervalModel::hasStages(int64_t most) {
  SmallVector<Term> all;
  for (auto [op, role] : llvm::enumerate(roles))
    if (framed[role])
      all.push_back(smt.isAtMost(turns[op], begins[role].trip, most - 1));
  return smt.all(all);
}

Solution IntervalModel::getSolution() const {
  Solution solution;
  solution.interval = interval;
  for (auto [op, role] : llvm::enumerate(roles)) {
    Placement &placement = solution.ops.emplace_back();
    placement.role = role;
    placement.start = smt.getValue(starts[op].trip) * interval + smt.getValue(starts[op].row);
  }
  for (unsigned role = 0; role < problem.roles.size(); ++role) {
    std::optional<int64_t> origin;
    if (framed[role])
      origin = smt.getValue(begins[role].trip) * interval + smt.getValue(begins[role].row);
    for (const Placement &placement : solution.ops)
      if (placement.role == role && !framed[role])
        origin = std::min(origin.value_or(placement.start), placement.start);
    solution.origins.push_back(origin.value_or(0));
    SmallVector<std::pair<int64_t, unsigned>> sequence;
    for (auto [op, placement] : llvm::enumerate(solution.ops)) {
      if (placement.role != role)
        continue;
      placement.stage = llvm::divideFloorSigned(placement.start - solution.origins[role], interval);
      sequence.push_back({smt.getValue(places[op]), op});
    }
    if (!ordered[role]) {
      setOrders(problem, solution, role);
      continue;
    }
    llvm::sort(sequence);
    for (auto [order, entry] : llvm::enumerate(sequence))
      solution.ops[entry.second].order = order;
  }
  return solution;
}
