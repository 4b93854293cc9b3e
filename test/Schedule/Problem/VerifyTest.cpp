// Solutions with one thing wrong.
#include "Build.h"

using namespace kiln::schedule;
using testing::HasSubstr;

namespace {
/// The schedule of attention by hand: an interval of 512, the second dot a stage later.
struct Verify : testing::Test {
  Attention p;
  Solution s;
  Verify() {
    s.interval = 512;
    s.origins = {0, 600};
    s.ops.resize(p.ops.size());
    s.ops[p.keys] = {p.loads, 0, 0, 0, 2};
    s.ops[p.values] = {p.loads, 700, 1, 1, 3};
    s.ops[p.scores] = {p.mma, 600, 0, 0, 0, 1};
    s.ops[p.sum] = {p.mma, 1368, 1, 1, 0, 1};
    s.ops[p.softmax] = {p.mma, 880, 0, 2};
  }
  std::string verified() { return getViolation(verify(p, s)); }
};
} // namespace

TEST_F(Verify, AcceptsASchedule) { EXPECT_EQ(verified(), "none"); }

TEST_F(Verify, RefusesOtherShapes) {
  s.interval = 0;
  EXPECT_EQ(verified(), "interval: expected 1 to 1099511627776 cycles, got 0");
  s.interval = 512;
  s.origins.pop_back();
  EXPECT_EQ(verified(), "solution: expected 2 origins, one a role, got 1");
  s.ops.pop_back();
  EXPECT_EQ(verified(), "solution: expected 5 placements, one an op, got 4");
}

TEST_F(Verify, HoldsPins) {
  p.ops[p.sum].pins.stage = 0;
  EXPECT_EQ(verified(), "op 4 'sum': stage: expected 0, to which it is pinned, got 1");
  p.ops[p.sum].pins = {p.mma, {}, 1, {}, {}};
  p.ops[p.softmax].pins.order = 0;
  EXPECT_EQ(verified(), "op 2 'softmax': order: expected to be in front of 'sum', since they are "
                        "pinned to 0 and 1, got 2 and 1");
  p.ops[p.sum].pins = {p.loads, {}, {}, {}, {}};
  EXPECT_EQ(verified(), "op 4 'sum': role: expected 0, to which it is pinned, got 1");
  p.ops[p.sum].pins = {p.mma, {}, {}, {}, 0};
  EXPECT_EQ(verified(), "op 4 'sum': in_flight: expected 0, to which it is pinned, got 1");
  p.ops[p.sum].pins.inFlight.reset();
  p.ops[p.keys].pins.depth = 3;
  EXPECT_EQ(verified(), "op 0 'keys': depth: expected 3, to which it is pinned, got 2");
}

TEST_F(Verify, HoldsStagesAndOrdersAgainstStarts) {
  s.ops[p.sum].stage = 0;
  EXPECT_EQ(verified(), "op 4 'sum': stage: expected 1, as it starts 768 cycles behind its role's "
                        "origin in an interval of 512, got 0");
  s.ops[p.sum].stage = 1;
  std::swap(s.ops[p.sum].order, s.ops[p.softmax].order);
  EXPECT_THAT(verified(), HasSubstr("order: expected one in front of 'softmax', which starts later "
                                    "in a trip, got 2"));
  s.ops[p.sum].order = s.ops[p.softmax].order = 2;
  EXPECT_THAT(verified(), HasSubstr("order: expected orders of role 'mma' to count from 0, each "
                                    "once, got 2 as number 1"));
}

TEST_F(Verify, AsksForStagesFromZero) {
  s.origins[p.mma] -= 512;
  for (unsigned op : {p.scores, p.sum, p.softmax})
    ++s.ops[op].stage;
  EXPECT_EQ(verified(),
            "op 1 'scores': stage: expected stages that begin with 0 in role 'mma', got 1");
}

TEST_F(Verify, AsksForWhatIsNeeded) {
  s.ops[p.softmax].start = 879;
  EXPECT_EQ(verified(), "op 2 'softmax': start: expected cycle 880 or later, when what it needs of "
                        "'scores' is there, got 879");
  s.ops[p.softmax] = {p.mma, 600 + 10, 0, 1}; // in front of the second dot, as no softmax can be
  s.ops[p.sum].order = 2;
  s.ops[p.scores].inFlight = 0;
  EXPECT_THAT(verified(), HasSubstr("op 2 'softmax': start: expected cycle 880 or later"));
  s.ops[p.scores] = {p.mma, 600 + 511, 0, 2, 0, 0};
  s.ops[p.softmax].order = 0;
  s.ops[p.sum].order = 1;
  EXPECT_EQ(verified(), "op 2 'softmax': order: expected more than 2, that of 'scores', which it "
                        "needs in the same trip, got 0");
}

TEST_F(Verify, AsksForUnits) {
  s.ops[p.sum].start -= 1; // on the tensor cores' last cycle of the scores
  EXPECT_EQ(verified(),
            "op 4 'sum': start: expected a cycle at which 'tensor' serves less than 1 of "
            "the ops before it, in an interval of 512, got 1367");
}

TEST_F(Verify, AsksForCountsThatWaitLongEnough) {
  s.ops[p.scores].inFlight = 2;
  EXPECT_EQ(verified(),
            "op 1 'scores': in_flight: expected at most 1, the starts of 'group' before "
            "its result is used, got 2");
  // With a count of 0 the softmax waits for the second dot as well, which is done at 1368 + 280.
  s.ops[p.scores].inFlight = 0;
  EXPECT_EQ(verified(),
            "op 1 'scores': in_flight: expected a count that lets 'softmax' start before "
            "cycle 1136, when the wait has seen 'sum' done, got 0 and a start at 880");
  s.ops[p.scores].inFlight = 1;
  s.ops[p.softmax].inFlight = 1;
  EXPECT_EQ(verified(), "op 2 'softmax': in_flight: expected none, since the op is not counted");
}

TEST_F(Verify, NamesRingsThatDeadlock) {
  // The values' slot is held until the trip after that of the next second dot; with one slot, none
  // is free for these.
  s.ops[p.sum].inFlight = 3;
  s.ops[p.values].depth = 1;
  EXPECT_THAT(
      verified(),
      testing::MatchesRegex("op 3 'values': depth: expected at least [23], since with fewer slots "
                            "the roles wait for one another: .*, got 1"));
}

TEST_F(Verify, NamesRingsThatHoldUpTheirMaker) {
  s.ops[p.keys].depth = 1;
  EXPECT_EQ(verified(), "op 0 'keys': depth: expected at least 2, since a slot is in use for 880 "
                        "cycles and one is filled every 512, got 1");
}

TEST_F(Verify, NamesRolesThatWaitForOneAnother) {
  // Keys need what the sum before made, and that sum needs values, which stand behind these keys.
  unsigned tail = p.addOp("tail", 0);
  p.ops[tail].bufferBytes = 1024;
  p.need(p.sum, tail);
  p.need(tail, p.keys, 1);
  s.ops.push_back({p.mma, 1648, 2, 1, 4});
  s.ops[p.sum].order = 2;
  s.ops[p.softmax].order = 3;
  EXPECT_THAT(verified(),
              HasSubstr("order: expected roles that do not wait for one another, got "));
}

TEST_F(Verify, HoldsBudgets) {
  p.budget.sharedBytes = 4 * 32768;
  EXPECT_EQ(verified(),
            "op 3 'values': depth: expected rings of at most 131072 bytes of shared "
            "memory together, got 163840, of which this one of 3 slots ('depth') takes 98304");
  p.budget.sharedBytes.reset();
  p.ops[p.values].slotBarriers = 6;
  p.budget.namedBarriers = 16;
  EXPECT_THAT(verified(),
              HasSubstr("expected rings of at most 16 named barriers together, got 18"));
}

TEST_F(Verify, CountsLiveRegisters) {
  p.ops[p.scores].registerBytes = 100;
  p.ops[p.softmax].registerBytes = 50;
  p.ops[p.sum].registerBytes = 1000;
  // The sum is in one place all the time. Scores live from 600 to 880, weights from 880 until the
  // end of the second dot's work, which is known at its trip's end: 768 cycles and one interval.
  Demand demand = getDemand(p, s);
  EXPECT_EQ(demand.registerBytes[p.loads], 0);
  EXPECT_EQ(demand.registerBytes[p.mma], 1000 + 100 + 2 * 50);
  EXPECT_EQ(demand.sharedBytes, 5 * 32768);
  // What the dot's result takes the place of ends where the dot starts.
  p.dependences[2].isInPlace = true;
  EXPECT_EQ(getDemand(p, s).registerBytes[p.mma], 1000 + 100 + 50);
  p.dependences[2].isInPlace = false;
  p.roles[p.mma].registerBytes = 1199;
  EXPECT_EQ(verified(),
            "op 4 'sum': stage: expected at most 1199 bytes of registers in role 'mma', "
            "got results of 1200 at once by its copies, of which this op's is the largest");
}
