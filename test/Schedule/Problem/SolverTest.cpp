// Schedules worked out by hand.
#include "Solve.h"

using namespace kiln::schedule;
using testing::HasSubstr;

static LeastInterval getLeast(const Problem &problem) {
  return *getLeastInterval(problem, *assignRoles(problem));
}

//===- Products -----------------------------------------------------------------------------===//

TEST(Solver, KeepsTheTensorCoresOfAProductBusy) {
  Product p;
  Solution s = solve(p);
  // The dot's 256 cycles are all there is; it starts 600 behind the load and is done 300 later. So
  // a slot is in use for 900 cycles, in which three more loads start.
  EXPECT_EQ(s.interval, 256);
  EXPECT_EQ(s.ops[p.dot].start - s.ops[p.load].start, 600);
  EXPECT_EQ(s.ops[p.load].depth, 4);
  // 300 cycles are not over when the next dot starts, so that one may be under way.
  EXPECT_EQ(s.ops[p.dot].inFlight, 1);
  // How far the loads run ahead is no stage.
  EXPECT_EQ(s.ops[p.dot].stage, 0);
  EXPECT_EQ(s.ops[p.load].stage, 0);
}

TEST(Solver, TakesALongerIntervalForFewerSlots) {
  Product p;
  p.budget.sharedBytes = 3 * 32768;
  Solution s = solve(p);
  // Three slots are enough where the fourth load starts behind cycle 900.
  EXPECT_EQ(s.interval, 301);
  EXPECT_EQ(s.ops[p.load].depth, 3);
  p.budget.sharedBytes = 32768 - 1;
  EXPECT_THAT(refuse(p), HasSubstr("op 0 'load': depth: expected rings of at most 32767 bytes of "
                                   "shared memory together, got 32768"));
}

TEST(Solver, HoldsPinnedDepthsAndCounts) {
  Product p;
  p.ops[p.load].pins.depth = 2;
  Solution s = solve(p);
  EXPECT_EQ(s.ops[p.load].depth, 2);
  EXPECT_GT(2 * s.interval, 900);
  EXPECT_EQ(getLeast(p).byCircles, 451);
  // Two dots under way hold two slots more than the one that is read.
  p.ops[p.dot].pins.inFlight = 2;
  EXPECT_THAT(refuse(p),
              HasSubstr("op 0 'load': depth: expected at least 3, since with fewer slots "
                        "the roles wait for one another"));
  p.ops[p.load].pins.depth = 3;
  s = solve(p);
  EXPECT_EQ(s.ops[p.dot].inFlight, 2);
  EXPECT_EQ(s.interval, 601);
  // If these are the two parts of one, that holds one slot more.
  p.ops[p.dot].starts = 2;
  p.ops[p.load].pins.depth = 2;
  s = solve(p);
  EXPECT_EQ(s.ops[p.dot].inFlight, 2);
  p.ops[p.dot].starts = 1;
  p.ops[p.load].pins.depth.reset();
  p.ops[p.dot].pins.inFlight = 0;
  s = solve(p); // each dot is waited for before the next
  EXPECT_EQ(s.ops[p.dot].inFlight, 0);
  EXPECT_GE(s.interval, 300);
}

TEST(Solver, WaitsByCountsThatThereAre) {
  Product p;
  p.counters[p.group].limit = 0;
  Solution s = solve(p);
  EXPECT_EQ(s.ops[p.dot].inFlight, 0);
  EXPECT_EQ(s.interval, 300);
}

TEST(Solver, CountsColumnsAndBarriersOfRings) {
  Product p;
  p.ops[p.load].bufferBytes = 0;
  p.ops[p.load].bufferColumns = 64;
  p.ops[p.load].slotBarriers = 2;
  p.budget.tensorColumns = 512;
  p.budget.namedBarriers = 5;
  Solution s = solve(p);
  EXPECT_EQ(s.ops[p.load].depth, 2);
  Demand demand = getDemand(p, s);
  EXPECT_EQ(demand.tensorColumns, 128);
  EXPECT_EQ(demand.namedBarriers, 4);
}

TEST(Solver, GivesAnAccumulatorInTensorMemoryOneSlot) {
  Product p;
  p.ops[p.dot].isBuffered = true;
  p.ops[p.dot].bufferColumns = 256;
  Solution s = solve(p);
  EXPECT_EQ(s.interval, 256);
  EXPECT_EQ(s.ops[p.dot].depth, 1);
  EXPECT_EQ(getDemand(p, s).tensorColumns, 256);
}

TEST(Solver, FillsARolesOwnRingSomeTripsAhead) {
  Build p;
  p.addRole("all");
  unsigned copy = p.addUnit("copy"), shared = p.addUnit("shared"), tensor = p.addUnit("tensor");
  p.addCounter("copies");
  unsigned load = p.addOp("load", 800, copy, 60), read = p.addOp("read", 40, shared, 64);
  unsigned dot = p.addOp("dot", 260, tensor, 256);
  p.ops[load].completion = Completion::Counted;
  p.ops[load].isBuffered = true;
  p.ops[load].bufferBytes = 32768;
  p.need(load, read);
  p.need(read, dot);
  p.chain(dot, dot, 1, 256);
  Solution s = solve(p);
  EXPECT_EQ(s.interval, 256);
  EXPECT_EQ(s.ops[dot].stage, 3);
  EXPECT_EQ(s.ops[read].stage, 3);
  EXPECT_EQ(s.ops[load].inFlight, 3);
  EXPECT_EQ(s.ops[load].depth, 4);
  p.ops[load].pins.depth = 3;
  s = solve(p);
  EXPECT_EQ(s.ops[dot].stage, 2);
  EXPECT_EQ(s.interval, 281); // 800 and 40 cycles, and one, in three
}

//===- Attention ----------------------------------------------------------------------------===//

TEST(Solver, PutsTheSecondDotOfAttentionOneStageLater) {
  Attention p;
  Solution s = solve(p);
  // Two dots of 256 cycles. The second cannot be ready before 700, in the middle of the next first.
  EXPECT_EQ(s.interval, 512);
  EXPECT_EQ(s.ops[p.softmax].role, p.mma);
  EXPECT_EQ(s.ops[p.scores].stage, 0);
  EXPECT_EQ(s.ops[p.softmax].stage, 0);
  EXPECT_EQ(s.ops[p.sum].stage, 1);
  // The scores of the next keys, the values of these, the softmax.
  EXPECT_EQ(s.ops[p.scores].order, 0);
  EXPECT_EQ(s.ops[p.sum].order, 1);
  EXPECT_EQ(s.ops[p.softmax].order, 2);
  EXPECT_EQ(s.ops[p.scores].inFlight, 1);
}

TEST(Solver, HoldsPinnedStages) {
  Attention p;
  p.ops[p.scores].pins.stage = 0;
  p.ops[p.sum].pins.stage = 0;
  Solution s = solve(p);
  // Not overlapped, a trip is as long as the way through it: 280, 420, and the second dot's 256.
  EXPECT_EQ(s.ops[p.sum].stage, 0);
  EXPECT_GE(s.interval, 280 + 420);
  p.ops[p.sum].pins.stage = 2;
  s = solve(p);
  EXPECT_EQ(s.ops[p.sum].stage, 2);
  EXPECT_EQ(s.interval, 512);
}

TEST(Solver, HoldsPinnedOrders) {
  Attention p;
  p.ops[p.softmax].pins.order = 0;
  p.ops[p.scores].pins.order = 1;
  p.ops[p.sum].pins.order = 2;
  Solution s = solve(p);
  // The softmax is in front of the dot that it needs, so it is a stage later.
  EXPECT_EQ(s.ops[p.softmax].order, 0);
  EXPECT_EQ(s.ops[p.scores].order, 1);
  EXPECT_EQ(s.ops[p.sum].order, 2);
  EXPECT_EQ(s.ops[p.softmax].stage, s.ops[p.scores].stage + 1);
}

TEST(Solver, HoldsStagesAndOrdersTogether) {
  Attention p;
  p.ops[p.scores].pins = {p.mma, 0, 0, {}, 1};
  p.ops[p.sum].pins = {p.mma, 1, 1, {}, {}};
  p.ops[p.softmax].pins = {p.mma, 0, 2, {}, {}};
  p.ops[p.keys].pins.depth = 2;
  Solution s = solve(p);
  // 600 for the load, 280 for the dot and one more cycle go into two intervals.
  EXPECT_EQ(s.interval, 512);
  EXPECT_EQ(s.ops[p.keys].depth, 2);
}

TEST(Solver, FindsTheOrderOfAttentionWithRescaledSums) {
  // The softmax in parts, and a running maximum by which the sum so far is scaled in registers.
  Attention p;
  p.dependences.clear();
  unsigned lookup = p.addUnit("lookup"), most = p.softmax;
  p.ops[most].latency = 120;
  p.ops[most].reservations = {{p.lanes, 100}};
  unsigned exponents = p.addOp("exponents", 260, lookup, 256);
  unsigned rescale = p.addOp("rescale", 70, p.lanes, 64);
  unsigned total = p.addOp("total", 110, p.lanes, 100);
  p.need(p.keys, p.scores);
  p.need(p.scores, most);
  p.need(most, most, 1);
  p.need(p.scores, exponents);
  p.need(most, exponents);
  p.need(exponents, total);
  p.need(total, total, 1);
  p.need(most, rescale);
  p.need(p.sum, rescale, 1);
  p.need(exponents, p.sum);
  p.need(p.values, p.sum);
  p.dependences.push_back({rescale, p.sum, 0, Dependence::Value, std::nullopt, true});
  p.ops[p.scores].registerBytes = p.ops[p.sum].registerBytes = 65536;
  p.ops[rescale].registerBytes = 65536;
  p.ops[exponents].registerBytes = 32768;
  p.roles[p.mma].registerBytes = 163840; // the sum, scores, and the exponents of the trip before
  Solution s = solve(p);
  // The next scores start, then the sum of these; the maximum waits for the scores alone. The sum
  // is waited for at its trip's end, 256 + 280 cycles behind the begin.
  EXPECT_EQ(s.interval, 536);
  EXPECT_EQ(s.ops[p.scores].order, 0);
  EXPECT_EQ(s.ops[p.scores].inFlight, 1);
  EXPECT_EQ(s.ops[p.sum].inFlight, 0);
  EXPECT_LT(s.ops[p.sum].order, s.ops[most].order);
  for (unsigned op : {p.scores, most, exponents})
    EXPECT_EQ(s.ops[op].stage, 0);
  for (unsigned op : {rescale, p.sum})
    EXPECT_EQ(s.ops[op].stage, 1);
  EXPECT_EQ(s.ops[p.keys].depth, 2);
  EXPECT_EQ(s.ops[p.values].depth, 2);
}

//===- Circles, registers, blocks -----------------------------------------------------------===//

TEST(Solver, IsBoundByRecurrences) {
  Build p;
  p.addRole("all");
  unsigned a = p.addOp("a", 10), b = p.addOp("b", 21);
  p.need(a, b);
  p.need(b, a, 1);
  EXPECT_EQ(getLeast(p).byCircles, 31);
  EXPECT_EQ(solve(p).interval, 31);
  p.dependences[1].distance = 2;
  EXPECT_EQ(getLeast(p).byCircles, 16);
  EXPECT_EQ(solve(p).interval, 16);
}

TEST(Solver, SharesUnits) {
  Build p;
  p.addRole("x");
  p.addRole("y");
  unsigned core = p.addUnit("core", 2), issue = p.addUnit("issue", 1, true);
  for (unsigned role : {0, 0, 1}) {
    unsigned op = p.addOp("op", 10, core, 10);
    p.ops[op].reservations.push_back({issue, 7});
    p.ops[op].pins.role = role;
  }
  // Three times 10 cycles on two units; two times 7 on one role's own.
  EXPECT_EQ(getLeast(p).byUnits, 15);
  Solution s = solve(p);
  EXPECT_GE(s.interval, 15);
  EXPECT_LE(s.interval, 20);
}

TEST(Solver, HasFewerStagesWithFewerRegisters) {
  Build p;
  p.addRole("all");
  unsigned memory = p.addUnit("memory"), add = p.addUnit("add");
  unsigned x = p.addOp("x", 400, memory, 100), y = p.addOp("y", 10, add, 10);
  p.ops[x].registerBytes = 1000;
  p.need(x, y);
  Solution s = solve(p);
  EXPECT_EQ(s.interval, 100);
  EXPECT_EQ(s.ops[y].stage, 4);
  EXPECT_EQ(getDemand(p, s).registerBytes[0], 4000);
  p.roles[0].registerBytes = 2500;
  s = solve(p);
  EXPECT_EQ(s.ops[y].stage, 2);
  EXPECT_EQ(s.interval, 200);
  EXPECT_EQ(getDemand(p, s).registerBytes[0], 2000);
  p.roles[0].registerBytes = 999;
  EXPECT_THAT(refuse(p), HasSubstr("op 0 'x': stage: expected at most 999 bytes of registers in "
                                   "role 'all', got results of 1000 at once"));
}

TEST(Solver, HasNoMoreStagesThanAllowed) {
  Attention p;
  p.mostStages = 1;
  EXPECT_EQ(solve(p).ops[p.sum].stage, 0);
}

TEST(Solver, SchedulesBlocks) {
  Attention p;
  p.isLoop = false;
  p.dependences.pop_back(); // the chain
  Solution s = solve(p);
  for (const Placement &placement : s.ops)
    EXPECT_EQ(placement.stage, 0);
  EXPECT_EQ(s.ops[p.keys].depth, 1);
  EXPECT_GE(s.ops[p.sum].start, 600 + 280 + 420);
}

TEST(Solver, SchedulesNothing) {
  Build p;
  p.addRole("all");
  EXPECT_EQ(solve(p).interval, 1);
}

//===- Roles --------------------------------------------------------------------------------===//

TEST(Roles, FollowUsersAndWarps) {
  Attention p;
  unsigned address = p.addOp("address", 4), tail = p.addOp("tail", 4);
  p.need(address, p.keys);
  p.need(p.sum, tail, 1);
  llvm::SmallVector<unsigned> roles = *assignRoles(p);
  EXPECT_EQ(roles[address], p.loads);
  EXPECT_EQ(roles[p.softmax], p.mma);
  EXPECT_EQ(roles[tail], p.mma);
  unsigned lone = p.addOp("lone", 4);
  p.ops[lone].warpMultiple = 4;
  EXPECT_EQ((*assignRoles(p))[lone], p.mma);
  p.ops[lone].warpMultiple = 8;
  EXPECT_EQ(refuse(p), "op 7 'lone': role: expected one with a multiple of 8 warps for it and what "
                       "it cannot be parted from, got none");
}

TEST(Roles, AreNotPartedWhereNoRingIs) {
  Attention p;
  p.ops[p.scores].pins.role = p.mma;
  p.ops[p.sum].pins.role = p.loads;
  EXPECT_EQ(refuse(p), "op 4 'sum': role: expected 'mma', as of 'scores', since no ring can hand "
                       "on what is between them, got 'load'");
  p.ops[p.softmax].bufferBytes = 16384; // what the softmax makes can go through a ring
  EXPECT_EQ(solve(p).ops[p.sum].role, p.loads);
}

//===- Pins that cannot hold ----------------------------------------------------------------===//

TEST(Pins, AreNamedWhereStagesCannotHold) {
  Attention p;
  p.ops[p.scores].pins.stage = 1;
  p.ops[p.softmax].pins.stage = 0;
  EXPECT_THAT(refuse(p), testing::MatchesRegex("op [12] '(scores|softmax)': stage: expected a pin "
                                               "by which none waits for itself at any interval.*"));
}

TEST(Pins, AreNamedWhereOrdersCannotHold) {
  Attention p;
  p.ops[p.scores].pins = {p.mma, 0, 1, {}, {}};
  p.ops[p.softmax].pins = {p.mma, 0, 0, {}, {}};
  EXPECT_THAT(refuse(p), testing::MatchesRegex("op [12] '(scores|softmax)': order: .*"));
}

TEST(Pins, AreNamedWhereCountsCannotHold) {
  Attention p;
  p.ops[p.scores].pins.inFlight = 3;
  EXPECT_THAT(refuse(p), HasSubstr("op 1 'scores': in_flight: expected at most"));
  p.ops[p.scores].pins.inFlight.reset();
  p.ops[p.softmax].pins.depth = 2;
  EXPECT_EQ(refuse(p), "op 2 'softmax': depth: expected none, since no ring can hold the result");
  p.ops[p.softmax].bufferBytes = 16384;
  EXPECT_EQ(refuse(p),
            "op 2 'softmax': depth: expected none, since no ring holds the result, got 2");
}

TEST(Pins, AreNamedWhereRingsAreTooShallow) {
  Product p;
  unsigned use = p.addOp("use", 10);
  p.dependences.push_back({p.load, use, 1}); // reads the slot an iteration later,
  p.need(p.dot, use);                        // behind the next dot
  p.ops[use].pins.role = p.mma;
  p.ops[p.load].pins.depth = 1;
  EXPECT_THAT(refuse(p), HasSubstr("op 0 'load': depth: expected a pin by which none waits for "
                                   "itself at any interval"));
  p.ops[p.load].pins.depth = 2;
  EXPECT_EQ(solve(p).ops[p.load].depth, 2);
}

TEST(Solver, OnlyCompletesPinsWhereItIsAskedTo) {
  SwingModuloScheduler completing({true, int64_t(1) << 26});
  Attention p;
  for (Op &op : p.ops)
    op.latency = 0;
  for (Op &op : p.ops)
    op.reservations.clear();
  p.dependences.back().latency = 0;
  p.ops[p.sum].pins.stage = 1;
  p.ops[p.scores].pins.stage = 0;
  Solution s = solve(p, completing);
  EXPECT_EQ(s.ops[p.sum].stage, 1);
  EXPECT_EQ(s.ops[p.sum].order, 2); // as in the source; the solver alone has other reasons
  EXPECT_EQ(s.interval, 3);         // a cycle an op
  EXPECT_EQ(s.ops[p.scores].inFlight, 0);
}

TEST(Solver, GivesUpBySteps) {
  Product p;
  p.budget.sharedBytes = 3 * 32768;
  EXPECT_THAT(refuse(p, SwingModuloScheduler({false, 10})),
              HasSubstr("interval: expected a schedule within 10 steps, got none up to an interval "
                        "of 256; there, op 0 'load': depth: "));
}
