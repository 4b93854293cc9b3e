// Which accesses to shared memory barriers and meetings of lanes order.
#include "SharedMemory.h"
#include "gtest/gtest.h"

using namespace kiln::emulated;

namespace {
enum Kind { Read = 1, Write = 2, Atomic = 4 };

class SharedMemoryTest : public testing::Test {
protected:
  void SetUp() override { memory.reset(64); }
  std::string access(unsigned thread, Kind kind) {
    return memory.access(thread, reinterpret_cast<uint64_t>(memory.data()), 4, kind, nullptr);
  }

  SharedMemory memory;
};
} // namespace

TEST_F(SharedMemoryTest, LanesThatHaveMetReadWhatTheyAddedTo) {
  EXPECT_EQ(access(0, Write), "");
  memory.meetLanes(0);
  EXPECT_EQ(access(1, Atomic), "");
  EXPECT_EQ(access(2, Atomic), "");
  memory.meetLanes(0);
  EXPECT_EQ(access(3, Read), "");
}

TEST_F(SharedMemoryTest, WhoHasNotMetThoseWhoAddMayNotRead) {
  EXPECT_EQ(access(0, Write), "");
  memory.advance();
  EXPECT_EQ(access(1, Atomic), "");
  EXPECT_NE(access(2, Read), "");
  // Another warp adds, too, and does not meet.
  EXPECT_EQ(access(33, Atomic), "");
  memory.meetLanes(0);
  EXPECT_NE(access(2, Read), "");
  memory.advance();
  EXPECT_EQ(access(2, Read), "");
}
