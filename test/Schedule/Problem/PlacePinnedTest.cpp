// Schedules all of whose stages and orders are pinned.
#include "Build.h"

using namespace kiln::schedule;
using llvm::SmallVector;
using testing::HasSubstr;

namespace {
struct PlacePinned : testing::Test {
  Attention p;
  PlacePinned() {
    pin(p.keys, 0, 0, 1);
    pin(p.values, 0, 1, 1);
    pin(p.scores, 0, 0);
    pin(p.sum, 1, 1);
    pin(p.softmax, 0, 2);
    p.ops[p.softmax].pins.role = p.mma;
    // Units are left out.
    for (Op &op : p.ops)
      op.reservations.clear();
  }
  void pin(unsigned op, int64_t stage, int64_t order, std::optional<int64_t> depth = {}) {
    p.ops[op].pins.stage = stage;
    p.ops[op].pins.order = order;
    p.ops[op].pins.depth = depth;
  }
  std::string placed() {
    Violation why;
    std::optional<Solution> solution = placePinned(p, &why);
    return solution ? getViolation(verify(p, *solution)) : why.str();
  }
};
} // namespace

TEST_F(PlacePinned, FindsStartsThatVerify) {
  // The values of a trip are used in the next, behind the scores of that one, whose keys come
  // first.
  EXPECT_EQ(placed(), "none");
}

TEST_F(PlacePinned, NamesTheRingThatDeadlocks) {
  // Values in front of keys wait for a product behind scores that wait for these keys.
  pin(p.values, 0, 0, 1);
  pin(p.keys, 0, 1, 1);
  EXPECT_THAT(placed(),
              HasSubstr("'values': depth: expected at least 2, since with fewer slots the "
                        "roles wait for one another"));
}

TEST_F(PlacePinned, NamesWhatADotInFlightHolds) {
  // Two later products are under way once the next trip has ended, whose keys come behind.
  p.ops[p.sum].pins.inFlight = 2;
  EXPECT_THAT(placed(), HasSubstr("'values': depth: expected at least 2"));
  pin(p.values, 0, 1, 2);
  EXPECT_EQ(placed(), "none");
}

TEST_F(PlacePinned, LeavesAWholeTripToLateWork) {
  p.ops[p.softmax].latency = 100000;
  EXPECT_EQ(placed(), "none");
}

TEST_F(PlacePinned, AsksForAllPins) {
  p.ops[p.softmax].pins.order.reset();
  EXPECT_EQ(placed(), "op 2 'softmax': order: expected a role, a stage and an order, all of them "
                      "pinned");
}

TEST_F(PlacePinned, HoldsRingsWithWhatElseIsThere) {
  pin(p.values, 0, 1, 2);
  p.budget.sharedBytes = 4 * 32768;
  p.otherPieces.push_back({"a buffer", 32768});
  EXPECT_EQ(placed(), "none");
  p.otherPieces.push_back({"another", 1});
  EXPECT_THAT(placed(),
              HasSubstr("expected rings of at most 131072 bytes of shared memory together, "
                        "got 131200"));
}

/// Pieces at their lowest places.
TEST(SharedMemory, SharesWhatIsNotInUseAtOnce) {
  SmallVector<SharedPiece> pieces = {
      {"a", 100, 0, 10}, {"b", 100, 5, 20}, {"c", 50, 11, 12}, {"d", 300, 21, 30}};
  EXPECT_EQ(placePieces(pieces), 300);
  EXPECT_EQ(pieces[0].offset, 0);
  EXPECT_EQ(pieces[1].offset, 128);
  EXPECT_EQ(pieces[2].offset, 0);
  EXPECT_EQ(pieces[3].offset, 0);
}

TEST(SharedMemory, KeepsPartsApartThatRunAtOnce) {
  SmallVector<SharedPiece> pieces = {
      {"a", 64, 0, 1, 1024, 0}, {"b", 64, 5, 6, 1024, 1}, {"c", 64, 2, 3, 1024, 0}};
  EXPECT_EQ(placePieces(pieces), 1024 + 64);
  EXPECT_EQ(pieces[1].offset, 1024);
  EXPECT_EQ(pieces[2].offset, 0);
}
