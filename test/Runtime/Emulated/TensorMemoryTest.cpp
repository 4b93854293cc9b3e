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
    shared.reset(1024, std::make_shared<kiln::analysis::HappensBefore>(32), 0,
                 Names{nullptr, nullptr, 32, 32});
    engines = std::make_unique<Engines>(shared);
    barrier = reinterpret_cast<uint64_t>(shared.data());
    ASSERT_EQ(engines->initBarrier(0, barrier, 1), "");
    memory = std::make_unique<TensorMemory>(*engines);
    memory->reset();
    ASSERT_EQ(memory->useFor(1), "");
    uint32_t address;
    ASSERT_EQ(memory->allocate(64, address), "");
    ASSERT_EQ(address, 0u);
  }
  /// Into the first 16 columns, of an operand in columns 32 to 39.
  std::string start() {
    return memory->start(0, {0, 16}, {{32, 8}}, [] { return std::string(); });
  }

  std::unique_ptr<Engines> engines;
  std::unique_ptr<TensorMemory> memory;
  uint64_t barrier = 0;
};
} // namespace

TEST_F(TensorMemoryTest, WhatIsOnTheWayIsNotRead) {
  EXPECT_EQ(memory->write(4, 5, 33, 7), "");
  uint32_t bits = 0;
  EXPECT_NE(memory->read(5, 33, bits).find("has not waited"), std::string::npos);
  EXPECT_NE(start().find("has not waited to have written"), std::string::npos);
  // Another warp's wait says nothing of it.
  for (unsigned other : {0, 1})
    memory->waitForWrites(other);
  EXPECT_NE(start().find("has not waited to have written"), std::string::npos);
  memory->waitForWrites(4);
  EXPECT_EQ(memory->read(5, 33, bits), "");
  EXPECT_EQ(bits, 7u);
  EXPECT_EQ(start(), "");
}

TEST_F(TensorMemoryTest, WhatAProductInFlightReadsStays) {
  EXPECT_EQ(start(), "");
  EXPECT_NE(memory->write(0, 0, 39, 1).find("which a product in flight reads"), std::string::npos);
  EXPECT_EQ(memory->write(0, 0, 40, 1), "");
  EXPECT_NE(memory->write(0, 0, 15, 1).find("into which a product is in flight"),
            std::string::npos);
  EXPECT_NE(memory->release(0, 64).find("while a product of them is in flight"), std::string::npos);
  memory->commit(0, {barrier});
  EXPECT_EQ(memory->land(barrier), "");
  EXPECT_EQ(memory->write(0, 0, 39, 1), "");
  EXPECT_EQ(memory->release(0, 64), "");
}

TEST_F(TensorMemoryTest, AnOperandLiesInColumnsThatAreHeld) {
  EXPECT_NE(
      memory->start(0, {0, 16}, {{60, 8}}, [] { return std::string(); })
          .find("a product of 8 columns of tensor memory from column 60, which are not all held"),
      std::string::npos);
  EXPECT_NE(memory->start(0, {0, 16}, {{1 << 16, 8}}, [] { return std::string(); }), "");
}
