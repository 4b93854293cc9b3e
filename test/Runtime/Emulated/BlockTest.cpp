// What the emulated block finds wrong with programs, on programs written as functions here.
#include "Calls.h"
#include "Grid.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace kiln::emulated;
using testing::HasSubstr;

namespace {
uint8_t *shared() { return static_cast<uint8_t *>(kiln_emulated_shared()); }

int thread() { return kiln_emulated_register(0); }

void write(int word, int32_t value) {
  auto *at = reinterpret_cast<int32_t *>(shared()) + word;
  kiln_emulated_access(at, 4, 2 | 8, &value, 2);
  *at = value;
}

int32_t read(int word) {
  auto *at = reinterpret_cast<int32_t *>(shared()) + word;
  kiln_emulated_access(at, 4, 1 | 8, nullptr, 1);
  return *at;
}

/// Global memory, all that there is of it.
alignas(16) const int32_t copied[8] = {1, 2, 3, 4, 5, 6, 7, 8};

/// NVIDIA's copy of four words, of which so many bytes are read, into words from `word` on.
void copyIn(const int32_t *from, int word, uint32_t bytes) {
  struct {
    void *place;
    const int32_t *from;
    uint32_t bytes, unused;
  } operands{shared() + 4 * word, from, bytes, 0};
  kiln_emulated_instruction("nvvm.cp.async.cg.shared.global.16.s", &operands, nullptr, 5);
}
void endGroup() { kiln_emulated_instruction("nvvm.cp.async.commit.group", nullptr, nullptr, 6); }
void waitForGroups(uint32_t inFlight) {
  kiln_emulated_instruction("nvvm.cp.async.wait.group", &inFlight, nullptr, 7);
}

/// The value of another lane, by NVIDIA's instruction.
int32_t shuffle(int32_t value, int32_t mask) {
  int32_t operands[4] = {-1, value, mask, 31}, result;
  kiln_emulated_instruction("nvvm.shfl.sync.bfly.i32", operands, &result, 77);
  return result;
}

/// In clusters of so many blocks along x. What is wrong, or nothing.
std::string runGrid(const Launch &launch, int64_t blocks = 1) {
  const int64_t cluster[3] = {blocks, 1, 1};
  Grid grid(launch, cluster);
  while (grid.advance() && grid.getError().empty())
    ;
  return grid.getError();
}

std::string run(void (*kernel)(const uint64_t *), unsigned threads = 64, uint64_t bytes = 1024,
                size_t stackBytes = 0) {
  Launch launch;
  launch.stackBytes = stackBytes;
  launch.kernel = kernel;
  launch.slots = nullptr;
  launch.threads = launch.names.threads = threads;
  launch.warpSize = 32;
  launch.grid[0] = launch.grid[1] = launch.grid[2] = 1;
  auto first = reinterpret_cast<uint64_t>(copied);
  launch.ranges.push_back({first, first + sizeof(copied), "x"});
  launch.sharedBytes = bytes;
  return runGrid(launch);
}

/// Two blocks of a cluster, of one thread each.
std::string runPair(void (*kernel)(const uint64_t *)) {
  Launch launch;
  launch.kernel = kernel;
  launch.slots = nullptr;
  launch.threads = 1;
  launch.warpSize = 32;
  launch.grid[0] = 2;
  launch.grid[1] = launch.grid[2] = 1;
  launch.sharedBytes = 1024;
  return runGrid(launch, 2);
}

int block() { return kiln_emulated_register(3); }
uint64_t ownWord(int word) { return uint64_t(kiln_emulated_shared()) + 4 * word; }

/// NVIDIA's instructions of clusters, at a barrier that lies at word 0 of each block.
void fenceProxy() {
  kiln_emulated_instruction("nvvm.fence.proxy.async.shared_cta", nullptr, nullptr, 14);
}
void initBarrier(uint32_t arrivals, bool publishes = true) {
  struct {
    uint64_t barrier;
    uint32_t arrivals;
  } operands{ownWord(0), arrivals};
  kiln_emulated_instruction("nvvm.mbarrier.init.shared", &operands, nullptr, 8);
  if (publishes)
    kiln_emulated_instruction("nvvm.fence.mbarrier_init.release.cluster", nullptr, nullptr, 16);
  fenceProxy();
}
void arriveAt(uint32_t other) {
  struct {
    uint64_t address;
    uint32_t number;
  } operands{ownWord(0), other};
  uint64_t there;
  kiln_emulated_instruction("nvvm.mapa.shared.cluster", &operands, &there, 9);
  operands = {there, 1};
  kiln_emulated_instruction("nvvm.mbarrier.arrive.scope.cta.space.cluster", &operands, nullptr, 10);
}
void waitBarrier(uint32_t parity) {
  struct {
    uint64_t barrier;
    uint32_t parity;
  } operands{ownWord(0), parity};
  uint8_t done;
  kiln_emulated_instruction("nvvm.mbarrier.try.wait.parity.scope.cluster.space.cta", &operands,
                            &done, 11);
}
void meetCluster() {
  kiln_emulated_instruction("nvvm.barrier.cluster.arrive", nullptr, nullptr, 12);
  kiln_emulated_instruction("nvvm.barrier.cluster.wait", nullptr, nullptr, 13);
}

/// A box of four words, for which a map stands, from global memory into words from 32 on of both
/// blocks.
void copyToBoth() {
  static const TensorMap map = [] {
    TensorMap made;
    made.address = reinterpret_cast<uint64_t>(copied);
    made.rank = 1;
    made.elementBytes = 4;
    made.extents[0] = made.box[0] = 4;
    made.strides[0] = 4;
    return made;
  }();
  struct [[gnu::packed]] {
    uint64_t to, barrier;
    const TensorMap *map;
    int32_t place;
    uint16_t mask;
    uint64_t policy;
    uint8_t hasMask, hasPolicy;
    uint32_t group;
  } operands{ownWord(32), ownWord(0), &map, 0, 3, 0, 1, 0, 0};
  kiln_emulated_instruction("nvvm.cp.async.bulk.tensor.g2s.tile.1d", &operands, nullptr, 14);
}

int32_t sums[64];
} // namespace

TEST(Block, ThreadsExchangeThroughMemoryAndLanes) {
  EXPECT_EQ(run([](const uint64_t *) {
              write(thread(), thread());
              kiln_emulated_barrier(1);
              int32_t sum = read(63 - thread());
              for (int mask = 1; mask < 32; mask *= 2)
                sum += shuffle(sum, mask);
              sums[thread()] = sum;
            }),
            "");
  for (int i = 0; i < 64; ++i)
    EXPECT_EQ(sums[i], i < 32 ? 32 * 47 + 16 : 32 * 15 + 16) << i;
}

TEST(Block, AReadOfWhatNobodyWroteIsFound) {
  EXPECT_THAT(run([](const uint64_t *) { read(3); }), HasSubstr("which no thread has written"));
}

TEST(Block, AnAccessBeyondSharedMemoryIsFound) {
  EXPECT_THAT(run([](const uint64_t *) { write(256, 0); }),
              HasSubstr("an access of 4 bytes at offset 1024"));
}

TEST(Block, ARaceIsFound) {
  EXPECT_THAT(run([](const uint64_t *) {
                write(thread(), thread());
                read(thread() & ~1);
              }),
              HasSubstr("a race"));
  EXPECT_THAT(run([](const uint64_t *) { write(0, thread()); }), HasSubstr("a race"));
  // All write the same: that harms nobody.
  EXPECT_EQ(run([](const uint64_t *) { write(0, 7); }), "");
  EXPECT_THAT(run([](const uint64_t *) {
                write(thread(), 1);
                kiln_emulated_barrier(1);
                read(thread() ^ 1);
                write(thread(), 2);
              }),
              HasSubstr("a race"));
}

TEST(Block, MatricesOfWarpsMeet) {
  /// Eight rows from a place on.
  static int32_t offset;
  static bool isSame;
  auto kernel = [](const uint64_t *) {
    struct {
      void *row;
      uint32_t pair;
    } operands{shared() + 16 * (thread() % 8) + offset, isSame ? 7u : uint32_t(thread())};
    kiln_emulated_instruction("nvvm.stmatrix.sync.aligned.m8n8.x1.b16.p3", &operands, nullptr, 5);
  };
  isSame = true;
  EXPECT_EQ(run(kernel), "");
  EXPECT_EQ(run(kernel, /*threads=*/32), "");
  isSame = false;
  EXPECT_THAT(run(kernel), HasSubstr("a race"));
  EXPECT_EQ(run(kernel, /*threads=*/32), "");
  offset = 8;
  EXPECT_THAT(run(kernel, /*threads=*/32), HasSubstr("misaligned"));
}

TEST(Block, BarriersMustBeMetByAll) {
  EXPECT_THAT(run([](const uint64_t *) {
                if (thread() < 40)
                  kiln_emulated_barrier(1);
              }),
              HasSubstr("has ended while others wait at a barrier"));
  EXPECT_THAT(run([](const uint64_t *) { kiln_emulated_barrier(thread() % 32 < 16 ? 1 : 2); }),
              HasSubstr("threads 0 and 16 of a warp wait at different barriers"));
}

TEST(Block, WarpsMeetWhereverEachOfThemStands) {
  EXPECT_EQ(run([](const uint64_t *) {
              write(thread(), thread());
              kiln_emulated_barrier(thread() < 32 ? 1 : 2);
              read(63 - thread());
            }),
            "");
}

/// AMD's barriers of LDS: word 8 counts to twice the arrivals of a phase, and round.
void arriveAtWord(uint32_t arrivals) {
  auto *word = reinterpret_cast<uint32_t *>(shared()) + 8;
  kiln_emulated_access(word, 4, 1 | 2 | 4 | 8, nullptr, 3);
  kiln_emulated_arrival(word, 2 * arrivals - 1);
  *word = *word == 2 * arrivals - 1 ? 0 : *word + 1;
}
void waitForWord(uint32_t arrivals, bool phase) {
  auto *word = reinterpret_cast<uint32_t *>(shared()) + 8;
  for (int32_t cycles = 1;; kiln_emulated_instruction("amdgcn.s.sleep", &cycles, nullptr, 78)) {
    kiln_emulated_access(word, 4, 1 | 4 | 8, nullptr, 4);
    if ((*word >= arrivals) != phase)
      return;
  }
}

TEST(Block, AWordCountsArrivalsRound) {
  EXPECT_EQ(run([](const uint64_t *) {
              if (thread() == 0)
                write(8, 0);
              kiln_emulated_barrier(1);
              for (int round = 0; round < 3; ++round) {
                write(64 + thread(), round + thread());
                arriveAtWord(64);
                waitForWord(64, round % 2);
                EXPECT_EQ(read(64 + 63 - thread()), round + 63 - thread());
                kiln_emulated_barrier(2);
              }
            }),
            "");
}

TEST(Block, AnArrivalThatNeverComesIsWaitedForInVain) {
  EXPECT_THAT(run([](const uint64_t *) {
                if (thread() == 0)
                  write(8, 0);
                kiln_emulated_barrier(1);
                arriveAtWord(65);
                waitForWord(65, false);
              }),
              HasSubstr("waits forever for a phase of the barrier at offset 32 of shared memory"));
}

TEST(Block, ARowIsNamedByTheFirstLanesAlone) {
  static int32_t rows;
  auto kernel = [](const uint64_t *) {
    kiln_emulated_row(shared() + 16 * (thread() % 8), 16, 2 | 8, rows, 15);
  };
  rows = 8;
  EXPECT_EQ(run(kernel, /*threads=*/32), "");
  rows = 16;
  EXPECT_THAT(run(kernel, /*threads=*/32), HasSubstr("a race"));
}

TEST(Block, LanesMustNotPart) {
  EXPECT_THAT(run([](const uint64_t *) {
                if (thread() != 5)
                  shuffle(1, 1);
              }),
              HasSubstr("the lanes of warp 0 part"));
}

TEST(Block, GlobalMemoryHasBounds) {
  static int32_t array[4];
  auto kernel = [](const uint64_t *) { kiln_emulated_access(array + 4, 4, 1, nullptr, 1); };
  EXPECT_THAT(run(kernel), HasSubstr("a read of 4 bytes of global memory that no argument covers"));
  EXPECT_THAT(run([](const uint64_t *) {
                kiln_emulated_access(const_cast<int32_t *>(copied) + 11, 4, 1, nullptr, 1);
              }),
              HasSubstr("no argument covers, 12 bytes behind the end of argument 'x'"));
}

TEST(Block, AnUnknownInstructionIsNamed) {
  EXPECT_THAT(
      run([](const uint64_t *) { kiln_emulated_instruction("nvvm.no.such", nullptr, nullptr, 1); }),
      HasSubstr("the emulator does not know the instruction 'nvvm.no.such'"));
}

//===- Copies into shared memory ------------------------------------------------------------===//

TEST(Block, ACopyIsThereOnceItsGroupWasWaitedFor) {
  EXPECT_EQ(run(
                [](const uint64_t *) {
                  copyIn(copied, 8 * thread(), 16);
                  endGroup();
                  copyIn(copied + 4, 8 * thread() + 4, 6);
                  endGroup();
                  waitForGroups(1);
                  int32_t sum = read(8 * thread()) + read(8 * thread() + 3);
                  waitForGroups(0);
                  kiln_emulated_barrier(1);
                  // Of the second, one word and a half were in bounds.
                  int other = 8 * (thread() ^ 1) + 4;
                  sums[thread()] = sum + 10 * read(other) + 100 * read(other + 1) + read(other + 3);
                },
                2),
            "");
  EXPECT_EQ(sums[0], 5 + 50 + 600);
  EXPECT_EQ(sums[1], 5 + 50 + 600);
}

TEST(Block, ACopyThatIsReadTooEarlyIsFound) {
  const char *underWay = "a read of byte 0 of shared memory, into which a copy is still under way";
  EXPECT_THAT(run([](const uint64_t *) { copyIn(copied, 0, 16), endGroup(), read(0); }, 1),
              HasSubstr(underWay)); // no wait
  EXPECT_THAT(run([](const uint64_t *) { copyIn(copied, 0, 16), waitForGroups(0), read(0); }, 1),
              HasSubstr(underWay)); // no group was ended
  EXPECT_THAT(run(
                  [](const uint64_t *) {
                    copyIn(copied, 0, 16), endGroup();
                    waitForGroups(1); // one too many
                    read(0);
                  },
                  1),
              HasSubstr(underWay));
  EXPECT_THAT(run(
                  [](const uint64_t *) {
                    copyIn(copied, 4 * thread(), 16), endGroup(), waitForGroups(0);
                    if (thread() == 1)
                      read(0); // no barrier
                  },
                  2),
              HasSubstr("a race"));
}

/// A thread's copies count at a barrier of one arrival, its own; `waits` for it before it reads.
template <bool waits>
static void copyForBarrier(const uint64_t *) {
  uint64_t at = reinterpret_cast<uint64_t>(shared() + 64), result;
  const uint64_t one[] = {at, 1}, first[] = {at, 0};
  kiln_emulated_instruction("nvvm.mbarrier.init.shared", one, nullptr, 8);
  copyIn(copied, 0, 16);
  kiln_emulated_instruction("nvvm.cp.async.mbarrier.arrive.shared", one, nullptr, 9);
  kiln_emulated_instruction("nvvm.mbarrier.arrive.shared", one, &result, 10);
  if (waits)
    kiln_emulated_instruction("nvvm.mbarrier.test.wait.parity.scope.cta.space.cta", first, &result,
                              11);
  EXPECT_EQ(read(0), 1);
}

TEST(Block, OnlyTheBarrierHearsOfCopiesThatCountThere) {
  EXPECT_EQ(run(copyForBarrier<true>, 1), "");
  EXPECT_THAT(run(copyForBarrier<false>, 1), HasSubstr("a read of byte 0 of shared memory"));
}

TEST(Block, ACopyMustEndAndBeAligned) {
  EXPECT_THAT(run([](const uint64_t *) { copyIn(copied, 0, 16), endGroup(); }, 1),
              HasSubstr("ends while copies into shared memory are under way"));
  EXPECT_THAT(run([](const uint64_t *) { copyIn(copied + 1, 0, 16); }, 1),
              HasSubstr("a misaligned copy of 16 bytes from global memory"));
}

//===- Clusters -----------------------------------------------------------------------------===//

TEST(Cluster, BlocksArriveAtOneAnother) {
  EXPECT_EQ(runPair([](const uint64_t *) {
              initBarrier(2);
              meetCluster();
              arriveAt(0);
              arriveAt(1);
              waitBarrier(0);
              meetCluster();
            }),
            "");
}

TEST(Cluster, ABarrierThatIsNotThereYetIsFound) {
  EXPECT_THAT(runPair([](const uint64_t *) {
                initBarrier(1);
                arriveAt(1 - block());
                waitBarrier(0);
                meetCluster();
              }),
              HasSubstr("a barrier in shared memory that nobody has initialised"));
}

TEST(Cluster, ABlockThatHasEndedIsNotReached) {
  EXPECT_THAT(runPair([](const uint64_t *) {
                initBarrier(1);
                meetCluster();
                if (block() == 0)
                  arriveAt(1);
              }),
              HasSubstr("of a block of the cluster that has ended"));
}

TEST(Block, ADeadlockShowsAllThatIsWaitedFor) {
  std::string wrong = run([](const uint64_t *) {
    if (thread() == 0) {
      write(8, 0);
      initBarrier(1);
    }
    kiln_emulated_barrier(1);
    if (thread() < 32)
      waitBarrier(0);
    arriveAtWord(65);
    waitForWord(65, false);
  });
  EXPECT_THAT(wrong,
              HasSubstr("thread 0 waits forever for a phase of the barrier at offset 0 of "));
  EXPECT_THAT(wrong, HasSubstr("; so does thread 32 for a phase of the barrier at offset 32 of "));
}

TEST(Cluster, WhoNeverArrivesIsWaitedForInVain) {
  EXPECT_THAT(runPair([](const uint64_t *) {
                initBarrier(2);
                meetCluster();
                arriveAt(0);
                waitBarrier(0);
                meetCluster();
              }),
              HasSubstr("waits forever"));
}

namespace {
void readFour() {
  for (int word = 32; word < 36; ++word)
    kiln_emulated_access(reinterpret_cast<void *>(ownWord(word)), 4, 1 | 8, nullptr, 1);
}
void expectBytes() {
  struct {
    uint64_t barrier;
    uint32_t bytes;
  } operands{ownWord(0), 16};
  uint64_t state;
  kiln_emulated_instruction("nvvm.mbarrier.arrive.expect.tx.scope.cta.space.cta", &operands, &state,
                            15);
}
/// Both blocks get a box from the first, read it, and may get another.
template <bool tells, bool hasFence = true>
void getTwice(const uint64_t *) {
  initBarrier(1);
  meetCluster();
  for (uint32_t round = 0; round < 2; ++round) {
    expectBytes();
    if (block() == 0)
      copyToBoth();
    waitBarrier(round);
    readFour();
    if (hasFence)
      fenceProxy();
    if (tells)
      meetCluster();
  }
  meetCluster();
}
} // namespace

TEST(Cluster, ABarrierIsReachedBehindItsFenceAlone) {
  auto isAnother = [](const uint64_t *) {
    initBarrier(2, /*publishes=*/false);
    meetCluster();
    arriveAt(0);
  };
  EXPECT_THAT(
      runPair(isAnother),
      HasSubstr("a use by another program of the cluster of the barrier at byte 0 of shared "
                "memory, which thread 0 initialises; no fence"));
  auto isEngine = [](const uint64_t *) {
    initBarrier(1, /*publishes=*/false);
    meetCluster();
    expectBytes();
    copyToBoth();
  };
  EXPECT_THAT(runPair(isEngine),
              HasSubstr("a use by an engine of the barrier at byte 0 of shared "));
  // Of its own block the threads find it without one.
  EXPECT_EQ(run(
                [](const uint64_t *) {
                  if (thread() == 0)
                    initBarrier(1, /*publishes=*/false);
                  kiln_emulated_barrier(1);
                  if (thread() == 1)
                    arriveAt(0);
                  waitBarrier(0);
                },
                2),
            "");
}

TEST(Cluster, ABoxComesToAllWhoHaveReadWhatWasThere) { EXPECT_EQ(runPair(getTwice<true>), ""); }

TEST(Cluster, ABoxThatComesBehindReadsWithoutAFenceIsFound) {
  EXPECT_NE(runPair(getTwice<true, false>).find("no fence of the proxy stands between the read"),
            std::string::npos);
}

TEST(Cluster, ABoxThatComesWhileAnotherBlockMayStillReadIsFound) {
  EXPECT_NE(runPair(getTwice<false>), "");
}

//===- Stacks -------------------------------------------------------------------------------===//

namespace {
constexpr size_t kFrameBytes = 3 << 20;

/// Keeps its number in each page of a large frame while the others do.
void fillFrame(const uint64_t *) {
  volatile unsigned char frame[kFrameBytes];
  for (size_t at = 0; at < kFrameBytes; at += 1024)
    frame[at] = thread();
  kiln_emulated_barrier(1);
  for (size_t at = 0; at < kFrameBytes; at += 1024)
    if (frame[at] != thread())
      write(1 << 20, 0); // outside of shared memory
}
} // namespace

TEST(Stack, FramesThatTheCompilerTellsOfFit) {
  EXPECT_EQ(run(fillFrame, 64, 1024, kFrameBytes + 4096), "");
}

TEST(StackDeathTest, AFrameThatItDoesNotTellOfReachesNoOther) {
  EXPECT_DEATH((void)run(fillFrame), "");
}
