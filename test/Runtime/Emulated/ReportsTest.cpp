// What reports tell of programs that are wrong, on programs written as functions here.
#include "Calls.h"
#include "Grid.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace kiln::emulated;
using testing::HasSubstr;

namespace {
uint8_t *shared() { return static_cast<uint8_t *>(kiln_emulated_shared()); }

int thread() { return kiln_emulated_register(0); }

/// Places of the sites that the functions below have.
const Names &names() {
  static const std::vector<Site> sites = [] {
    std::vector<Site> all(80);
    all[1] = {0, 31, 9, 5, 0, 0}; // a read, in a function that is called elsewhere
    all[2] = {0, 27, 5, 10, 79, 0};
    all[11] = {0, 40, 3, 16, 0, 0};
    all[79] = {0, 50, 1, 21, 0, 0};
    return all;
  }();
  static const Names all{
      sites.data(), "k.py\0load\0store\0wait\0call", 64, 32, {{"load", 0, 1}, {"math", 1, 1}}};
  return all;
}

void write(int word, int32_t value) {
  auto *at = reinterpret_cast<int32_t *>(shared()) + word;
  kiln_emulated_access(at, 4, 2 | 8, &value, 2);
  *at = value;
}
void read(int word) { kiln_emulated_access(shared() + 4 * word, 4, 1 | 8, nullptr, 1); }

/// NVIDIA's barrier, at word 0.
struct Operands {
  void *barrier = shared();
  uint32_t number;
};
void initBarrier(uint32_t arrivals) {
  Operands operands{shared(), arrivals};
  kiln_emulated_instruction("nvvm.mbarrier.init.shared", &operands, nullptr, 8);
}
void arrive() {
  Operands operands{shared(), 0};
  uint64_t state;
  kiln_emulated_instruction("nvvm.mbarrier.arrive.shared", &operands, &state, 10);
}
void waitBarrier(uint32_t parity) {
  Operands operands{shared(), parity};
  uint8_t done;
  kiln_emulated_instruction("nvvm.mbarrier.try.wait.parity.scope.cta.space.cta", &operands, &done,
                            11);
}

std::string run(void (*kernel)(const uint64_t *), uint64_t mostSteps = 1 << 20) {
  Launch launch;
  launch.kernel = kernel;
  launch.slots = nullptr;
  launch.threads = 64;
  launch.warpSize = 32;
  launch.sharedBytes = 1024;
  launch.grid[0] = launch.grid[1] = launch.grid[2] = 1;
  launch.names = names();
  launch.mostSteps = mostSteps;
  const int64_t alone[3] = {1, 1, 1};
  Grid grid(launch, alone);
  while (grid.advance() && grid.getError().empty())
    ;
  return grid.getError();
}
} // namespace

TEST(Report, ARaceHasBothAccessesAndTheMissingEdge) {
  auto kernel = [](const uint64_t *) {
    if (thread() == 3)
      write(0, 7);
    if (thread() == 40)
      read(0);
  };
  EXPECT_EQ(run(kernel),
            "thread 40 of program (0, 0, 0), at k.py:31:9 (load): a race: a read of byte 0 of "
            "shared memory, which thread 3 writes; nothing orders the two\n"
            "  this read: thread 40 (warp 1, role math), at k.py:31:9 (load)\n"
            "  that write: thread 3 (warp 0, role load), at k.py:27:5 (store), called at "
            "k.py:50:1\n"
            "  missing: thread 3 (warp 0, role load) has come to no barrier since, and has arrived "
            "at none");
}

TEST(Report, OfAWriterThatHasToldItIsTheReaderWhoHasNotWaited) {
  auto kernel = [](const uint64_t *) {
    if (thread() == 0)
      initBarrier(1);
    kiln_emulated_barrier(70);
    if (thread() == 3) {
      write(8, 7);
      arrive();
    }
    if (thread() == 40)
      read(8);
  };
  EXPECT_THAT(run(kernel),
              HasSubstr("  missing: thread 3 (warp 0, role load) has since come to a barrier or "
                        "told of its work otherwise, but thread 40 (warp 1, role math) has waited "
                        "for none of that"));
}

TEST(Report, ADeadlockHasEachWarpAndWhatItWaitsFor) {
  auto kernel = [](const uint64_t *) {
    if (thread() == 0)
      initBarrier(2);
    kiln_emulated_barrier(70);
    if (thread() == 0)
      arrive();
    if (thread() >= 32)
      waitBarrier(0);
  };
  EXPECT_EQ(run(kernel),
            "thread 32 waits forever for a phase of the barrier at offset 0 of shared memory, for "
            "whose end 1 of 2 arrivals and 0 bytes are missing\n"
            "  warp 0, role load: ended\n"
            "  warp 1, role math: waits for a phase of the barrier at offset 0 of shared memory, "
            "for whose end 1 of 2 arrivals and 0 bytes are missing, at k.py:40:3 (wait)");
}

TEST(Report, AProgramThatNeverEndsIsStoppedAndShown) {
  auto kernel = [](const uint64_t *) {
    while (thread() >= 32)
      kiln_emulated_trip(1);
  };
  EXPECT_EQ(run(kernel, 1000),
            "thread 32 of program (0, 0, 0), at k.py:31:9 (load): the program does not end: it was "
            "stopped after 1000 steps (KILN_EMULATED_STEPS sets how many it may take)\n"
            "  warp 0, role load: ended\n"
            "  warp 1, role math: runs, at k.py:31:9 (load); thread 33 has not begun");
}

TEST(Report, WhatAThreadDidLongAgoHasNoPlace) {
  auto kernel = [](const uint64_t *) {
    if (thread() == 3)
      write(0, 7);
    for (int i = 0; thread() == 3 && i < 4096; ++i)
      write(1, i);
    if (thread() == 40)
      read(0);
  };
  EXPECT_THAT(run(kernel), HasSubstr("\n  that write: thread 3 (warp 0, role load)\n"));
}
