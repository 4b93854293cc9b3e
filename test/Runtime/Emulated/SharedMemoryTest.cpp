// Which accesses to shared memory barriers and meetings of lanes order, and how it is told.
#include "SharedMemory.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace kiln;
using namespace kiln::emulated;
using testing::HasSubstr;

namespace {
enum Kind { Read = 1, Write = 2, Atomic = 4 };

class SharedMemoryTest : public testing::Test {
protected:
  void SetUp() override { memory.reset(64, order, 0, Names{nullptr, nullptr, 64, 32}); }
  std::string access(unsigned thread, Kind kind) {
    return memory.access(thread, reinterpret_cast<uint64_t>(memory.data()), 4, kind, nullptr);
  }

  std::shared_ptr<analysis::HappensBefore> order = std::make_shared<analysis::HappensBefore>(64);
  SharedMemory memory;
};
} // namespace

TEST_F(SharedMemoryTest, LanesThatHaveMetReadWhatTheyAddedTo) {
  EXPECT_EQ(access(0, Write), "");
  order->meet({0, 1, 2, 3});
  EXPECT_EQ(access(1, Atomic), "");
  EXPECT_EQ(access(2, Atomic), "");
  order->meet({0, 1, 2, 3});
  EXPECT_EQ(access(3, Read), "");
}

TEST_F(SharedMemoryTest, WhoHasNotMetThoseWhoAddMayNotRead) {
  EXPECT_EQ(access(0, Write), "");
  order->meet({0, 1, 2, 33});
  EXPECT_EQ(access(1, Atomic), "");
  EXPECT_THAT(access(2, Read), HasSubstr("a race: a read of byte 0 of shared memory, which thread "
                                         "1 writes; nothing orders the two"));
  // Another warp adds, too, and does not meet.
  EXPECT_EQ(access(33, Atomic), "");
  order->meet({0, 1, 2});
  EXPECT_THAT(access(2, Read), HasSubstr("which thread 33 writes"));
  order->meet({2, 33});
  EXPECT_EQ(access(2, Read), "");
}

TEST_F(SharedMemoryTest, AnEngineReadsBehindAFenceOfTheProxy) {
  analysis::Event event = order->start(order->addQueue(), 0, analysis::Proxy::Async);
  auto start = [&] {
    return memory.startRead(0, event, reinterpret_cast<uint64_t>(memory.data()), 4);
  };
  EXPECT_EQ(access(0, Write), "");
  EXPECT_THAT(start(), HasSubstr("a race: a read by an engine of byte 0 of shared memory, which "
                                 "thread 0 writes; no fence of the proxy stands between"));
  order->fence(0);
  EXPECT_EQ(start(), "");
  EXPECT_THAT(access(0, Write), HasSubstr("which an engine is still reading"));
}
