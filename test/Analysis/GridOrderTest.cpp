// What programs of a grid tell one another by words in memory, and what of their accesses clashes.
#include "kiln/Analysis/GridHistory.h"
#include "gtest/gtest.h"

using namespace kiln::analysis;

namespace {
/// Two programs of two blocks, each of two threads.
class GridOrderTest : public testing::Test {
protected:
  explicit GridOrderTest(bool isBare = false) : order(isBare) {
    for (uint32_t &run : runs)
      run = order.begin(std::make_shared<HappensBefore>(4), 2);
  }
  GridEvent now(uint32_t run, Agent thread, bool isAtomic = false) {
    return {run, order.orderOf(run).now(thread), thread, 0, isAtomic};
  }
  bool knows(uint32_t run, Agent thread, const GridEvent &event) {
    return order.knows(run, thread, event, /*isRead=*/false);
  }
  bool write(uint32_t run, Agent thread, size_t first, size_t count = 4, uint8_t value = 0) {
    std::vector<uint8_t> written(count, value);
    bool isRight = !history.access(thread, now(run, thread),
                                   {at(first), count, false, true, written.data(), memory + first});
    std::fill_n(memory + first, count, value);
    return isRight;
  }
  bool read(uint32_t run, Agent thread, size_t first, size_t count = 4) {
    return !history.access(thread, now(run, thread), {at(first), count, true, false});
  }
  bool update(uint32_t run, Agent thread, size_t first) {
    return !history.access(thread, now(run, thread, true), {at(first), 4, true, true});
  }
  uint64_t at(size_t offset) { return reinterpret_cast<uint64_t>(memory) + offset; }

  GridOrder order;
  GridHistory history{order};
  uint32_t runs[2];
  alignas(4096) uint8_t memory[8192] = {};
};
struct BareOrderTest : GridOrderTest {
  BareOrderTest() : GridOrderTest(true) {}
};
constexpr uint64_t kFlag = 64;
} // namespace

TEST_F(GridOrderTest, WhoAcquiresFromAWordKnowsWhatWasReleasedToIt) {
  GridEvent early = now(0, 0);
  order.tell(0, 0, kFlag, /*alone=*/true, /*releases=*/true, Scope::Grid);
  GridEvent late = now(0, 0);
  EXPECT_FALSE(knows(1, 0, early));
  order.look(1, 0, kFlag, /*acquires=*/true, Scope::Grid);
  EXPECT_TRUE(knows(1, 0, early));
  EXPECT_FALSE(knows(1, 0, late));
  EXPECT_FALSE(knows(1, 1, early));
}

TEST_F(GridOrderTest, ARelaxedAccessTellsNothingButGoesOnWithARelease) {
  GridEvent event = now(0, 0);
  order.tell(0, 0, kFlag, false, /*releases=*/false, Scope::Grid);
  order.look(1, 0, kFlag, true, Scope::Grid);
  EXPECT_FALSE(knows(1, 0, event));
  order.tell(0, 0, kFlag, false, true, Scope::Grid);
  order.tell(0, 1, kFlag, /*alone=*/false, false, Scope::Grid);
  order.look(1, 1, kFlag, /*acquires=*/false, Scope::Grid);
  EXPECT_FALSE(knows(1, 1, event));
  order.look(1, 0, kFlag, true, Scope::Grid);
  EXPECT_TRUE(knows(1, 0, event));
  order.tell(0, 1, kFlag, /*alone=*/true, false, Scope::Grid);
  order.look(1, 2, kFlag, true, Scope::Grid);
  EXPECT_FALSE(knows(1, 2, event)) << "a store of its own tells of what was there no more";
}

TEST_F(GridOrderTest, FencesMakeRelaxedAccessesTell) {
  GridEvent event = now(0, 0);
  order.fence(0, 0, false, /*releases=*/true, Scope::Grid);
  order.tell(0, 0, kFlag, true, false, Scope::Grid);
  order.look(1, 0, kFlag, false, Scope::Grid);
  EXPECT_FALSE(knows(1, 0, event));
  order.fence(1, 0, /*acquires=*/true, false, Scope::Grid);
  EXPECT_TRUE(knows(1, 0, event));
}

TEST_F(GridOrderTest, WhatIsForOneBlockReachesNoOther) {
  GridEvent event = now(0, 0);
  order.tell(0, 0, kFlag, true, true, Scope::Block);
  for (Scope scope : {Scope::Block, Scope::Grid})
    for (auto [run, thread] : {std::pair(0, 2), std::pair(1, 0)}) {
      order.look(run, thread, kFlag, true, scope);
      EXPECT_FALSE(knows(run, thread, event));
    }
  order.look(0, 1, kFlag, true, Scope::Block);
  EXPECT_TRUE(knows(0, 1, event));
  // Who looks for its block alone hears of no other, whoever was told.
  order.tell(0, 0, kFlag, true, true, Scope::Grid);
  order.look(1, 0, kFlag, true, Scope::Block);
  EXPECT_FALSE(knows(1, 0, event));
}

TEST_F(GridOrderTest, OnlyWhatReachesOthersIsTold) {
  GridEvent event = now(0, 0);
  order.tell(0, 0, kFlag, true, true, Scope::Block);
  EXPECT_FALSE(order.hasTold(event));
  order.tell(0, 0, kFlag, true, true, Scope::Grid);
  EXPECT_TRUE(order.hasTold(event));
}

TEST_F(GridOrderTest, WhatIsHeardIsHandedOn) {
  GridEvent event = now(0, 0);
  order.tell(0, 0, kFlag, true, true, Scope::Grid);
  order.look(1, 0, kFlag, true, Scope::Grid);
  order.orderOf(1).meet({0, 1});
  EXPECT_TRUE(knows(1, 1, event)) << "by a barrier";
  order.tell(1, 1, kFlag + 4, true, true, Scope::Grid);
  order.look(0, 3, kFlag + 4, true, Scope::Grid);
  EXPECT_TRUE(knows(0, 3, event)) << "back to its own run";
}

TEST_F(GridOrderTest, ARunThatHasEndedIsStillKnown) {
  GridEvent event = now(0, 0);
  order.tell(0, 0, kFlag, true, true, Scope::Grid);
  order.end(0);
  EXPECT_FALSE(knows(1, 0, event));
  EXPECT_TRUE(order.hasTold(event));
  order.look(1, 0, kFlag, true, Scope::Grid);
  EXPECT_TRUE(knows(1, 0, event));
}

TEST_F(GridOrderTest, AWatchedOrderIsOnAWayToAnotherProgram) {
  auto watch = std::make_shared<Watch>();
  watch->sites = {1};
  for (uint32_t run : runs)
    order.orderOf(run).watch(watch);
  auto meet = [&](uint32_t run, uint32_t site) {
    order.orderOf(run).setSite(site);
    order.orderOf(run).meet({0, 1});
    order.orderOf(run).setSite(0);
  };
  auto isBehind = [&](const GridEvent &event) {
    EXPECT_TRUE(knows(1, 1, event));
    return order.isBehindWatched(now(1, 1), 1, event);
  };
  // In the one that tells, in the one that has heard, in none.
  for (auto [first, second] : {std::pair(1, 0), std::pair(0, 1), std::pair(0, 0)}) {
    GridEvent event = now(0, 1);
    meet(0, first);
    order.tell(0, 0, kFlag, /*alone=*/true, /*releases=*/true, Scope::Grid);
    order.look(1, 0, kFlag, /*acquires=*/true, Scope::Grid);
    meet(1, second);
    EXPECT_EQ(isBehind(event), first || second);
  }
}

TEST_F(BareOrderTest, WhatWasNotWaitedForIsNotThere) {
  GridEvent event = now(0, 0);
  order.orderOf(0).meet({0, 1});
  EXPECT_FALSE(knows(0, 1, event));
  EXPECT_TRUE(order.knows(0, 1, event, /*isRead=*/true));
  order.tell(0, 1, kFlag, true, true, Scope::Grid);
  order.look(1, 0, kFlag, true, Scope::Grid);
  EXPECT_FALSE(knows(1, 0, event)) << "who tells of it has waited for its own alone";
  order.publish(0, 0);
  order.orderOf(0).meet({0, 1});
  EXPECT_TRUE(knows(0, 1, event));
  order.tell(0, 1, kFlag, true, true, Scope::Grid);
  order.look(1, 0, kFlag, true, Scope::Grid);
  EXPECT_TRUE(knows(1, 0, event));
}

TEST(BlockFencesTest, WhatABlockAloneFindsNoneOfItsThreadsTells) {
  for (bool wait : {false, true}) {
    GridOrder order(/*isBare=*/true, /*blockFencesWait=*/wait);
    uint32_t one = order.begin(std::make_shared<HappensBefore>(4), 2);
    uint32_t other = order.begin(std::make_shared<HappensBefore>(4), 2);
    auto knows = [&](uint32_t run, Agent thread, const GridEvent &event) {
      return order.knows(run, thread, event, /*isRead=*/false);
    };
    auto tell = [&] {
      order.orderOf(one).meet({0, 1});
      order.tell(one, 1, kFlag, /*alone=*/true, /*releases=*/true, Scope::Grid);
      order.look(other, 0, kFlag, /*acquires=*/true, Scope::Grid);
    };
    GridEvent event = {one, order.orderOf(one).now(0), 0};
    order.fence(one, 0, /*acquires=*/true, /*releases=*/true, Scope::Block);
    tell();
    EXPECT_TRUE(knows(one, 1, event));
    EXPECT_EQ(knows(other, 0, event), wait);
    order.publish(one, 0);
    tell();
    EXPECT_TRUE(knows(other, 0, event));
  }
}

TEST(BlockFencesTest, AWarpWaitsAsOne) {
  GridOrder order(/*isBare=*/true, /*blockFencesWait=*/false);
  uint32_t one = order.begin(std::make_shared<HappensBefore>(4, /*lanes=*/2), 4);
  uint32_t other = order.begin(std::make_shared<HappensBefore>(4, 2), 4);
  GridEvent lane = {one, order.orderOf(one).now(1), 1}, warp = {one, order.orderOf(one).now(2), 2};
  for (Agent thread = 0; thread < 4; ++thread)
    order.fence(one, thread, /*acquires=*/true, /*releases=*/true, Scope::Block);
  order.orderOf(one).meet({0, 1, 2, 3});
  order.tell(one, 0, kFlag, /*alone=*/true, /*releases=*/true, Scope::Grid);
  order.look(other, 0, kFlag, /*acquires=*/true, Scope::Grid);
  EXPECT_TRUE(order.knows(other, 0, lane, /*isRead=*/false));
  EXPECT_FALSE(order.knows(other, 0, warp, /*isRead=*/false));
}

//===- Engines ------------------------------------------------------------------------------===//

TEST_F(GridOrderTest, AnEngineFindsWhatAFenceOfTheProxyHasInFront) {
  HappensBefore &own = order.orderOf(0);
  GridEvent event = now(0, 0);
  EXPECT_FALSE(order.finds(0, 0, event)) << "of its own thread";
  own.meet({0, 1});
  EXPECT_FALSE(order.finds(0, 1, event));
  own.fence(0);
  EXPECT_FALSE(order.finds(0, 0, event)) << "a fence for shared memory";
  order.fenceProxy(0, 1);
  EXPECT_TRUE(order.finds(0, 1, event)) << "by who was told";
  EXPECT_FALSE(order.finds(0, 0, event));
  own.meet({0, 1});
  EXPECT_TRUE(order.finds(0, 0, event));
}

TEST_F(GridOrderTest, AFenceOfTheProxyOrdersProgramsOnEitherSide) {
  auto tell = [&](uint32_t from, Agent thread, uint64_t word) {
    order.tell(from, thread, word, /*alone=*/true, /*releases=*/true, Scope::Grid);
  };
  GridEvent early = now(0, 0);
  tell(0, 0, kFlag);
  order.look(1, 0, kFlag, /*acquires=*/true, Scope::Grid);
  EXPECT_TRUE(knows(1, 0, early));
  EXPECT_FALSE(order.finds(1, 0, early));
  order.fenceProxy(1, 0);
  EXPECT_TRUE(order.finds(1, 0, early)) << "behind what was heard";
  tell(1, 0, kFlag + 4);
  order.look(0, 2, kFlag + 4, true, Scope::Grid);
  EXPECT_TRUE(order.finds(0, 2, early)) << "and handed on";
  GridEvent late = now(0, 0);
  order.fenceProxy(0, 0);
  tell(0, 0, kFlag);
  order.look(1, 1, kFlag, true, Scope::Grid);
  EXPECT_TRUE(order.finds(1, 1, late)) << "in front of what was told";
}

//===- Accesses -----------------------------------------------------------------------------===//

TEST_F(GridOrderTest, AnEngineReadsWhatIsBehindAFenceAlone) {
  HappensBefore &own = order.orderOf(0);
  Agent queue = own.addQueue();
  auto load = [&] {
    GridEvent event = {0, own.start(queue, 0, Proxy::Async), 0};
    return !history.access(0, event, {at(0), 4, true, false});
  };
  EXPECT_TRUE(write(0, 0, 0, 4, 1));
  EXPECT_TRUE(read(0, 0, 0));
  EXPECT_FALSE(load());
  order.fenceProxy(0, 0);
  EXPECT_TRUE(load());
}

TEST_F(GridOrderTest, AReadOfWhatAnotherProgramWritesIsFound) {
  EXPECT_TRUE(read(1, 0, 0)) << "of what was there before";
  EXPECT_TRUE(write(0, 0, 4, 4, 1));
  EXPECT_FALSE(read(1, 0, 4));
  EXPECT_FALSE(write(1, 0, 4, 4, 2));
  EXPECT_FALSE(write(0, 0, 0, 4, 3)) << "it was read";
  EXPECT_TRUE(write(1, 0, 8));
}

TEST_F(GridOrderTest, AccessesBehindAWatchedOrderAreCounted) {
  auto watch = std::make_shared<Watch>();
  watch->sites = {1};
  HappensBefore &threads = order.orderOf(0);
  threads.watch(watch);
  EXPECT_TRUE(write(0, 0, 0, 4, 1));
  threads.setSite(1);
  threads.meet({0, 1});
  EXPECT_TRUE(write(0, 0, 4, 4, 1));
  EXPECT_EQ(watch->uses, 0u);
  EXPECT_TRUE(read(0, 1, 0));
  EXPECT_EQ(watch->uses, 1u);
}

TEST_F(GridOrderTest, WhatIsWrittenAgainMayBeTheSame) {
  EXPECT_TRUE(write(0, 0, 0, 16, 7));
  EXPECT_TRUE(write(1, 0, 0, 16, 7));
  EXPECT_FALSE(write(1, 0, 0, 4, 8)) << "another program wrote it, too";
}

TEST_F(GridOrderTest, BytesThatWereWrittenTogetherPart) {
  EXPECT_TRUE(write(0, 0, 4080, 32, 1)) << "across two pages";
  EXPECT_FALSE(read(1, 0, 4110, 2));
  EXPECT_TRUE(read(1, 0, 4112, 16));
  EXPECT_TRUE(write(0, 0, 4110, 1, 3));
  EXPECT_FALSE(read(1, 0, 4109, 1));
}

TEST_F(GridOrderTest, AtomicAccessesGoTogether) {
  EXPECT_TRUE(update(0, 0, 0));
  EXPECT_TRUE(update(1, 0, 0));
  EXPECT_FALSE(read(0, 0, 0)) << "the other's is unordered";
  EXPECT_FALSE(write(0, 0, 0));
  EXPECT_TRUE(write(0, 1, 4));
  EXPECT_FALSE(update(1, 0, 4));
}

TEST_F(GridOrderTest, OfManyWhoReadSomeAreKnown) {
  for (Agent thread = 0; thread < 4; ++thread)
    for (uint32_t run : runs)
      EXPECT_TRUE(read(run, thread, 0));
  EXPECT_FALSE(write(0, 0, 0, 4, 3));
}
