// Who knows of what, by places, fences and the ends of queues.
#include "kiln/Analysis/HappensBefore.h"
#include "kiln/Analysis/AccessHistory.h"
#include "gtest/gtest.h"

using namespace kiln::analysis;

namespace {
class HappensBeforeTest : public testing::Test {
protected:
  HappensBefore order{3};
  HappensBefore::Place place;
};
} // namespace

TEST_F(HappensBeforeTest, WhoAcquiresKnowsWhatWasReleasedBefore) {
  Event early = order.now(0);
  order.release(0, place);
  Event late = order.now(0);
  EXPECT_TRUE(order.knows(0, early));
  EXPECT_FALSE(order.knows(1, early));
  order.acquire(1, place);
  EXPECT_TRUE(order.knows(1, early));
  EXPECT_FALSE(order.knows(1, late));
}

TEST_F(HappensBeforeTest, KnowledgeIsHandedOn) {
  Event event = order.now(0);
  order.release(0, place);
  order.acquire(1, place);
  HappensBefore::Place other;
  order.release(1, other);
  order.acquire(2, other);
  EXPECT_TRUE(order.knows(2, event));
}

TEST_F(HappensBeforeTest, WhoMeetsKnowsAllOfTheOthers) {
  Event first = order.now(0), second = order.now(1), outside = order.now(2);
  order.meet({0, 1});
  EXPECT_TRUE(order.knows(1, first));
  EXPECT_TRUE(order.knows(0, second));
  EXPECT_FALSE(order.knows(0, outside));
}

TEST_F(HappensBeforeTest, AnEngineFindsWhatAFenceStandsBehind) {
  Event write = order.now(0);
  EXPECT_FALSE(order.finds(0, write));
  order.fence(0);
  EXPECT_TRUE(order.finds(0, write));
  EXPECT_FALSE(order.finds(0, order.now(0))) << "what is written behind the fence";
  order.release(0, place);
  order.acquire(1, place);
  EXPECT_TRUE(order.finds(1, write)) << "the writer's fence holds for who hears of it";
}

TEST_F(HappensBeforeTest, TheFenceMayBeTheReaders) {
  Event write = order.now(0);
  order.release(0, place);
  order.fence(1);
  order.acquire(1, place);
  EXPECT_FALSE(order.finds(1, write)) << "a fence in front of the order says nothing";
  order.fence(1);
  EXPECT_TRUE(order.finds(1, write));
}

TEST_F(HappensBeforeTest, TheEndOfWorkIsBehindWhatItsThreadKnew) {
  Event told = order.now(0);
  order.release(0, place);
  order.acquire(1, place);
  Event own = order.now(1);
  Agent queue = order.addQueue();
  order.start(queue, 1, Proxy::Async);
  order.end(queue, order.close(queue), 2);
  EXPECT_TRUE(order.knows(2, told));
  EXPECT_FALSE(order.knows(2, own)) << "what the thread did beside the work may not have ended";
}

TEST_F(HappensBeforeTest, WhatAQueueWritesByTheThreadsProxyNeedsAFence) {
  Agent queue = order.addQueue();
  Event copy = order.start(queue, 0, Proxy::Generic);
  order.end(queue, order.close(queue), 0);
  EXPECT_TRUE(order.knows(0, copy));
  EXPECT_FALSE(order.finds(0, copy));
  order.fence(0);
  EXPECT_TRUE(order.finds(0, copy));
}

TEST_F(HappensBeforeTest, AQueueEndsInTurn) {
  Agent queue = order.addQueue();
  Event first = order.start(queue, 0, Proxy::Async);
  Tick group = order.close(queue);
  Event second = order.start(queue, 0, Proxy::Async);
  EXPECT_FALSE(order.hasEnded(first));
  order.end(queue, group, 0);
  EXPECT_TRUE(order.hasEnded(first));
  EXPECT_FALSE(order.hasEnded(second));
  EXPECT_TRUE(order.knows(0, first));
  EXPECT_FALSE(order.knows(1, first)) << "nobody has told it";
  order.end(queue, order.close(queue), place);
  order.acquire(1, place);
  EXPECT_TRUE(order.knows(1, first));
  EXPECT_TRUE(order.knows(1, second));
  EXPECT_TRUE(order.finds(1, second)) << "an engine's own proxy needs no fence";
}

TEST(TensorMemoryOrderTest, FencesOrderUsesOfTensorMemory) {
  HappensBefore order(64, 32);
  HappensBefore::Place early, late;
  Event use = order.now(0, Proxy::Tensor), write = order.now(0);
  Event later{32, 1, Proxy::Tensor};
  order.release(0, early);
  order.acquire(32, early);
  order.fenceAfter(32);
  EXPECT_TRUE(order.knows(32, use));
  EXPECT_FALSE(order.follows(32, later, use)) << "no fence stands before what was told";
  EXPECT_TRUE(order.follows(32, later, write)) << "what was written elsewhere needs none";
  order.fenceBefore(0);
  Event other = order.now(0);
  order.release(0, late);
  order.acquire(32, late);
  EXPECT_FALSE(order.follows(32, later, use)) << "none stands behind what was heard";
  EXPECT_FALSE(order.follows(32, later, other));
  order.fenceAfter(32);
  EXPECT_TRUE(order.follows(32, later, use));
  EXPECT_TRUE(order.follows(32, later, other));
}

TEST(TensorMemoryOrderTest, AWarpUsesTensorMemoryInTheOrderOfItsInstructions) {
  HappensBefore order(64, 32);
  Event use = order.now(1, Proxy::Tensor), write = order.now(1);
  EXPECT_TRUE(order.follows(2, order.now(2, Proxy::Tensor), use));
  EXPECT_FALSE(order.follows(2, order.now(2, Proxy::Tensor), write));
  EXPECT_FALSE(order.follows(33, order.now(33, Proxy::Tensor), use));
}

TEST(TensorMemoryOrderTest, WhatTensorMemoryWasToldGoesOn) {
  HappensBefore order(96, 32);
  HappensBefore::Place first, second;
  Event use = order.now(0, Proxy::Tensor);
  order.fenceBefore(0);
  order.release(0, first);
  order.acquire(32, first);
  // Who hands on what it heard needs no fence of its own.
  order.release(32, second);
  order.acquire(64, second);
  order.fenceAfter(64);
  EXPECT_TRUE(order.follows(64, order.now(64, Proxy::Tensor), use));
}

TEST_F(HappensBeforeTest, AFenceTellsNobodyAndAReleaseDoes) {
  Event write = order.now(0);
  EXPECT_FALSE(order.hasTold(write));
  order.fence(0);
  EXPECT_FALSE(order.hasTold(write));
  order.release(0, place);
  EXPECT_TRUE(order.hasTold(write));
  EXPECT_FALSE(order.hasTold(order.now(0)));
}

TEST_F(HappensBeforeTest, TimesGoFromAgentToAgent) {
  order.keepTimes();
  for (int i = 0; i < 5; ++i)
    order.step(0);
  order.step(1);
  order.release(0, place);
  order.acquire(1, place);
  EXPECT_EQ(order.getTime(1), 5u);
  // An engine's work has the time of who gave it.
  Agent queue = order.addQueue("a copy");
  order.start(queue, 1, Proxy::Async);
  order.end(queue, order.close(queue), 2);
  EXPECT_EQ(order.getTime(2), 5u);
  EXPECT_STREQ(order.nameOf(queue), "a copy");
}

namespace {
/// Orders at site 1 are watched.
class WatchTest : public testing::Test {
protected:
  WatchTest() {
    watch->sites = {1};
    order.watch(watch);
  }
  void tell(Agent from, Agent to, uint32_t releases, uint32_t acquires) {
    HappensBefore::Place place;
    order.setSite(releases);
    order.release(from, place);
    order.setSite(acquires);
    order.acquire(to, place);
    order.setSite(0);
  }
  bool isBehind(Agent thread, const Event &earlier, Proxy proxy = Proxy::Generic) {
    return order.isBehindWatched(thread, order.now(thread, proxy), earlier);
  }

  std::shared_ptr<Watch> watch = std::make_shared<Watch>();
  HappensBefore order{96, 32};
};
} // namespace

TEST_F(WatchTest, AWayMayGoOnByOtherOrders) {
  for (auto [releases, acquires] : {std::pair(1, 0), std::pair(0, 1)}) {
    Event first = order.now(0);
    tell(0, 32, releases, acquires);
    EXPECT_TRUE(isBehind(32, first));
    EXPECT_FALSE(isBehind(64, first));
    tell(32, 64, 0, 0);
    EXPECT_TRUE(isBehind(64, first));
  }
  EXPECT_EQ(watch->orders, 2u);
}

TEST_F(WatchTest, WhatIsKnownOtherwiseIsNotBehindIt) {
  Event first = order.now(0);
  tell(0, 32, 0, 0);
  tell(0, 64, 1, 0);
  EXPECT_TRUE(order.knows(32, first) && isBehind(64, first));
  EXPECT_FALSE(isBehind(32, first));
  EXPECT_FALSE(isBehind(0, first)) << "its own program orders that";
  Event second = order.now(0);
  tell(0, 64, 0, 0);
  EXPECT_FALSE(isBehind(64, second)) << "behind the release that is watched";
}

TEST_F(WatchTest, AnEngineFindsByAFence) {
  Event write = order.now(0);
  tell(0, 32, 0, 0);
  order.setSite(1);
  order.fence(32);
  order.fence(0);
  order.setSite(0);
  EXPECT_TRUE(isBehind(32, write, Proxy::Async));
  EXPECT_FALSE(isBehind(32, write));
  EXPECT_TRUE(isBehind(0, write, Proxy::Async)) << "its own fence";
  EXPECT_FALSE(isBehind(0, order.now(0), Proxy::Async));
}

TEST_F(WatchTest, AFenceBehindAWatchedOrderGoesOn) {
  Event write = order.now(0);
  tell(0, 32, 1, 0);
  EXPECT_FALSE(order.finds(32, write));
  order.fence(32);
  EXPECT_TRUE(isBehind(32, write, Proxy::Async));
}

TEST_F(WatchTest, ACommitOrdersWhatItsThreadKnewToo) {
  Event write = order.now(32);
  tell(32, 0, 0, 0);
  Agent queue = order.addQueue();
  Event early = order.start(queue, 0, Proxy::Async);
  order.setSite(1);
  Tick tick = order.commit(queue);
  order.setSite(0);
  Event late = order.start(queue, 0, Proxy::Async);
  Tick last = order.commit(queue);
  order.end(queue, tick, 64);
  EXPECT_TRUE(isBehind(64, early));
  EXPECT_TRUE(isBehind(64, write));
  order.end(queue, last, 64);
  EXPECT_FALSE(isBehind(64, late));
}

TEST_F(WatchTest, UsesOfTensorMemoryAreBehindTheirFences) {
  Event use = order.now(0, Proxy::Tensor);
  order.setSite(1);
  order.fenceBefore(0);
  tell(0, 32, 0, 0);
  EXPECT_FALSE(isBehind(32, use, Proxy::Tensor));
  order.fenceAfter(32);
  EXPECT_TRUE(isBehind(32, use, Proxy::Tensor));
  EXPECT_FALSE(isBehind(1, use, Proxy::Tensor)) << "of one warp";
  Event other = order.now(64, Proxy::Tensor);
  order.fenceBefore(64);
  tell(64, 32, 0, 0);
  order.setSite(1);
  order.fenceAfter(32);
  EXPECT_TRUE(isBehind(32, other, Proxy::Tensor));
}

//===- What is told of reads alone ----------------------------------------------------------===//

TEST(Reads, ReadsAreToldAndWritesAreNot) {
  for (bool byWhoTells : {true, false}) {
    HappensBefore order(4);
    HappensBefore::Place place;
    Agent queue = order.addQueue();
    Event before = order.now(0), copied = order.start(queue, 0, Proxy::Async);
    order.end(queue, order.close(queue), 0u);
    byWhoTells ? order.releaseReads(0, place) : order.release(0, place);
    byWhoTells ? order.acquire(1, place) : order.acquireReads(1, place);
    EXPECT_FALSE(order.follows(1, order.now(1), before));
    EXPECT_TRUE(order.followsRead(1, order.now(1), before));
    EXPECT_TRUE(order.follows(1, order.now(1), copied)) << "engines tell all of what they wrote";
    // It goes on so, and whoever is told of all hears no more of it.
    order.meet({1, 2});
    EXPECT_FALSE(order.follows(2, order.now(2), before));
    EXPECT_TRUE(order.followsRead(2, order.now(2), before));
    EXPECT_FALSE(order.followsRead(3, order.now(3), before));
  }
}

TEST(Reads, AFenceShowsEnginesThatTheyAreDone) {
  HappensBefore order(2);
  HappensBefore::Place place;
  Event before = order.now(0);
  order.fence(0);
  order.releaseReads(0, place);
  order.acquire(1, place);
  EXPECT_TRUE(order.finds(1, before));
  order.fence(1);
  EXPECT_TRUE(order.finds(1, before)) << "another one takes nothing back";
  Event later = order.now(0);
  order.releaseReads(0, place);
  order.acquire(1, place);
  EXPECT_FALSE(order.finds(1, later));
  order.fence(1);
  EXPECT_TRUE(order.finds(1, later)) << "that of who has heard is enough";
}

TEST(Reads, AWriteBehindAReadIsOrderedAndAReadBehindAWriteIsNot) {
  for (bool isRead : {true, false}) {
    HappensBefore order(2);
    AccessHistory history(order, 8);
    HappensBefore::Place begun, place;
    EXPECT_FALSE(history.write(1, order.now(1), 0, 8));
    order.release(1, begun);
    order.acquire(0, begun);
    if (isRead) {
      EXPECT_FALSE(history.read(0, order.now(0), 0, 8));
    } else {
      EXPECT_FALSE(history.write(0, order.now(0), 0, 8));
    }
    order.releaseReads(0, place);
    order.acquire(1, place);
    EXPECT_EQ(history.write(1, order.now(1), 0, 8).has_value(), !isRead);
  }
}
