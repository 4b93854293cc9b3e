// What the exact solver proves, by hand and against all schedules of small problems.
#include "kiln/Schedule/Problem/ExactSolver.h"
#include "Attention.h"
#include "Seed.h"
#include "Solve.h"
#include "kiln/Schedule/Problem/PartRole.h"
#include <map>

using namespace kiln::schedule;
using testing::HasSubstr;

namespace {
struct MapCache : SolutionCache {
  std::map<std::string, std::string> entries;
  std::optional<std::string> get(llvm::StringRef question) override {
    auto at = entries.find(question.str());
    return at == entries.end() ? std::nullopt : std::optional(at->second);
  }
  void put(llvm::StringRef question, llvm::StringRef answer) override {
    entries[question.str()] = answer.str();
  }
};

class Exact : public testing::Test {
protected:
  void SetUp() override {
    if (std::string why = ExactSolver::whyMissing(); !why.empty())
      GTEST_SKIP() << why;
  }
};
} // namespace

static Proven prove(const Problem &problem, const ExactSolver &solver = ExactSolver()) {
  Violation why;
  std::optional<Proven> proven = solver.prove(problem, &why);
  if (!proven) {
    ADD_FAILURE() << why.str();
    return {};
  }
  EXPECT_EQ(getViolation(verify(problem, proven->solution)), "none");
  EXPECT_LE(proven->least, proven->solution.interval);
  if (std::optional<Solution> heuristic = SwingModuloScheduler().solve(problem))
    EXPECT_LE(proven->solution.interval, heuristic->interval);
  return *proven;
}

//===- By hand ------------------------------------------------------------------------------===//

TEST_F(Exact, ProvesAProductOptimal) {
  Product p;
  Proven proven = prove(p);
  EXPECT_EQ(proven.solution.interval, 256);
  EXPECT_TRUE(proven.isOptimal());
}

TEST_F(Exact, ProvesTheIntervalOfFewerSlots) {
  Product p;
  p.budget.sharedBytes = 3 * 32768;
  Proven proven = prove(p);
  EXPECT_EQ(proven.solution.interval, 301);
  EXPECT_TRUE(proven.isOptimal());
}

TEST_F(Exact, FindsTheOverlapOfAttention) {
  Attention p;
  Proven proven = prove(p);
  // Both products keep the tensor cores busy for 512 cycles, beside 400 of lanes.
  EXPECT_EQ(proven.solution.interval, 512);
  EXPECT_TRUE(proven.isOptimal());
  EXPECT_EQ(proven.solution.ops[p.sum].stage, 1);
}

TEST_F(Exact, FindsTheForwardScheduleOfAttention) {
  HopperAttention p;
  Proven proven = prove(p);
  const auto &ops = proven.solution.ops;
  // As FlashAttention-3 has it: a trip's weights are multiplied by values in the next trip, whose
  // scores are made meanwhile.
  EXPECT_EQ(ops[p.left].stage, 0);
  EXPECT_EQ(ops[p.right].stage, 0);
  EXPECT_EQ(ops[p.out].stage, 1);
  EXPECT_EQ(proven.solution.interval, 2120);
  EXPECT_TRUE(proven.isOptimal());
}

//===- Groups of warps ----------------------------------------------------------------------===//

/// How many cycles the second role's trip begins behind the first's.
static int64_t getLag(const Solution &solution, unsigned first, unsigned second) {
  int64_t lag = (solution.origins[second] - solution.origins[first]) % solution.interval;
  return lag < 0 ? lag + solution.interval : lag;
}

TEST_F(Exact, HasGroupsTakeTurns) {
  // One group makes products while lanes are busy for the other, though none overlaps trips.
  Build p;
  unsigned role = p.addRole("compute"), tensor = p.addUnit("matrix units"),
           lanes = p.addUnit("lanes");
  p.roles[role].registerBytes = 65536;
  p.mostStages = 1;
  unsigned scores = p.addOp("scores", 520, tensor, 512),
           softmax = p.addOp("softmax", 1032, lanes, 1024), out = p.addOp("out", 520, tensor, 512);
  p.need(scores, softmax);
  p.need(softmax, out);
  p.need(out, out, 1);
  for (Op &op : p.ops)
    op.pins.role = role;
  EXPECT_EQ(prove(p).solution.interval, 520 + 1032 + 512);
  Problem parted = partRole(p, role, 2);
  Proven proven = prove(parted);
  EXPECT_TRUE(proven.isOptimal());
  // Half of each tile: 264 cycles until scores are there, 520 until the softmax is, 256 of sums.
  EXPECT_EQ(proven.solution.interval, 264 + 520 + 256);
  EXPECT_GE(getLag(proven.solution, role, parted.roles.size() - 1), 256);
}

TEST(PartRole, SharesOutWhatARoleDoes) {
  HopperAttention p;
  Problem parted = partRole(p, p.mma, 2);
  ASSERT_EQ(getViolation(check(parted)), "none");
  ASSERT_EQ(parted.roles.size(), 3u);
  EXPECT_EQ(parted.roles[p.mma].name, "mma 0");
  EXPECT_EQ(parted.roles[2].name, "mma 1");
  EXPECT_EQ(parted.roles[2].registerBytes, 221184 / 2);
  EXPECT_EQ(parted.ops.size(), p.ops.size() + 18);
  EXPECT_EQ(parted.ops[p.keys].latency, 1206);
  for (unsigned dot : {p.left, unsigned(p.ops.size())}) {
    EXPECT_EQ(parted.ops[dot].latency, 256 + 36);
    EXPECT_EQ(parted.ops[dot].reservations[0].cycles, 256);
    EXPECT_EQ(parted.ops[dot].registerBytes, HopperAttention::kTile / 2);
  }
  // Both parts use what the other role loads, and their own results alone.
  EXPECT_EQ(parted.dependences.size(), 2 * p.dependences.size());
  for (const Dependence &each : parted.dependences) {
    unsigned from = *parted.ops[each.from].pins.role, to = *parted.ops[each.to].pins.role;
    EXPECT_TRUE(from == to || from == p.loads);
  }
}

//===- Pins and steps -----------------------------------------------------------------------===//

TEST_F(Exact, HoldsPins) {
  HopperAttention p;
  p.ops[p.out].pins.stage = 0;
  p.ops[p.left].pins.stage = 0;
  Proven proven = prove(p);
  EXPECT_TRUE(proven.isOptimal());
  EXPECT_EQ(proven.solution.ops[p.out].stage, 0);
  EXPECT_GT(proven.solution.interval, 2120);
}

TEST_F(Exact, NamesThePinThatCannotHold) {
  Attention p;
  // Two more under way hold slots of the first ring, which has one.
  p.ops[p.sum].pins.inFlight = 2;
  p.ops[p.values].pins.depth = 1;
  EXPECT_THAT(refuse(p, ExactSolver()), HasSubstr("'values': depth: expected"));
  p.ops[p.values].pins.depth.reset();
  p.ops[p.softmax].pins.order = 0;
  p.ops[p.scores].pins.order = 1;
  p.mostStages = 1;
  EXPECT_THAT(refuse(p, ExactSolver()), testing::AnyOf(HasSubstr("'scores': order: expected"),
                                                       HasSubstr("'softmax': order: expected")));
}

TEST_F(Exact, ReportsTheGapWhereStepsRunOut) {
  HopperAttention p;
  ExactSolver::Options few;
  few.mostSteps = 100000;
  Proven proven = prove(p, ExactSolver(few));
  EXPECT_FALSE(proven.isOptimal());
  EXPECT_EQ(proven.least, 2048);
  EXPECT_GE(proven.solution.interval, 2120);
}

TEST_F(Exact, TakesTheSameStepsToTheSameAnswer) {
  Attention p;
  p.ops[p.keys].pins.depth = p.ops[p.values].pins.depth = 2;
  Proven one = prove(p), other = prove(p);
  EXPECT_EQ(one.steps, other.steps);
  EXPECT_EQ(printSolution(one.solution), printSolution(other.solution));
}

//===- The cache ----------------------------------------------------------------------------===//

TEST_F(Exact, KeepsWhatItFound) {
  Attention p;
  MapCache cache;
  ExactSolver::Options options;
  options.cache = &cache;
  ExactSolver solver(options);
  Proven first = prove(p, solver);
  EXPECT_FALSE(first.isCached);
  ASSERT_EQ(cache.entries.size(), 1u);
  std::string &entry = cache.entries.begin()->second, whole = entry;
  Proven second = prove(p, solver);
  EXPECT_TRUE(second.isCached);
  EXPECT_EQ(second.least, first.least);
  EXPECT_EQ(printSolution(second.solution), printSolution(first.solution));
  // What is no answer to the question is found again, and written over.
  for (const std::string &broken :
       {std::string(), std::string("least 1\nsteps 1\n"), whole.substr(0, whole.size() / 2),
        "least 9999" + whole.substr(whole.find('\n')), whole + "op 0 0 0 0 0 -\n"}) {
    entry = broken;
    EXPECT_FALSE(prove(p, solver).isCached) << broken;
    EXPECT_EQ(entry, whole);
  }
  // Another question has another answer; names ask for nothing.
  p.ops[p.keys].name = "other";
  EXPECT_TRUE(prove(p, solver).isCached);
  p.ops[p.keys].latency += 1;
  EXPECT_FALSE(prove(p, solver).isCached);
  EXPECT_EQ(cache.entries.size(), 2u);
}

TEST(ExactText, GoesRound) {
  Solution solution = solve(HopperAttention());
  std::string text = printSolution(solution);
  std::optional<Solution> parsed = parseSolution(text);
  ASSERT_TRUE(parsed);
  EXPECT_EQ(printSolution(*parsed), text);
  for (llvm::StringRef wrong :
       {"", "interval\n", "interval 1 2\n", "interval x\n", "interval 1\ninterval 1\n",
        "interval 1\nop 1 2 3\n", "interval 1\nop - 0 0 0 0 0\n", "interval 1\nother 1\n"})
    EXPECT_FALSE(parseSolution(wrong)) << wrong.str();
}
