// How many specialisations stay loaded, which of them go, and which must not.
#include "../Support/Kernels.h"
#include "kiln/Runtime/Launch/Function.h"
#include "gmock/gmock.h"
#include <atomic>
#include <condition_variable>
#include <random>
#include <thread>

using namespace kiln;
using namespace kiln::testing;

namespace {
/// Counts those alive; a launch notes the number of its variant, and may be made to wait.
class CountedExecutable : public Executable {
public:
  CountedExecutable(Device &device, const Artifact &artifact, int number)
      : Executable(device, artifact, llvm::cantFail(LaunchPlan::parse(artifact))), number(number) {
    ++alive;
  }
  ~CountedExecutable() override { --alive; }
  void computeGrid(const uint64_t *, int64_t[3]) override {}
  llvm::Error launch(const uint64_t *slots, const int64_t[3], const LaunchContext &) override {
    ++started;
    while (isHeld)
      std::this_thread::yield();
    **reinterpret_cast<int64_t *const *>(slots) = number;
    return llvm::Error::success();
  }

  static inline std::atomic<int> alive{0}, started{0};
  static inline std::atomic<bool> isHeld{false};
  const int number;
};

class EvictionTest : public ::testing::Test {
protected:
  ~EvictionTest() override { Function::setMost(0); }

  static std::unique_ptr<Function> makeFunction() {
    std::vector<KilnParameter> parameters{
        {"out", KILN_ARG_POINTER, KILN_I64, -1, KILN_FACTS_DEFAULT},
        {"n", KILN_ARG_INTEGER, KILN_I64, -1, KILN_FACTS_DEFAULT}};
    return llvm::cantFail(Function::create("count", parameters));
  }
  /// What the code of a variant wrote; -1 after a miss, which `insert` then serves.
  int64_t launch(Function &function, int variant, bool insert = true) {
    alignas(16) int64_t out = -1;
    std::vector<KilnArg> args{pointer(&out), integer(7)};
    KilnLaunchOptions options = gridOf(1);
    options.variant = uint64_t(variant);
    llvm::StringRef key;
    llvm::Error error = llvm::Error::success();
    KilnLaunchStatus status = function.launch(args, &options, key, error);
    llvm::cantFail(std::move(error));
    if (status == KILN_LAUNCH_MISS && insert)
      llvm::cantFail(function.insert(
          key.str(), new CountedExecutable(*llvm::cantFail(openDevice("cpu")), artifact, variant)));
    return status == KILN_LAUNCH_OK ? out : -1;
  }
  static uint64_t loaded() { return llvm::cantFail(Function::describeLoaded()).now; }

  Artifact artifact = countArtifact("nogrid");
};
} // namespace

TEST_F(EvictionTest, WhatWasUsedLongestAgoGoes) {
  auto one = makeFunction(), two = makeFunction();
  Function::setMost(10);
  uint64_t before = llvm::cantFail(Function::describeLoaded()).evicted;
  for (int i = 0; i < 40; ++i) {
    Function &function = i % 2 ? *one : *two;
    EXPECT_EQ(launch(function, i), -1);
    EXPECT_EQ(launch(function, i), i);
    if (i) // the first is used all the time
      EXPECT_EQ(launch(*two, 0, /*insert=*/false), 0);
    EXPECT_LE(loaded(), 10u);
  }
  EXPECT_EQ(loaded(), 10u);
  EXPECT_EQ(CountedExecutable::alive, 10);
  EXPECT_EQ(llvm::cantFail(Function::describeLoaded()).evicted - before, 30u);
  for (int i = 1; i < 40; ++i)
    EXPECT_EQ(launch(i % 2 ? *one : *two, i, /*insert=*/false), i > 30 ? i : -1) << i;
  Function::setMost(3);
  EXPECT_EQ(CountedExecutable::alive, 3);
  one.reset();
  two.reset();
  EXPECT_EQ(CountedExecutable::alive, 0);
  EXPECT_EQ(loaded(), 0u);
}

TEST_F(EvictionTest, WhatIsReplacedGoes) {
  auto function = makeFunction();
  launch(*function, 1);
  alignas(16) int64_t out = -1; // the key has its alignment
  std::vector<KilnArg> args{pointer(&out), integer(7)};
  KilnLaunchOptions options = gridOf(1);
  options.variant = 1;
  std::string key = llvm::cantFail(function->key(args, &options));
  Device &cpu = *llvm::cantFail(openDevice("cpu"));
  for (int i = 0; i < 5; ++i)
    llvm::cantFail(function->insert(key, new CountedExecutable(cpu, artifact, 100 + i)));
  EXPECT_EQ(launch(*function, 1), 104);
  EXPECT_EQ(CountedExecutable::alive, 1);
}

TEST_F(EvictionTest, WhatIsRunningStays) {
  auto function = makeFunction();
  launch(*function, 1);
  CountedExecutable::started = 0;
  CountedExecutable::isHeld = true;
  int64_t said = -1;
  std::thread running([&] { said = launch(*function, 1); });
  while (!CountedExecutable::started)
    std::this_thread::yield();
  Function::setMost(1);
  for (int i = 2; i < 20; ++i)
    launch(*function, i);
  EXPECT_EQ(launch(*function, 1, /*insert=*/false), -1) << "it is not found any more";
  EXPECT_GE(CountedExecutable::alive, 2) << "and its code is there";
  CountedExecutable::isHeld = false;
  running.join();
  EXPECT_EQ(said, 1);
  launch(*function, 30);
  EXPECT_EQ(CountedExecutable::alive, 1);
}

/// Whoever launches, whatever goes meanwhile: each launch runs the code of its own variant.
TEST_F(EvictionTest, ThreadsAndATightBound) {
  std::vector<std::unique_ptr<Function>> functions;
  for (int i = 0; i < 3; ++i)
    functions.push_back(makeFunction());
  Function::setMost(5);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  unsigned seed = std::random_device()();
  for (unsigned t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      std::mt19937 random(seed + t);
      for (int i = 0; i < 3000; ++i) {
        int variant = int(random() % 12);
        int64_t said = launch(*functions[random() % 3], variant);
        wrong += said != -1 && said != variant;
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0) << seed;
  Function::setMost(1);
  launch(*functions[0], 50);
  launch(*functions[1], 51);
  EXPECT_EQ(CountedExecutable::alive, 1);
}
