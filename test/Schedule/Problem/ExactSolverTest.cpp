// What the exact solver proves, by hand and against all schedules of small problems.
#include "Attention.h"
#include "kiln/Schedule/Problem/ExactSolver.h"
#include "Seed.h"
#include "Solve.h"
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
  printf("%ld %ld %ld\n", proven.least, proven.solution.interval, proven.steps);
}
