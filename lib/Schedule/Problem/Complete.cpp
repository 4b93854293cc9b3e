// The rule of plain loops: earliest stages, and the order of the source.
#include "kiln/Schedule/Problem/Complete.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

using namespace kiln::schedule;
using llvm::SmallVector;

namespace {
class Completer {
public:
  explicit Completer(const Problem &problem)
      : problem(problem), stages(problem.ops.size()), keys(problem.ops.size()),
        isPlaced(problem.ops.size(), false), needs(problem.ops.size()) {}
  std::optional<Violation> run();
  Problem getCompleted() const;

private:
  void findNeeds();
  void completeStages();
  std::optional<Violation> checkStages() const;
  void findKeys();
  std::optional<Violation> order();
  std::optional<Violation> place(unsigned op, std::optional<unsigned> user);
  Violation refuse(unsigned op, unsigned user) const;
  bool isLate(unsigned op) const { return problem.ops[op].isLate && !problem.ops[op].pins.stage; }
  bool isOfTrip(const Dependence &need) const {
    return stages[need.to] + need.distance == stages[need.from];
  }
  unsigned getRole(unsigned op) const { return problem.ops[op].pins.role.value_or(0); }

  const Problem &problem;
  SmallVector<int64_t> stages, keys;
  SmallVector<bool> isPlaced;
  SmallVector<unsigned> placed;
  /// By op, in the order of its dependences.
  SmallVector<SmallVector<Dependence, 4>> needs;
};
} // namespace

void Completer::findNeeds() {
  for (const Dependence &each : problem.dependences)
    if (each.kind != Dependence::Order && getRole(each.from) == getRole(each.to))
      needs[each.to].push_back(each);
}

void Completer::completeStages() {
  for (unsigned op = 0; op < stages.size(); ++op)
    stages[op] = problem.ops[op].pins.stage.value_or(0);
  for (bool changed = true; changed;) {
    changed = false;
    for (unsigned op = 0; op < stages.size(); ++op) {
      if (problem.ops[op].pins.stage)
        continue;
      for (const Dependence &need : needs[op])
        if (int64_t least = stages[need.from] - need.distance; least > stages[op]) {
          stages[op] = least;
          changed = true;
        }
    }
  }
  for (unsigned op = stages.size(); op-- > 0;) {
    if (!isLate(op))
      continue;
    std::optional<int64_t> first;
    for (const auto &each : needs)
      for (const Dependence &need : each)
        if (need.from == op && need.distance == 0)
          first = std::min(first.value_or(stages[need.to]), stages[need.to]);
    stages[op] = first.value_or(stages[op]);
  }
}

std::optional<Violation> Completer::checkStages() const {
  for (unsigned op = 0; op < stages.size(); ++op)
    for (const Dependence &need : needs[op])
      if (int64_t least = stages[need.from] - need.distance; stages[op] < least)
        return problem.at(op, "stage",
                          "expected at least " + std::to_string(least) + ", as '" +
                              problem.ops[need.from].name + "', which it needs, is at stage " +
                              std::to_string(stages[need.from]) + ", got " +
                              std::to_string(stages[op]));
  return std::nullopt;
}

void Completer::findKeys() {
  SmallVector<int64_t> last(problem.roles.size(), -1);
  for (unsigned op = 0; op < keys.size(); ++op) {
    int64_t &key = last[getRole(op)];
    keys[op] = key = problem.ops[op].pins.order.value_or(key);
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (unsigned op = 0; op < keys.size(); ++op) {
      if (problem.ops[op].pins.order || isLate(op))
        continue;
      for (const Dependence &need : needs[op])
        if (isOfTrip(need) && !isLate(need.from) && keys[need.from] > keys[op]) {
          keys[op] = keys[need.from];
          changed = true;
        }
    }
  }
}

/// That an op is pinned behind one of the same trip that needs it. Of the two, the one whose pin
/// has more ops out of the order of the source is wrong.
Violation Completer::refuse(unsigned op, unsigned user) const {
  auto getPin = [&](unsigned number) { return *problem.ops[number].pins.order; };
  auto countPassed = [&](unsigned number) {
    return llvm::count_if(llvm::seq<unsigned>(0, problem.ops.size()), [&](unsigned other) {
      if (!problem.ops[other].pins.order || getRole(other) != getRole(number))
        return false;
      return other < number ? getPin(other) > getPin(number) : getPin(other) < getPin(number);
    });
  };
  std::string own = std::to_string(getPin(op)), its = std::to_string(getPin(user));
  bool isOfUser = countPassed(user) >= countPassed(op);
  Violation violation =
      isOfUser ? problem.at(user, "order",
                            "expected more than " + own + ", that of '" + problem.ops[op].name +
                                "', which it needs in the same trip by their stages, got " + its)
               : problem.at(op, "order",
                            "expected less than " + its + ", that of '" + problem.ops[user].name +
                                "', which needs it in the same trip by their stages, got " + own);
  violation.others = {isOfUser ? op : user};
  return violation;
}

/// Appends an op behind what it needs of its own trip. `user` has the least order pinned to those
/// that it is placed for. Needs of one trip make no circle: its distances would add up to 0.
std::optional<Violation> Completer::place(unsigned op, std::optional<unsigned> user) {
  if (isPlaced[op])
    return std::nullopt;
  std::optional<int64_t> order = problem.ops[op].pins.order;
  if (order && user && *order > *problem.ops[*user].pins.order)
    return refuse(op, *user);
  for (const Dependence &need : needs[op])
    if (isOfTrip(need))
      if (std::optional<Violation> violation = place(need.from, order ? op : user))
        return violation;
  isPlaced[op] = true;
  placed.push_back(op);
  return std::nullopt;
}

std::optional<Violation> Completer::order() {
  auto ops = llvm::to_vector(llvm::seq<unsigned>(0, keys.size()));
  auto getRank = [&](unsigned op) { return std::tuple(isLate(op), isLate(op) ? 0 : keys[op], op); };
  llvm::sort(ops, [&](unsigned x, unsigned y) { return getRank(x) < getRank(y); });
  for (unsigned op : ops)
    if (std::optional<Violation> violation = place(op, std::nullopt))
      return violation;
  return std::nullopt;
}

std::optional<Violation> Completer::run() {
  findNeeds();
  completeStages();
  if (std::optional<Violation> violation = checkStages())
    return violation;
  findKeys();
  return order();
}

Problem Completer::getCompleted() const {
  Problem completed = problem;
  SmallVector<int64_t> next(problem.roles.size(), 0);
  for (unsigned op : placed) {
    completed.ops[op].pins.stage = stages[op];
    completed.ops[op].pins.order = next[getRole(op)]++;
  }
  return completed;
}

std::optional<Problem> kiln::schedule::completePins(const Problem &problem, Violation *why) {
  Completer completer(problem);
  std::optional<Violation> violation = check(problem);
  if (!violation)
    violation = completer.run();
  if (!violation)
    return completer.getCompleted();
  if (why)
    *why = *violation;
  return std::nullopt;
}
