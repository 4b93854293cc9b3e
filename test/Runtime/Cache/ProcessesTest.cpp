// Many processes on one cache, and processes that are killed while they hold something.
#include "Entries.h"
#include <csignal>
#include <fcntl.h>
#include <random>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace kiln;
using namespace kiln::testing;

/// Starts `body` in a child that ends with its result; a child that hangs is ended by its alarm.
template <typename Body>
static pid_t start(Body body) {
  pid_t child = ::fork();
  if (child == 0) {
    ::alarm(50);
    ::_exit(body());
  }
  return child;
}

static int statusOf(pid_t child) {
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/// One letter appended by each compile.
static void note(const std::string &log) {
  int fd = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  ssize_t put = ::write(fd, "c", 1);
  (void)put;
  ::close(fd);
}

static std::optional<Artifact> getOrMake(Cache &cache, int number, const std::string &log,
                                         int milliseconds) {
  std::optional<Artifact> artifact = cache.begin(keyOf(number));
  if (!artifact) {
    note(log);
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
    artifact = artifactOf(number, 20000);
    cache.end(keyOf(number), artifact);
  }
  return artifact;
}

TEST(CacheProcesses, ManyOnOneColdCacheCompileOnce) {
  TemporaryDirectory temporary;
  std::vector<pid_t> children;
  for (int i = 0; i < 24; ++i)
    children.push_back(start([&] {
      auto cache = openCache(temporary / "cache");
      return isArtifactOf(getOrMake(*cache, 1, temporary / "log", 100), 1) ? 0 : 1;
    }));
  for (pid_t child : children)
    EXPECT_EQ(statusOf(child), 0);
  EXPECT_EQ(slurp(temporary / "log"), "c");
}

TEST(CacheProcesses, ManyKeysAndManyProcessesAllGetTheRightOne) {
  TemporaryDirectory temporary;
  constexpr int keys = 40;
  std::vector<pid_t> children;
  for (int i = 0; i < 12; ++i)
    children.push_back(start([&] {
      std::mt19937 random(::getpid());
      // A bound that all of them together break, so that entries are evicted under their readers.
      auto cache = openCache(temporary / "cache", 300000);
      for (int round = 0; round < 100; ++round) {
        int number = random() % keys;
        if (!isArtifactOf(getOrMake(*cache, number, temporary / "log", 0), number))
          return 1;
        if (round % 10 == 0)
          cache = openCache(temporary / "cache", 300000);
      }
      return 0;
    }));
  for (pid_t child : children)
    EXPECT_EQ(statusOf(child), 0);
  std::vector<std::pair<std::string, std::string>> removed;
  openCache(temporary / "cache")->disk()->verify(removed);
  EXPECT_TRUE(removed.empty());
}

TEST(CacheProcesses, AKilledCompilerIsReplaced) {
  TemporaryDirectory temporary;
  pid_t first = start([&] {
    auto cache = openCache(temporary / "cache");
    if (cache->begin(keyOf(1)))
      return 1;
    note(temporary / "log");
    std::this_thread::sleep_for(std::chrono::seconds(40));
    return 0;
  });
  while (slurp(temporary / "log").empty())
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_TRUE(std::filesystem::exists(fileOf(temporary / "cache", keyOf(1), ".lock")));
  std::vector<pid_t> children;
  for (int i = 0; i < 4; ++i)
    children.push_back(start([&] {
      auto cache = openCache(temporary / "cache");
      return isArtifactOf(getOrMake(*cache, 1, temporary / "log", 20), 1) ? 0 : 1;
    }));
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  auto before = std::chrono::steady_clock::now();
  ::kill(first, SIGKILL);
  EXPECT_EQ(statusOf(first), -SIGKILL);
  for (pid_t child : children)
    EXPECT_EQ(statusOf(child), 0);
  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(10));
  EXPECT_GE(slurp(temporary / "log").size(), 2u);
  EXPECT_FALSE(std::filesystem::exists(fileOf(temporary / "cache", keyOf(1), ".lock")));
}

TEST(CacheProcesses, WritersKilledAtAnyMomentLeaveNoWrongEntry) {
  TemporaryDirectory temporary;
  std::mt19937 random(std::random_device{}());
  for (int round = 0; round < 60; ++round) {
    pid_t writer = start([&] {
      auto cache = openCache(temporary / "cache");
      for (int i = 0;; ++i) {
        int number = i % 8;
        cache->disk()->put(keyOf(number), artifactOf(number, 200000));
      }
      return 0;
    });
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 8000));
    ::kill(writer, SIGKILL);
    EXPECT_EQ(statusOf(writer), -SIGKILL);
    auto cache = openCache(temporary / "cache");
    for (int number = 0; number < 8; ++number) {
      std::optional<Artifact> artifact = cache->get(keyOf(number));
      EXPECT_TRUE(!artifact || isArtifactOf(artifact, number));
    }
    EXPECT_EQ(cache->disk()->stats().corrupt, 0u) << "a rename showed half a file";
  }
}

//===- Locks that others left ---------------------------------------------------------------===//

static std::chrono::milliseconds timeToBegin(const std::string &directory) {
  auto before = std::chrono::steady_clock::now();
  auto cache = openCache(directory);
  EXPECT_FALSE(cache->begin(keyOf(1)).has_value());
  cache->end(keyOf(1), artifactOf(1));
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() -
                                                               before);
}

TEST(CacheProcesses, ALockOfAnotherMachineIsNotWaitedFor) {
  TemporaryDirectory temporary;
  CacheDirectory directory = llvm::cantFail(CacheDirectory::open(temporary / "cache"));
  ASSERT_EQ(directory.create(keyOf(1).hex() + ".lock", "elsewhere,pid:[1] 1 1"), 0);
  EXPECT_LT(timeToBegin(temporary / "cache").count(), 1000);
}

TEST(CacheProcesses, AnEmptyLockIsBrokenSoon) {
  TemporaryDirectory temporary;
  CacheDirectory directory = llvm::cantFail(CacheDirectory::open(temporary / "cache"));
  ASSERT_EQ(directory.create(keyOf(1).hex() + ".lock", ""), 0);
  EXPECT_LT(timeToBegin(temporary / "cache").count(), 5000);
  EXPECT_FALSE(std::filesystem::exists(fileOf(temporary / "cache", keyOf(1), ".lock")));
}

TEST(CacheProcesses, ALockThatIsNoFileOfOursIsNotWaitedFor) {
  TemporaryDirectory temporary;
  openCache(temporary / "cache")->put(keyOf(1), artifactOf(1)); // makes the folder
  std::filesystem::remove(fileOf(temporary / "cache", keyOf(1)));
  std::string lock = fileOf(temporary / "cache", keyOf(1), ".lock");
  ASSERT_EQ(::symlink("/nonexistent", lock.c_str()), 0);
  EXPECT_LT(timeToBegin(temporary / "cache").count(), 1000);
}

// A holder that lives but never ends must not hold others for ever.
TEST(CacheProcesses, ALivingHolderIsWaitedForOnlySoLong) {
  TemporaryDirectory temporary;
  CacheDirectory directory = llvm::cantFail(CacheDirectory::open(temporary / "cache"));
  KeyLock held(directory, keyOf(1), [] { return false; });
  auto before = std::chrono::steady_clock::now();
  {
    KeyLock second(directory, keyOf(1), [] { return false; }, /*seconds=*/1);
  }
  auto took = std::chrono::steady_clock::now() - before;
  EXPECT_GE(took, std::chrono::milliseconds(900));
  EXPECT_LT(took, std::chrono::seconds(10));
}
