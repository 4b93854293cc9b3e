// The pool covers every program exactly once, whoever else uses it.
#include "kiln/Runtime/Host/ThreadPool.h"
#include "gtest/gtest.h"
#include <atomic>
#include <limits>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace kiln;

// The first test of the process decides how many threads there are.
namespace {
struct Threads : ::testing::Environment {
  void SetUp() override {
    ::setenv("KILN_NUM_THREADS", "4", 1);
    ASSERT_EQ(ThreadPool::get().numThreads(), 4u);
  }
};
const auto *environment = ::testing::AddGlobalTestEnvironment(new Threads);
} // namespace

static bool coversOnce(int64_t total) {
  std::vector<std::atomic<int>> seen(total);
  ThreadPool::get().run(total, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i)
      ++seen[i];
    return true;
  });
  for (auto &count : seen)
    if (count != 1)
      return false;
  return true;
}

TEST(ThreadPool, CoversEachProgramOnce) {
  for (int64_t total : {0, 1, 2, 3, 31, 32, 33, 1000, 12345})
    EXPECT_TRUE(coversOnce(total)) << total;
}

TEST(ThreadPool, UsesSeveralThreads) {
  std::atomic<int> inside{0}, most{0};
  ThreadPool::get().run(64, [&](int64_t, int64_t) {
    int now = ++inside, before = most;
    while (now > before && !most.compare_exchange_weak(before, now)) {
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    --inside;
    return true;
  });
  EXPECT_GT(most, 1);
  EXPECT_LE(most, 4);
}

TEST(ThreadPool, StopsWhenABodySaysSo) {
  std::atomic<int64_t> done{0};
  ThreadPool::get().run(1 << 30, [&](int64_t, int64_t) {
    ++done;
    return false;
  });
  EXPECT_LE(done, 4);
}

TEST(ThreadPool, StopsSoonAfterItWasCancelled) {
  // Far more programs than would ever end, whether one takes nothing or a while.
  for (auto pause : {std::chrono::microseconds(0), std::chrono::microseconds(3000)}) {
    std::atomic<int64_t> done{0};
    std::atomic<int> asked{0};
    std::thread::id caller = std::this_thread::get_id();
    auto start = std::chrono::steady_clock::now();
    bool finished = ThreadPool::get().run(
        std::numeric_limits<int64_t>::max(),
        [&](int64_t first, int64_t last) {
          for (int64_t i = first; i < last && pause.count(); ++i)
            std::this_thread::sleep_for(pause);
          for (int64_t i = first; i < last && !pause.count(); ++i)
            done.fetch_add(1, std::memory_order_relaxed);
          return true;
        },
        [&] {
          EXPECT_EQ(std::this_thread::get_id(), caller);
          return ++asked == 3;
        });
    EXPECT_FALSE(finished);
    EXPECT_EQ(asked, 3);
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
    EXPECT_TRUE(coversOnce(1000));
  }
}

TEST(ThreadPool, AsksWhileItWaitsForTheOthers) {
  std::atomic<int> asked{0};
  std::thread::id caller = std::this_thread::get_id();
  bool finished = ThreadPool::get().run(
      8,
      [&](int64_t, int64_t) {
        if (std::this_thread::get_id() != caller)
          std::this_thread::sleep_for(std::chrono::milliseconds(300));
        else
          std::this_thread::sleep_for(std::chrono::milliseconds(20));
        return true;
      },
      [&] { return ++asked < 0; });
  EXPECT_TRUE(finished);
  EXPECT_GE(asked, 2);
}

TEST(ThreadPool, CoversEachProgramOnceWhereNobodyCancels) {
  for (int64_t total : {2, 3, 31, 32, 33, 1000, 300000}) {
    std::vector<std::atomic<int>> seen(total);
    EXPECT_TRUE(ThreadPool::get().run(
        total,
        [&](int64_t first, int64_t last) {
          for (int64_t i = first; i < last; ++i)
            ++seen[i];
          return true;
        },
        [] { return false; }));
    for (auto &count : seen)
      ASSERT_EQ(count, 1);
  }
}

TEST(ThreadPool, ServesManyCallersAtOnce) {
  std::vector<std::thread> callers;
  std::atomic<int> right{0};
  for (int i = 0; i < 8; ++i)
    callers.emplace_back([&, i] {
      for (int round = 0; round < 200; ++round)
        right += coversOnce(i * 37 + round);
    });
  for (std::thread &caller : callers)
    caller.join();
  EXPECT_EQ(right, 8 * 200);
}

TEST(ThreadPool, NestedJobsMakeProgress) {
  std::atomic<int64_t> sum{0};
  ThreadPool::get().run(16, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i)
      ThreadPool::get().run(16, [&](int64_t a, int64_t b) {
        sum += b - a;
        return true;
      });
    return true;
  });
  EXPECT_EQ(sum, 256);
}

TEST(ThreadPool, WorksInAForkedChild) {
  ASSERT_TRUE(coversOnce(1000));
  pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);
    ::_exit(coversOnce(1000) && ThreadPool::get().numThreads() == 4 ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_TRUE(coversOnce(1000));
}
