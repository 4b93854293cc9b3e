// Hazards of operands in tensor memory: what a product reads must be there, and stay there.
#include "TensorMemory.h"
#include "gtest/gtest.h"
#include <memory>

using namespace kiln::emulated;

namespace {
class TensorMemoryTest : public testing::Test {
protected:
  void SetUp() override {
    static SharedMemory shared;
    ASSERT_TRUE(shared.data());
    order = std::make_shared<kiln::analysis::HappensBefore>(256);
    shared.reset(1024, order, 0, Names{nullptr, nullptr, 256, 32});
    engines = std::make_unique<Engines>(shared);
    barrier = reinterpret_cast<uint64_t>(shared.data());
    ASSERT_EQ(engines->initBarrier(0, barrier, 1), "");
    order->fence(0);
    engines->fenceBarriers(0);
    memory = std::make_unique<TensorMemory>(*engines);
    memory->reset();
    ASSERT_EQ(memory->useFor(1), "");
    uint32_t address;
    ASSERT_EQ(memory->allocate(0, 64, address), "");
    ASSERT_EQ(address, 0u);
    order->fenceBefore(0);
    order->meet({0, 1, 128});
    for (unsigned thread : {1, 128})
      order->fenceAfter(thread);
  }
  /// Into the first 16 columns, of an operand in columns 32 to 39.
  std::string start(unsigned thread) {
    return memory->start(thread, {0, 16}, {{32, 8}}, [] { return std::string(); });
  }
  std::string write(unsigned thread, unsigned lane, unsigned column, uint32_t bits) {
    return memory->write(thread, thread / 32, lane, column, 1, &bits);
  }
  std::string read(unsigned thread, unsigned lane, unsigned column) {
    return memory->read(thread, lane, column, 1, &last);
  }

  std::shared_ptr<kiln::analysis::HappensBefore> order;
  std::unique_ptr<Engines> engines;
  std::unique_ptr<TensorMemory> memory;
  uint64_t barrier = 0;
  uint32_t last = 0;
};
} // namespace

TEST_F(TensorMemoryTest, WhatIsOnTheWayIsNotRead) {
  EXPECT_EQ(write(128, 5, 33, 7), "");
  EXPECT_NE(read(128, 5, 33).find("has not waited"), std::string::npos);
  EXPECT_NE(start(128).find("has not waited to have written"), std::string::npos);
  // Another warp's wait says nothing of it.
  for (unsigned other : {0, 1})
    memory->waitForWrites(other);
  EXPECT_NE(start(128).find("has not waited to have written"), std::string::npos);
  memory->waitForWrites(4);
  EXPECT_EQ(read(128, 5, 33), "");
  EXPECT_EQ(last, 7u);
  EXPECT_EQ(start(128), "");
}

TEST_F(TensorMemoryTest, WhatAProductInFlightReadsStays) {
  EXPECT_EQ(write(0, 0, 39, 1), "");
  memory->waitForWrites(0);
  EXPECT_EQ(start(0), "");
  EXPECT_NE(write(0, 0, 39, 1).find("which a product in flight reads"), std::string::npos);
  EXPECT_EQ(write(0, 0, 40, 1), "");
  EXPECT_NE(write(0, 0, 15, 1).find("into which a product is in flight"), std::string::npos);
  EXPECT_NE(memory->release(0, 0, 64).find("into which a product is in flight"), std::string::npos);
  memory->commit(0, {barrier});
  EXPECT_EQ(memory->land(barrier), "");
  EXPECT_NE(write(0, 0, 39, 1), "") << "its thread has not waited for that";
  engines->hear(0, barrier);
  EXPECT_NE(write(0, 0, 39, 1).find("no fence of tensor memory"), std::string::npos);
  order->fenceAfter(0);
  EXPECT_EQ(write(0, 0, 39, 1), "");
  EXPECT_EQ(memory->release(0, 0, 64), "");
}

TEST_F(TensorMemoryTest, FencesOrderReadsWithLaterProducts) {
  EXPECT_EQ(start(0), "");
  EXPECT_EQ(start(0), "") << "products of one thread follow one another";
  memory->commit(0, {barrier});
  EXPECT_EQ(memory->land(barrier), "");
  engines->hear(1, barrier);
  order->fenceAfter(1);
  memory->set(0, 0, 7);
  EXPECT_EQ(read(1, 0, 0), "");
  kiln::analysis::HappensBefore::Place unfenced, fenced;
  order->release(1, unfenced);
  order->acquire(0, unfenced);
  order->fenceAfter(0);
  EXPECT_NE(start(0).find("which thread 1 uses; no fence of tensor memory"), std::string::npos);
  order->fenceBefore(1);
  order->release(1, fenced);
  order->acquire(0, fenced);
  EXPECT_NE(start(0), "") << "the thread has heard of it, but has no fence behind that";
  order->fenceAfter(0);
  EXPECT_EQ(start(0), "");
}

TEST_F(TensorMemoryTest, AnOperandLiesInColumnsThatAreHeld) {
  EXPECT_NE(
      memory->start(0, {0, 16}, {{60, 8}}, [] { return std::string(); })
          .find("a product of 8 columns of tensor memory from column 60, which are not all held"),
      std::string::npos);
  EXPECT_NE(memory->start(0, {0, 16}, {{1 << 16, 8}}, [] { return std::string(); }), "");
}
