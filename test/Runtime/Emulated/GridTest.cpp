// Programs that wait for one another, on programs written as functions here.
#include "Grid.h"
#include "Calls.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <set>
#include <utility>

using namespace kiln::emulated;
using testing::HasSubstr;

namespace {
constexpr int kReads = 1, kWrites = 2, kAtomic = 4;
constexpr unsigned kPrograms = 12;
/// Global memory, all that there is of it.
alignas(16) int32_t flags[kPrograms], values[kPrograms];

int program() { return kiln_emulated_register(3); }
int thread() { return kiln_emulated_register(0); }

/// By atomic accesses.
int32_t add(int32_t &word, int32_t value) {
  kiln_emulated_access(&word, 4, kReads | kWrites | kAtomic, nullptr, 1);
  return std::exchange(word, word + value);
}
void waitFor(int32_t &word) {
  while (!add(word, 0))
    kiln_emulated_trip(2);
}

class GridTest : public testing::Test {
protected:
  GridTest() {
    launch.slots = nullptr;
    launch.threads = 2;
    launch.warpSize = 32;
    launch.grid[0] = kPrograms;
    launch.grid[1] = launch.grid[2] = 1;
    launch.cores = 3;
    launch.blocksPerCore = 2;
    for (auto [name, array] : {std::pair("flags", flags), std::pair("values", values)}) {
      std::fill_n(array, kPrograms, 0);
      auto first = reinterpret_cast<uint64_t>(array);
      launch.ranges.push_back({first, first + sizeof(flags), name});
    }
  }
  std::string run(void (*kernel)(const uint64_t *), int64_t blocks = 1) {
    launch.kernel = kernel;
    const int64_t cluster[3] = {blocks, 1, 1};
    Grid grid(launch, cluster);
    while (grid.advance() && grid.getError().empty())
      ;
    return grid.getError();
  }

  Launch launch;
};

/// Each adds to what the program in front of it found.
void lookBack(const uint64_t *) {
  if (thread() != 0)
    return;
  int own = program(), before = own - 1;
  if (own > 0)
    waitFor(flags[before]);
  values[own] = own + (own > 0 ? values[before] : 0);
  add(flags[own], 1);
}
} // namespace

TEST_F(GridTest, AProgramWaitsForThoseInFrontInAnyOrder) {
  for (launch.seed = 0; launch.seed < 50; ++launch.seed) {
    std::fill_n(flags, kPrograms, 0);
    EXPECT_EQ(run(lookBack), "") << launch.seed;
    EXPECT_EQ(values[kPrograms - 1], 66) << launch.seed;
  }
}

TEST_F(GridTest, AsManyAsTheChipKeepsMayWaitForAll) {
  auto meet = [](const uint64_t *) {
    if (thread() == 0)
      for (int group = program() / 6 * 6, other = group + (add(flags[program()], 1), 0);
           other < group + 6; ++other)
        waitFor(flags[other]);
    kiln_emulated_barrier(3);
  };
  EXPECT_EQ(run(meet), "");
}

TEST_F(GridTest, WhoWaitsForOneThatBeginsTooLateWaitsForever) {
  std::string wrong = run([](const uint64_t *) {
    if (thread() == 0 && program() < 6)
      waitFor(flags[program() + 6]);
    kiln_emulated_barrier(3);
    add(flags[program()], 1);
  });
  EXPECT_THAT(wrong, HasSubstr("programs wait for one another forever: thread 0 of program (0, 0, "
                               "0) waits for 4 bytes at byte 24 of argument 'flags' to change"));
  EXPECT_THAT(wrong, HasSubstr("; program (6, 0, 0) and those behind it begin only when others "
                               "end, since 3 cores keep 2 programs each"));
  EXPECT_THAT(wrong, HasSubstr("\n  program (5, 0, 0), warp 0: waits for 4 bytes at byte 44"));
  EXPECT_THAT(wrong, HasSubstr("; thread 1 waits for all of the block"));
}

TEST_F(GridTest, WhoWaitsForWhatNobodyBringsWaitsForever) {
  std::string wrong = run([](const uint64_t *) {
    if (program() == 2)
      waitFor(flags[0]);
  });
  EXPECT_THAT(wrong, HasSubstr("thread 0 of program (2, 0, 0) waits for 4 bytes at byte 0"));
  EXPECT_EQ(wrong.find("begin only when others end"), std::string::npos) << "none is left";
}

TEST_F(GridTest, WhoGivesUpWaitsForNobody) {
  EXPECT_EQ(run([](const uint64_t *) {
              for (int look = 0; look < 200 && !add(flags[0], 0); ++look)
                kiln_emulated_trip(2);
            }),
            "");
}

TEST_F(GridTest, ClustersWaitForOneAnother) {
  EXPECT_EQ(run(
                [](const uint64_t *) {
                  if (program() % 2 == 0 && program() + 3 < int(kPrograms))
                    waitFor(flags[program() + 3]);
                  add(flags[program()], 1);
                },
                2),
            "");
}

TEST_F(GridTest, ProgramsThatWaitForNobodyRunOneAfterAnother) {
  static std::set<void *> used;
  EXPECT_EQ(run([](const uint64_t *) {
              used.insert(kiln_emulated_shared());
              for (int i = 0; i < 100; ++i)
                add(flags[0], 1);
            }),
            "");
  EXPECT_EQ(used.size(), 1u);
}

namespace {
void read(const int32_t &word) {
  kiln_emulated_access(const_cast<int32_t *>(&word), 4, kReads, nullptr, 4);
}
void waitForLaunch() { kiln_emulated_instruction("nvvm.griddepcontrol.wait", nullptr, nullptr, 5); }
} // namespace

TEST_F(GridTest, WhatTheLaunchInFrontMayUseIsWaitedFor) {
  auto none = [](const uint64_t *) { read(values[program()]); };
  auto own = [](const uint64_t *) { waitForLaunch(), read(values[program()]); };
  auto told = [](const uint64_t *) {
    if (thread() == 1)
      waitForLaunch();
    kiln_emulated_barrier(3);
    read(values[program()]);
  };
  auto other = [](const uint64_t *) {
    if (thread() == 1)
      waitForLaunch();
    read(values[program()]);
  };
  EXPECT_EQ(run(none), "") << "they do not overlap";
  launch.overlaps = true;
  for (bool isWritten : {true, false}) {
    launch.ranges[1].isWritten = isWritten;
    EXPECT_EQ(run(own), "");
    EXPECT_EQ(run(told), "");
    EXPECT_THAT(run(none), HasSubstr("a read of byte 0 of argument 'values', which the launch in "
                                     "front of this one may still use"));
    EXPECT_THAT(run(other), HasSubstr("a wait for what runs in front of it "
                                      "('griddepcontrol.wait'), by thread 0 (warp 0) of program"));
  }
}
