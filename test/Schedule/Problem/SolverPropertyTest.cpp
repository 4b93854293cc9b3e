// Laws that hold of all solutions, on random problems. The seed is printed when a law fails.
#include "AnyProblem.h"
#include "Solve.h"
#include "kiln/Schedule/Problem/Complete.h"

using namespace kiln::schedule;

namespace {
class SolverProperty : public testing::TestWithParam<int> {
protected:
  Seed random{uint64_t(GetParam())};
  testing::ScopedTrace trace{__FILE__, __LINE__, random.describe()};

  void pinSome(Problem &problem, const Solution &solution);
};
} // namespace

/// Pins that one solution holds.
void SolverProperty::pinSome(Problem &problem, const Solution &solution) {
  for (auto [op, placement] : llvm::zip(problem.ops, solution.ops)) {
    op.pins.role = placement.role;
    if (random.chance(30))
      op.pins.stage = placement.stage;
    if (random.chance(30) && placement.depth)
      op.pins.depth = placement.depth;
  }
  // The least pinned stage of a role is 0.
  for (unsigned role = 0; role < problem.roles.size(); ++role)
    for (auto [op, placement] : llvm::zip(problem.ops, solution.ops))
      if (placement.role == role && placement.stage == 0)
        op.pins.stage = 0;
}

TEST_P(SolverProperty, SolutionsPassAndKeepTheBound) {
  Build p = anyProblem(random);
  ASSERT_EQ(getViolation(check(p)), "none");
  std::optional<llvm::SmallVector<unsigned>> roles = assignRoles(p);
  ASSERT_TRUE(roles);
  Solution s = solve(p);
  ASSERT_EQ(s.ops.size(), p.ops.size());
  EXPECT_GE(s.interval, getLeastInterval(p, *roles)->get());
  // The same question has the same answer.
  Solution again = solve(p);
  EXPECT_EQ(s.interval, again.interval);
  for (auto [one, other] : llvm::zip(s.ops, again.ops))
    EXPECT_EQ(one.start, other.start);
}

TEST_P(SolverProperty, StartsBeforeANeedAreRefused) {
  Build p = anyProblem(random);
  Solution s = solve(p);
  for (const Dependence &each : p.dependences) {
    Solution early = s;
    Placement &to = early.ops[each.to];
    int64_t latency = p.getLatency(each, early.ops[each.from].role != early.ops[each.to].role);
    if (each.from == each.to || latency == 0)
      continue;
    to.start = early.ops[each.from].start + latency - each.distance * s.interval - 1;
    EXPECT_TRUE(verify(p, early)) << "'" << p.ops[each.to].name << "' needs '"
                                  << p.ops[each.from].name << "'";
  }
}

TEST_P(SolverProperty, OneUnitForTwoIsRefused) {
  Build p = anyProblem(random);
  for (Unit &unit : p.units)
    unit = {unit.name, 1, false};
  Solution s = solve(p);
  for (unsigned op = 0; op < p.ops.size(); ++op)
    for (unsigned other = 0; other < op; ++other) {
      if (p.ops[op].reservations.empty() || p.ops[other].reservations.empty() ||
          p.ops[op].reservations[0].unit != p.ops[other].reservations[0].unit)
        continue;
      Solution both = s;
      both.ops[op].start = s.ops[other].start + p.ops[other].reservations[0].offset -
                           p.ops[op].reservations[0].offset;
      EXPECT_TRUE(verify(p, both)) << "ops " << op << " and " << other;
    }
}

TEST_P(SolverProperty, DecisionsThatAreChangedAreRefused) {
  Build p = anyProblem(random);
  Solution s = solve(p);
  for (unsigned op = 0; op < p.ops.size(); ++op) {
    Solution other = s;
    ++other.ops[op].stage;
    EXPECT_TRUE(verify(p, other)) << "stage of " << op;
    other = s;
    ++other.ops[op].order;
    EXPECT_TRUE(verify(p, other)) << "order of " << op;
    other = s;
    --other.ops[op].depth;
    EXPECT_TRUE(verify(p, other)) << "depth of " << op;
    other = s;
    other.ops[op].inFlight = other.ops[op].inFlight ? std::nullopt : std::optional<int64_t>(0);
    EXPECT_TRUE(verify(p, other)) << "in_flight of " << op;
  }
}

TEST_P(SolverProperty, AllPinsOfASolutionHaveASolution) {
  Build p = anyProblem(random);
  Solution s = solve(p);
  for (auto [op, its] : llvm::zip(p.ops, s.ops))
    op.pins = {its.role, its.stage, its.order, {}, its.inFlight};
  for (auto [op, its] : llvm::zip(p.ops, s.ops))
    if (its.depth)
      op.pins.depth = its.depth;
  Solution pinned = solve(p);
  for (auto [its, other] : llvm::zip(pinned.ops, s.ops)) {
    EXPECT_EQ(its.stage, other.stage);
    EXPECT_EQ(its.order, other.order);
    EXPECT_EQ(its.depth, other.depth);
    EXPECT_EQ(its.inFlight, other.inFlight);
  }
}

/// Few pins leave the solver choices that it may get wrong: a pinned depth says nothing of which op
/// ends a trip. Then it names the depth.
TEST_P(SolverProperty, SomePinsOfASolutionHaveASolution) {
  Build p = anyProblem(random);
  Solution s = solve(p);
  pinSome(p, s);
  ASSERT_EQ(getViolation(check(p)), "none");
  Violation why;
  std::optional<Solution> found = SwingModuloScheduler().solve(p, &why);
  EXPECT_TRUE(found || why.decision == "depth") << why.str();
}

TEST_P(SolverProperty, BudgetsHold) {
  Build p = anyProblem(random);
  Solution s = solve(p);
  Demand demand = getDemand(p, s);
  p.budget.sharedBytes = demand.sharedBytes - demand.sharedBytes / 4;
  p.budget.namedBarriers = demand.namedBarriers;
  for (auto [role, bytes] : llvm::zip(p.roles, demand.registerBytes))
    role.registerBytes = bytes;
  Violation why;
  std::optional<Solution> found = SwingModuloScheduler().solve(p, &why);
  if (found)
    EXPECT_EQ(getViolation(verify(p, *found)), "none");
  else
    EXPECT_TRUE(why.decision == "depth" || why.decision == "stage") << why.str();
}

TEST_P(SolverProperty, CompletedPinsAreASchedule) {
  Build p = anyProblem(random);
  for (unsigned role = 0; role < p.roles.size(); ++role)
    for (Op &op : p.ops)
      if (op.pins.role == role && random.chance(20))
        op.isLate = true;
  std::optional<Solution> s = SwingModuloScheduler({true, int64_t(1) << 26}).solve(p);
  // What two roles need of one another in one iteration can contradict the orders of the source.
  if (!s)
    return;
  for (auto [op, placement] : llvm::enumerate(s->ops))
    p.ops[op].pins.role = placement.role;
  std::optional<Problem> completed = completePins(p);
  ASSERT_TRUE(completed);
  for (auto [op, placement] : llvm::zip(completed->ops, s->ops)) {
    EXPECT_EQ(op.pins.stage, placement.stage);
    EXPECT_EQ(op.pins.order, placement.order);
  }
}

INSTANTIATE_TEST_SUITE_P(Random, SolverProperty, testing::Range(0, 60));

class LargeSolverProperty : public SolverProperty {};

TEST_P(LargeSolverProperty, SolutionsPass) {
  EXPECT_GE(solve(anyProblem(random, 150)).interval, 1);
}

INSTANTIATE_TEST_SUITE_P(Random, LargeSolverProperty, testing::Range(0, 8));
