// The completion of pins against the one in lib/Schedule/Trip.cpp, written down once more with ops
// of a problem in place of those of a block, on random problems.
#include "Build.h"
#include "Seed.h"
#include "kiln/Schedule/Problem/Complete.h"
#include "llvm/ADT/STLExtras.h"

using namespace kiln::schedule;
using llvm::SmallVector;

namespace {
/// As `Scheduler` there. Like a block, its problem has one role.
struct Trip {
  explicit Trip(const Problem &problem) : problem(problem) {}
  const Problem &problem;
  std::vector<unsigned> ops, placed;
  std::map<unsigned, int64_t> stages;
  std::map<unsigned, bool> states; // whether placed

  bool isLate(unsigned op) const { return problem.ops[op].isLate && !problem.ops[op].pins.stage; }
  SmallVector<Dependence> getNeeds(unsigned op) const {
    SmallVector<Dependence> needs;
    for (const Dependence &each : problem.dependences)
      if (each.to == op && each.kind != Dependence::Order)
        needs.push_back(each);
    return needs;
  }
  int64_t getLag(unsigned op, const Dependence &need) {
    return stages[op] + need.distance - stages[need.from];
  }

  void completeStages() {
    for (unsigned op : ops)
      stages[op] = problem.ops[op].pins.stage.value_or(0);
    for (bool changed = true; changed;) {
      changed = false;
      for (unsigned op : ops) {
        if (problem.ops[op].pins.stage)
          continue;
        int64_t &stage = stages[op], least = 0;
        for (const Dependence &need : getNeeds(op))
          least = std::max(least, stages[need.from] - need.distance);
        changed |= least > stage;
        stage = std::max(stage, least);
      }
    }
    for (unsigned op : llvm::reverse(ops)) {
      if (!isLate(op))
        continue;
      std::optional<int64_t> first;
      for (const Dependence &each : problem.dependences)
        if (each.from == op && each.distance == 0) // a user, in the block
          first = std::min(first.value_or(INT64_MAX), stages[each.to]);
      stages[op] = first.value_or(stages[op]);
    }
  }

  bool checkStages() {
    for (unsigned op : ops)
      for (const Dependence &need : getNeeds(op))
        if (getLag(op, need) < 0)
          return false;
    return true;
  }

  bool place(unsigned op, std::optional<int64_t> before) {
    auto [state, isNew] = states.try_emplace(op, false);
    if (!isNew && state->second)
      return true;
    std::optional<int64_t> order = problem.ops[op].pins.order;
    if (!isNew || (order && before && *order > *before))
      return false;
    if (order)
      before = order;
    for (const Dependence &need : getNeeds(op))
      if (getLag(op, need) == 0 && !place(need.from, before))
        return false;
    states[op] = true;
    placed.push_back(op);
    return true;
  }

  bool orderOps() {
    std::map<unsigned, int64_t> keys;
    int64_t key = -1;
    for (unsigned op : ops) {
      key = problem.ops[op].pins.order.value_or(key);
      keys[op] = key;
    }
    for (bool changed = true; changed;) {
      changed = false;
      for (unsigned op : ops) {
        if (problem.ops[op].pins.order || isLate(op))
          continue;
        for (const Dependence &need : getNeeds(op))
          if (getLag(op, need) == 0 && !isLate(need.from) && keys[need.from] > keys[op]) {
            keys[op] = keys[need.from];
            changed = true;
          }
      }
    }
    SmallVector<std::pair<int64_t, size_t>> order; // by key, then as in the source
    for (size_t index = 0; index < ops.size(); ++index)
      order.push_back({isLate(ops[index]) ? INT64_MAX : keys[ops[index]], index});
    std::sort(order.begin(), order.end());
    for (auto [each, index] : order)
      if (!place(ops[index], std::nullopt))
        return false;
    return true;
  }

  bool run() {
    for (unsigned op = 0; op < problem.ops.size(); ++op)
      ops.push_back(op);
    completeStages();
    return checkStages() && orderOps();
  }
};
} // namespace

class CompleteProperty : public testing::TestWithParam<int> {};

TEST_P(CompleteProperty, IsThatOfTrips) {
  Seed random{uint64_t(GetParam())};
  SCOPED_TRACE(random.describe());
  Build p;
  p.addRole("all");
  int64_t count = random.from(1, 12);
  SmallVector<int64_t> orders;
  for (int64_t index = 0; index < count; ++index) {
    Op &op = p.ops[p.addOp(("op" + std::to_string(index)).c_str(), 0)];
    op.isLate = random.chance(25);
    if (random.chance(30))
      op.pins.stage = random.from(0, 3);
    if (random.chance(30))
      orders.push_back(index);
    for (int64_t needs = random.from(0, 3); index > 0 && needs > 0; --needs)
      p.need(random.from(0, index - 1), index, random.chance(20));
    if (random.chance(30))
      p.need(index, random.from(0, index), random.from(1, 3));
  }
  // A stage 0, as each role must have, and orders that count what has one.
  for (Op &op : p.ops)
    if (op.pins.stage) {
      op.pins.stage = 0;
      break;
    }
  for (size_t rank = 0; rank < orders.size(); ++rank) {
    std::swap(orders[rank], orders[random.from(rank, orders.size() - 1)]);
    p.ops[orders[rank]].pins.order = rank;
  }
  ASSERT_EQ(getViolation(check(p)), "none");

  Trip trip(p);
  bool isPossible = trip.run();
  Violation why;
  std::optional<Problem> completed = completePins(p, &why);
  ASSERT_EQ(completed.has_value(), isPossible) << why.str();
  if (!completed)
    return;
  for (size_t place = 0; place < trip.placed.size(); ++place) {
    unsigned op = trip.placed[place];
    EXPECT_EQ(*completed->ops[op].pins.stage, trip.stages[op]) << op;
    EXPECT_EQ(*completed->ops[op].pins.order, int64_t(place)) << op;
  }
}

INSTANTIATE_TEST_SUITE_P(Random, CompleteProperty, testing::Range(0, 400));
