// What a profile counts, of accesses whose banks and sectors are known.
#include "Block.h"
#include "gtest/gtest.h"

using namespace kiln::emulated;
using kiln::analysis::HappensBefore;

namespace {
constexpr int kRead = 1, kWrite = 2, kShared = 8;
constexpr unsigned kSite = 3;

class ProfileTest : public testing::Test {
protected:
  ProfileTest() { profile.begin(order, 64); }
  /// Each lane of a warp accesses so many bytes, that much apart.
  void access(int kind, uint64_t stride, int64_t bytes) {
    for (unsigned lane = 0; lane < 32; ++lane) {
      profile.step(lane, kSite);
      profile.access(lane, kSite, stride * lane, bytes, kind);
    }
    profile.endTurn();
  }
  int64_t get(const char *key) {
    llvm::json::Object told = profile.describe({nullptr, nullptr, 64, 32});
    for (const llvm::json::Value &site : *told.getArray("sites"))
      if (site.getAsObject()->getInteger("site") == kSite)
        return site.getAsObject()->getInteger(key).value_or(0);
    return -1;
  }

  HappensBefore order{64};
  Profile profile{8,
                  32,
                  {{{32, {1, 2, 4, 8, 16}}, {32, {1, 2, 4, 8}}, {32, {1, 2, 4}}}},
                  {{{64, {1, 2, 4, 8, 16}}, {32, {1, 2, 4, 8}}, {32, {1, 2, 4}}}}};
};
} // namespace

TEST_F(ProfileTest, NeighbouringWordsHaveNoConflict) {
  access(kRead | kShared, 4, 4);
  EXPECT_EQ(get("warps"), 1);
  EXPECT_EQ(get("lanes"), 32);
  EXPECT_EQ(get("bytes"), 128);
  EXPECT_EQ(get("cycles"), 1);
  EXPECT_EQ(get("fewest_cycles"), 1);
}

TEST_F(ProfileTest, WordsOfOneBankAreServedOneByOne) {
  access(kRead | kShared, 128, 4);
  EXPECT_EQ(get("cycles"), 32);
  EXPECT_EQ(get("fewest_cycles"), 1);
}

TEST_F(ProfileTest, WritesHaveBanksOfTheirOwn) {
  access(kWrite | kShared, 128, 4);
  EXPECT_EQ(get("cycles"), 16);
}

TEST_F(ProfileTest, OneWordForAllIsServedOnce) {
  access(kRead | kShared, 0, 4);
  EXPECT_EQ(get("cycles"), 1);
}

TEST_F(ProfileTest, WideAccessesAreServedByGroupsOfLanes) {
  access(kRead | kShared, 16, 16);
  EXPECT_EQ(get("cycles"), 4);
  EXPECT_EQ(get("fewest_cycles"), 4);
  // Eight rows of 128 bytes: each group asks four banks for eight words each.
  access(kRead | kShared, 128, 16);
  EXPECT_EQ(get("cycles"), 4 + 32);
  EXPECT_EQ(get("fewest_cycles"), 8);
}

TEST_F(ProfileTest, SectorsOfGlobalMemoryCountOnce) {
  access(kRead, 4, 4);
  EXPECT_EQ(get("sectors"), 4);
  access(kRead, 64, 4);
  EXPECT_EQ(get("sectors"), 4 + 32);
}

TEST_F(ProfileTest, LanesThatComeAgainAreAnotherInstruction) {
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned trip = 0; trip <= lane % 2; ++trip)
      profile.step(lane, kSite);
  profile.endTurn();
  EXPECT_EQ(get("warps"), 2);
  EXPECT_EQ(get("lanes"), 32 + 16);
}

TEST_F(ProfileTest, WhoWaitsGoesOnAtTheTimeOfWhomItWaitedFor) {
  for (unsigned i = 0; i < 10; ++i)
    profile.step(32, 1);
  profile.step(0, kSite);
  order.meet({0, 32});
  profile.step(0, 1);
  profile.endTurn();
  EXPECT_EQ(get("waits"), 1);
  EXPECT_EQ(get("waited"), 9);
}
