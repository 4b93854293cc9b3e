// Barriers that count arrivals and bytes, and boxes that land when they are waited for.
#include "Engines.h"
#include "gtest/gtest.h"
#include <cstring>

using namespace kiln::emulated;

namespace {
class EnginesTest : public ::testing::Test {
protected:
  static SharedMemory &memory() {
    static SharedMemory shared;
    return shared;
  }
  void SetUp() override {
    ASSERT_TRUE(memory().data());
    memory().reset(16384, order, 0, Names{nullptr, nullptr, 64, 32});
  }
  std::string look(SharedMemory &at, uint64_t offset, int64_t bytes) {
    return at.access(0, reinterpret_cast<uint64_t>(at.data()) + offset, bytes, 1, nullptr);
  }
  /// Engines and other programs find what the first thread wrote, and initialised.
  void publish() {
    order->fence(0);
    engines.fenceBarriers(0);
  }
  uint64_t at(uint64_t offset) { return reinterpret_cast<uint64_t>(memory().data()) + offset; }
  /// Rows of 64 16-bit numbers, each 1000 times its row and its column.
  TensorMap map(int64_t rows, unsigned swizzle) {
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t column = 0; column < 64; ++column)
        numbers[row][column] = 1000 * row + column;
    TensorMap made;
    made.address = reinterpret_cast<uint64_t>(numbers);
    made.rank = made.elementBytes = 2;
    made.swizzle = swizzle;
    made.extents[0] = 64;
    made.extents[1] = rows;
    made.strides[0] = 2;
    made.strides[1] = 128;
    made.box[0] = 64;
    made.box[1] = 8;
    return made;
  }
  uint16_t read(uint64_t offset) {
    uint16_t value;
    std::memcpy(&value, memory().data() + offset, sizeof(value));
    return value;
  }
  uint16_t numbers[16][64];
  std::shared_ptr<kiln::analysis::HappensBefore> order =
      std::make_shared<kiln::analysis::HappensBefore>(128);
  Engines engines{memory()};
};
} // namespace

TEST_F(EnginesTest, APhaseEndsWithItsArrivals) {
  EXPECT_EQ(engines.initBarrier(0, at(0), 2), "");
  EXPECT_TRUE(engines.poll(at(0), 1)) << "the phase before the first counts as ended";
  EXPECT_FALSE(engines.poll(at(0), 0));
  EXPECT_EQ(engines.arrive(0, at(0), 0), "");
  EXPECT_EQ(engines.arrive(0, at(0), 0), "");
  EXPECT_TRUE(engines.poll(at(0), 0));
  EXPECT_FALSE(engines.poll(at(0), 1));
}

TEST_F(EnginesTest, WaitsForPhasesOfAWatchedBarrierAreCounted) {
  auto watch = std::make_shared<kiln::analysis::Watch>();
  watch->sites = {1};
  order->watch(watch);
  order->setSite(1);
  EXPECT_EQ(engines.initBarrier(0, at(0), 1), "");
  order->setSite(2);
  EXPECT_EQ(engines.initBarrier(0, at(8), 1), "");
  engines.hear(0, at(0));
  EXPECT_EQ(watch->uses, 0u) << "no phase has ended";
  for (uint64_t barrier : {at(0), at(8)}) {
    EXPECT_EQ(engines.arrive(0, barrier, 0), "");
    engines.hear(0, barrier);
  }
  EXPECT_EQ(watch->uses, 1u);
}

TEST_F(EnginesTest, WhatIsNoBarrierIsFound) {
  EXPECT_NE(engines.use(0, at(8)).find("nobody has initialised"), std::string::npos);
  EXPECT_NE(engines.initBarrier(0, at(4), 1), "");
}

TEST_F(EnginesTest, ABarrierIsInitialisedAgainOnlyBehindItsUses) {
  EXPECT_EQ(engines.initBarrier(0, at(0), 2), "");
  kiln::analysis::HappensBefore::Place place;
  order->release(0, place);
  order->acquire(1, place);
  EXPECT_EQ(engines.arrive(0, at(0), 0), "");
  EXPECT_EQ(engines.arrive(1, at(0), 0), "");
  EXPECT_NE(engines.initBarrier(0, at(0), 2).find("which thread 1 writes; nothing orders the two"),
            std::string::npos);
  EXPECT_EQ(engines.use(0, at(0)), "");
  engines.hear(0, at(0));
  EXPECT_EQ(engines.initBarrier(0, at(0), 2), "");
}

TEST_F(EnginesTest, ABarrierThatIsWrittenOverIsFound) {
  EXPECT_EQ(engines.initBarrier(0, at(0), 1), "");
  uint32_t zero = 0;
  EXPECT_EQ(memory().access(0, at(4), 4, 2, &zero), "");
  std::memcpy(reinterpret_cast<void *>(at(4)), &zero, sizeof(zero));
  EXPECT_NE(engines.use(0, at(0)).find("was written over"), std::string::npos);
}

TEST_F(EnginesTest, ABoxCountsAtABarrierThatItsEngineFinds) {
  TensorMap view = map(12, 128);
  const int32_t place[] = {0, 0};
  EXPECT_EQ(engines.initBarrier(0, at(0), 1), "");
  EXPECT_NE(engines.startLoad(0, at(1024), at(0), view, place).find("no fence of the proxy"),
            std::string::npos);
  publish();
  EXPECT_EQ(engines.startLoad(0, at(1024), at(0), view, place), "");
  EXPECT_NE(engines.initBarrier(0, at(0), 1), "") << "it has not landed";
}

TEST_F(EnginesTest, ABoxCountsAtABarrierThatAFencePublishes) {
  TensorMap view = map(12, 128);
  const int32_t place[] = {0, 0};
  EXPECT_EQ(engines.initBarrier(0, at(0), 1), "");
  engines.fenceBarriers(0);
  EXPECT_EQ(engines.initBarrier(0, at(8), 1), "");
  order->fence(0);
  engines.fenceBarriers(1);
  EXPECT_EQ(engines.startLoad(0, at(1024), at(0), view, place), "");
  EXPECT_EQ(engines.startLoad(0, at(2048), at(8), view, place),
            "a race: a use by an engine of the barrier at byte 8 of shared memory, which thread 0 "
            "initialises; no fence of initialised barriers stands between the two\n"
            "  this use: a copy of a box started by thread 0 (warp 0), by the asynchronous proxy\n"
            "  that initialisation: thread 0 (warp 0)\n"
            "  missing: a fence of initialised barriers ('fence.mbarrier_init'), by thread 0 (warp "
            "0) behind it and in front of what tells others of it");
}

TEST_F(EnginesTest, AnArrivalForABlockTellsAnotherOneOnlyWhatItHasRead) {
  static SharedMemory other;
  ASSERT_TRUE(other.data());
  other.reset(16384, order, 64, Names{nullptr, nullptr, 64, 32});
  Engines second{other};
  engines.join({&engines, &second}, 0);
  second.join({&engines, &second}, 1);
  for (Reach tells : {Reach::Block, Reach::Cluster})
    for (Reach hears : {Reach::Block, Reach::Cluster}) {
      memory().reset(16384, order, 0, Names{nullptr, nullptr, 64, 32});
      EXPECT_EQ(engines.initBarrier(0, at(0), 1), "");
      publish();
      order->meet({0, 64});
      kiln::analysis::Event before = order->now(64);
      EXPECT_EQ(second.arrive(0, at(0), 0, tells), "");
      engines.hear(0, at(0), hears);
      bool isWide = tells == Reach::Cluster && hears == Reach::Cluster;
      EXPECT_EQ(order->knows(0, before), isWide);
      EXPECT_TRUE(order->followsRead(0, order->now(0), before));
    }
}

TEST_F(EnginesTest, OneArrivalTooManyIsFound) {
  EXPECT_EQ(engines.initBarrier(0, at(0), 1), "");
  EXPECT_EQ(engines.arrive(0, at(0), 16), "");
  EXPECT_NE(engines.arrive(0, at(0), 0).find("expects no more"), std::string::npos);
}

TEST_F(EnginesTest, ABoxLandsWhenItsBarrierIsWaitedFor) {
  TensorMap view = map(12, 128);
  const int32_t place[] = {0, 8};
  EXPECT_EQ(engines.initBarrier(0, at(0), 1), "");
  EXPECT_EQ(engines.arrive(0, at(0), 1024), "");
  EXPECT_NE(engines.startLoad(0, at(1024), at(0), view, place).find("no fence"), std::string::npos);
  publish();
  EXPECT_EQ(engines.startLoad(0, at(1024), at(0), view, place), "");
  EXPECT_NE(look(memory(), 1024, 2).find("still under way"), std::string::npos);
  EXPECT_TRUE(engines.poll(at(0), 0));
  EXPECT_NE(look(memory(), 1024, 2).find("a race"), std::string::npos) << "nobody has told it";
  engines.hear(0, at(0));
  EXPECT_EQ(look(memory(), 1024, 1024), "");
  EXPECT_EQ(read(1024), 8000);
  // Row 1 is 128 bytes on, its pieces of 16 bytes permuted by the row's number.
  EXPECT_EQ(read(1024 + 128 + (16 ^ 16)), 9008);
  EXPECT_EQ(read(1024 + 128 + 16), 9000);
  EXPECT_EQ(read(1024 + 3 * 128 + (5 * 16 ^ 3 * 16)), 11040);
  // Rows 12 to 15 lie outside.
  EXPECT_EQ(read(1024 + 4 * 128), 0);
}

TEST_F(EnginesTest, ABoxMayCountAtTheBarrierOfThePairsOtherBlock) {
  static SharedMemory other;
  ASSERT_TRUE(other.data());
  other.reset(16384, order, 64, Names{nullptr, nullptr, 64, 32});
  Engines second{other};
  engines.join({&engines, &second}, 0);
  second.join({&engines, &second}, 1);
  TensorMap view = map(16, 0);
  const int32_t place[] = {0, 8};
  uint64_t there = reinterpret_cast<uint64_t>(other.data());
  EXPECT_EQ(engines.initBarrier(0, at(0), 1), "");
  EXPECT_NE(second.startLoadsOfPairs(0, there + 1024, at(0), view, place, 0b10)
                .find("a use of the barrier at byte 0 of shared memory, which thread 0 writes; "
                      "nothing orders"),
            std::string::npos);
  publish();
  order->meet({0, 64});
  // Bytes may come before they are announced.
  EXPECT_EQ(second.startLoadsOfPairs(0, there + 1024, at(0), view, place, 0b10), "");
  EXPECT_FALSE(engines.poll(at(0), 0));
  EXPECT_EQ(engines.arrive(0, at(0), 1024), "");
  EXPECT_TRUE(engines.poll(at(0), 0));
  EXPECT_NE(look(other, 1024, 1024), "") << "of the other block's threads none has heard of it";
  engines.hear(0, at(0));
  EXPECT_NE(look(memory(), 1024, 2), "");
  // The other block's barrier lies there, too, and nobody has made it.
  EXPECT_NE(second.startLoadsOfPairs(0, there + 1024, there, view, place, 0b10)
                .find("nobody has initialised"),
            std::string::npos);
  uint64_t none = 0;
  EXPECT_NE(second.startLoadsOfPairs(0, there + 1024, none, view, place, 0b10)
                .find("no block of the pair"),
            std::string::npos);
}

TEST_F(EnginesTest, ABoxOfFewerBytesThanAnnouncedEndsNoPhase) {
  TensorMap view = map(16, 128);
  const int32_t place[] = {0, 0};
  EXPECT_EQ(engines.initBarrier(0, at(0), 1), "");
  publish();
  EXPECT_EQ(engines.arrive(0, at(0), 2048), "");
  EXPECT_EQ(engines.startLoad(0, at(1024), at(0), view, place), "");
  EXPECT_FALSE(engines.poll(at(0), 0));
}

TEST_F(EnginesTest, AStoreReadsItsBufferWhenItIsWaitedFor) {
  TensorMap view = map(16, 0);
  const int32_t place[] = {0, 12};
  uint16_t seven = 7;
  for (uint64_t offset = 0; offset < 1024; offset += 2) {
    ASSERT_EQ(memory().access(3, at(offset), 2, 2, &seven), "");
    std::memcpy(memory().data() + offset, &seven, 2);
  }
  EXPECT_NE(engines.startStore(3, at(0), view, place).find("no fence"), std::string::npos);
  order->fence(3);
  EXPECT_EQ(engines.startStore(3, at(0), view, place), "");
  engines.commitStores(3);
  engines.waitStores(3, 1);
  EXPECT_EQ(numbers[12][5], 12005);
  uint16_t eight = 8;
  std::memcpy(memory().data() + 2 * 5, &eight, 2);
  engines.waitStores(3, 0);
  EXPECT_EQ(numbers[12][4], 7);
  EXPECT_EQ(numbers[12][5], 8) << "what was written too early is what is stored";
  EXPECT_EQ(numbers[11][0], 11000);
}

TEST_F(EnginesTest, AStoreThatWasReadHasNotBeenWritten) {
  TensorMap view = map(16, 0);
  const int32_t place[] = {0, 8};
  GlobalMemory global({{view.address, view.address + sizeof(numbers), "c"}}, true, false, true,
                      false, memory().getNames());
  const uint32_t first[3] = {};
  const int64_t extents[3] = {1, 1, 1};
  kiln::analysis::Run run = global.begin(order, 64, first, extents);
  engines.reset(global, run);
  uint8_t zeros[1024] = {};
  ASSERT_EQ(memory().access(3, at(0), sizeof(zeros), 2, zeros), "");
  order->fence(3);
  auto readBack = [&] {
    return global.access(run, 3, order->now(3), view.address + 8 * 128, 2, GlobalMemory::Reads,
                         nullptr);
  };
  EXPECT_EQ(engines.startStore(3, at(0), view, place), "");
  engines.commitStores(3);
  engines.waitStores(3, 0, /*areReadAlone=*/true);
  EXPECT_EQ(memory().access(3, at(0), 4, 2, nullptr), "") << "its place is free again";
  EXPECT_NE(readBack().find("a store of a box"), std::string::npos);
  EXPECT_EQ(engines.finish(), "") << "the program may end";
  engines.waitStores(3, 0);
  EXPECT_EQ(readBack(), "");
}

TEST_F(EnginesTest, ABoxBeginsWhereItsRowsRepeat) {
  const int32_t place[5] = {};
  EXPECT_EQ(engines.initBarrier(0, at(0), 1), "");
  publish();
  uint64_t free = 0; // in which no box lies yet
  for (auto [swizzle, apart] : {std::pair(0u, 128), std::pair(32u, 256), std::pair(128u, 1024)}) {
    TensorMap view = map(8, swizzle);
    free += 2048;
    EXPECT_EQ(engines.startLoad(0, at(free + apart), at(0), view, place), "");
    EXPECT_NE(engines.startLoad(0, at(8192 + apart / 2), at(0), view, place), "");
    EXPECT_NE(engines.startStore(0, at(8192 + apart / 2), view, place), "");
  }
}

TEST_F(EnginesTest, SomeThreadsMeet) {
  auto first = engines.come(0, 2, 3);
  EXPECT_EQ(engines.come(1, 2, 3), first);
  EXPECT_FALSE(first->hasEnded);
  engines.come(2, 2, 3);
  EXPECT_TRUE(first->hasEnded);
  EXPECT_NE(engines.come(1, 2, 3), first);
}

TEST_F(EnginesTest, ABarrierIsOfOneGroupOfThreadsAtATime) {
  EXPECT_EQ(engines.checkComing(0, 2, 2), "");
  auto first = engines.come(0, 2, 2);
  EXPECT_EQ(engines.checkComing(1, 2, 2), "");
  EXPECT_EQ(engines.checkComing(1, 2, 3),
            "a use of barrier 2 as one of 3 threads, to which others come as one of 2");
  engines.come(1, 2, 2);
  engines.leave(0, *first);
  EXPECT_EQ(engines.checkComing(0, 2, 2), "") << "again";
  EXPECT_EQ(engines.checkComing(3, 2, 2),
            "a use of barrier 2 which other threads use, and nothing orders the two\n"
            "  that use: thread 0 (warp 0)\n"
            "  missing: a barrier of its own, or one that both come to between");
  EXPECT_EQ(engines.checkComing(3, 1, 2), "");
  order->meet({0, 3});
  EXPECT_EQ(engines.checkComing(3, 2, 2), "");
}

TEST_F(EnginesTest, WhoGoesOnLateKnowsOfItsOwnRoundAlone) {
  auto first = engines.come(0, 2, 2);
  engines.come(1, 2, 2);
  kiln::analysis::Event before = order->now(3), after = order->now(1);
  engines.come(1, 2, 2);
  engines.come(3, 2, 2);
  engines.leave(0, *first);
  EXPECT_TRUE(order->knows(0, {1, 1}));
  EXPECT_FALSE(order->knows(0, before));
  EXPECT_FALSE(order->knows(0, after));
}
