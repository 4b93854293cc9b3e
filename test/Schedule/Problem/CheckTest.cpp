// What is no problem.
#include "Build.h"

using namespace kiln::schedule;

static std::string checked(const Problem &problem) { return getViolation(check(problem)); }

TEST(Check, AcceptsProblems) {
  EXPECT_EQ(checked(Product()), "none");
  EXPECT_EQ(checked(Attention()), "none");
}

TEST(Check, RefusesWhatIndicesDoNotName) {
  Product p;
  p.dependences.push_back({0, 7});
  EXPECT_EQ(checked(p), "dependence: expected ends among the 2 ops, got 0 and 7");
  p = Product();
  p.ops[p.dot].reservations[0].unit = 5;
  EXPECT_EQ(checked(p), "op 1 'dot': unit: expected one of the 2 that there are, got 5");
  p = Product();
  p.ops[p.dot].counter = 1;
  EXPECT_EQ(checked(p), "op 1 'dot': counter: expected one of the 1 that there are, got 1");
  p = Product();
  p.ops[p.dot].pins.role = 2;
  EXPECT_EQ(checked(p), "op 1 'dot': role: expected one of the 2 that there are, got 2");
  EXPECT_EQ(checked(Problem()), "roles: expected at least one, got none");
}

TEST(Check, RefusesNumbersOutOfRange) {
  Product p;
  p.ops[p.dot].latency = -1;
  EXPECT_EQ(checked(p), "op 1 'dot': latency: expected 0 to 1048576, got -1");
  p = Product();
  p.dependences[0].distance = -1;
  EXPECT_EQ(checked(p), "op 1 'dot': distance: expected 0 to 1024, got -1");
  p = Product();
  p.units[p.tensor].count = 0;
  EXPECT_EQ(checked(p), "'tensor': count: expected 1 to 1073741824, got 0");
  p = Product();
  p.ops[p.dot].reservations.push_back({p.tensor, 3});
  EXPECT_EQ(checked(p), "op 1 'dot': unit: expected one reservation of 'tensor', got two");
}

TEST(Check, RefusesProblemsThatAreTooLarge) {
  Build p;
  p.addRole("all");
  p.ops.resize(kMostOps + 1);
  EXPECT_EQ(checked(p), "ops: expected 0 to 4096, got 4097");
  p.ops.resize(1);
  p.dependences.resize(kMostDependences + 1);
  EXPECT_EQ(checked(p), "dependences: expected 0 to 16384, got 16385");
}

TEST(Check, RefusesCirclesInOneIteration) {
  Attention p;
  p.need(p.sum, p.scores);
  EXPECT_EQ(checked(p), "op 1 'scores': dependence: expected no need of its own result in one "
                        "iteration, got 'scores' -> 'softmax' -> 'sum' -> 'scores'");
}

TEST(Check, RefusesPinsOutOfRange) {
  Product p;
  p.ops[p.dot].pins.stage = 1;
  EXPECT_EQ(checked(p), "op 1 'dot': stage: expected stages that begin with 0 in its role, got 1 "
                        "as the least");
  p.isLoop = false;
  EXPECT_EQ(checked(p), "op 1 'dot': stage: expected less than the 1 that a role may have, got 1");
  p = Product();
  p.ops[p.dot].warpMultiple = 8;
  EXPECT_EQ(checked(p), "op 1 'dot': role: expected one with a multiple of 8 warps, got 'mma' with "
                        "4");
  p = Product();
  p.ops[p.dot].starts = 0;
  EXPECT_THAT(checked(p), testing::HasSubstr("op 1 'dot': starts: expected 1 to"));
  p = Product();
  p.ops[p.load].pins.inFlight = 1;
  EXPECT_EQ(checked(p), "op 0 'load': in_flight: expected none, since the op is not counted");
  p = Product();
  p.counters[0].limit = 7;
  p.ops[p.dot].pins.inFlight = 8;
  EXPECT_EQ(checked(p), "op 1 'dot': in_flight: expected at most 7, the most that a wait for "
                        "'group' can name, got 8");
  p = Product();
  p.ops[p.dot].bufferColumns = 64;
  p.ops[p.dot].pins.depth = 2;
  EXPECT_EQ(checked(p), "op 1 'dot': depth: expected 1, since the next iteration continues the "
                        "result in its place, got 2");
}

TEST(Check, RefusesOneOrderTwice) {
  Attention p;
  p.ops[p.scores].pins.order = p.ops[p.sum].pins.order = 0;
  EXPECT_EQ(checked(p), "op 4 'sum': order: expected one that no other op of its role has, got 0 "
                        "as of 'scores'");
  p.ops[p.sum].pins.order = 5;
  EXPECT_EQ(checked(p), "op 4 'sum': order: expected one of the 5 that there are, got 5");
}

TEST(Check, RefusesEdgesThatNoRingCarries) {
  Product p;
  p.ops[p.load].bufferBytes = 0;
  EXPECT_EQ(checked(p), "op 1 'dot': role: expected 'load', as of 'load', since no ring can hand "
                        "on what is between them, got 'mma'");
}

TEST(Check, RefusesChainsThatAreNone) {
  Product p;
  p.chain(p.load, p.dot, 0, 0);
  EXPECT_EQ(checked(p), "op 1 'dot': chain: expected completion as of 'load', which it continues");
  Attention q;
  q.chain(q.scores, q.sum, 0, 0);
  unsigned other = q.addOp("other", 280);
  q.ops[other].completion = Completion::Counted;
  q.chain(q.scores, other, 0, 0);
  EXPECT_EQ(checked(q), "op 5 'other': chain: expected to be the only op that continues 'scores' "
                        "in its iteration");
}
