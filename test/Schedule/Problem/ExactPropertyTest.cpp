// The exact solver against all schedules of random small problems. The seed is printed when a law
// fails.
#include "AllSchedules.h"
#include "AnyProblem.h"
#include "Solve.h"
#include "kiln/Schedule/Problem/ExactSolver.h"
#include "llvm/ADT/Sequence.h"

using namespace kiln::schedule;

namespace {
class ExactProperty : public testing::TestWithParam<int> {
protected:
  void SetUp() override {
    if (std::string why = ExactSolver::whyMissing(); !why.empty())
      GTEST_SKIP() << why;
  }
  Seed random{uint64_t(GetParam())};
  testing::ScopedTrace trace{__FILE__, __LINE__, random.describe()};

  Build anySmallProblem();
  void limit(Build &problem);
};
} // namespace

Build ExactProperty::anySmallProblem() {
  Build p;
  int64_t roles = random.from(1, 2), units = random.from(1, 2), count = random.from(2, 3);
  for (int64_t role = 0; role < roles; ++role)
    p.addRole(role ? "b" : "a");
  for (int64_t unit = 0; unit < units; ++unit)
    p.addUnit(unit ? "y" : "x", random.from(1, 2), random.chance(30));
  p.addCounter("group");
  if (random.chance(20))
    p.counters[0].limit = random.from(0, 1);
  bool isCounted = random.chance(60);
  for (int64_t index = 0; index < count; ++index) {
    const char *names[] = {"one", "two", "three"};
    Op &op = p.ops[p.addOp(names[index], random.from(0, 3))];
    if (random.chance(80))
      op.reservations.push_back(
          {unsigned(random.from(0, units - 1)), random.from(1, 2), random.from(0, 1)});
    op.registerBytes = random.from(0, 4);
    op.bufferBytes = random.from(1, 4);
    op.isBuffered = random.chance(30);
    if (isCounted && random.chance(70))
      op.completion = Completion::Counted;
    else if (random.chance(80))
      op.pins.role = unsigned(random.from(0, roles - 1));
    if (op.completion == Completion::Counted)
      op.pins.role = 0;
    if (index > 0 && random.chance(80))
      p.need(random.from(0, index - 1), index, random.chance(20));
    if (random.chance(30)) {
      if (op.completion == Completion::Counted)
        p.chain(index, index, 1, random.from(0, 2));
      else
        p.need(index, random.from(0, index), random.from(1, 2));
    }
  }
  llvm::erase_if(p.dependences, [&](const Dependence &each) {
    const Op &from = p.ops[each.from];
    bool isGone = each.kind == Dependence::Value && each.distance > 0 && p.isContinued(each.from);
    return isGone || (from.completion == Completion::Counted && p.ops[each.to].pins.role != 0u);
  });
  return p;
}

/// Pins and budgets that there may or may not be a schedule for.
void ExactProperty::limit(Build &problem) {
  for (auto [index, op] : llvm::enumerate(problem.ops)) {
    if (random.chance(15))
      op.pins.stage = random.from(0, 1);
    if (random.chance(15))
      op.pins.order = index;
    if (random.chance(15) && !problem.isContinued(index))
      op.pins.depth = random.from(1, 2);
    if (random.chance(20) && op.completion == Completion::Counted)
      op.pins.inFlight = random.from(0, 1);
  }
  if (random.chance(30))
    problem.budget.sharedBytes = random.from(1, 12);
  if (random.chance(30))
    problem.roles[0].registerBytes = random.from(2, 10);
}

/// Work that nothing but a chain uses is held at a trip's end, whose waits wait for one another:
/// what counts leave each of two such under way is a choice that no lesson tells of.
static bool hasTwoHeld(const Problem &problem) {
  return 1 < llvm::count_if(llvm::seq<unsigned>(0, problem.ops.size()), [&](unsigned op) {
           return problem.ops[op].completion == Completion::Counted &&
                  llvm::none_of(problem.dependences, [&](const Dependence &each) {
                    return each.from == op && each.kind != Dependence::Chain;
                  });
         });
}

TEST_P(ExactProperty, NoScheduleIsShorterThanIsProven) {
  Build p = anySmallProblem();
  limit(p);
  if (check(p))
    return;
  Violation why;
  std::optional<Proven> proven = ExactSolver().prove(p, &why);
  int64_t least = proven ? proven->least : 6;
  if (proven) {
    EXPECT_EQ(getViolation(verify(p, proven->solution)), "none");
    EXPECT_TRUE(proven->isOptimal() || hasTwoHeld(p))
        << proven->least << " to " << proven->solution.interval;
  }
  for (int64_t interval = 1; interval < least; ++interval)
    EXPECT_FALSE(AllSchedules(p, interval, 5).hasAny())
        << "an interval of " << interval << ", but "
        << (proven ? "none below " + std::to_string(least) + " was expected" : why.str()) << "\n"
        << printProblem(p);
}

INSTANTIATE_TEST_SUITE_P(Random, ExactProperty, testing::Range(0, 100));
