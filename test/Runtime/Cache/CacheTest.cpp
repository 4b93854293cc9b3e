// Both levels together: aliases, one compile a key among threads, where the cache is.
#include "Entries.h"
#include <atomic>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace kiln;
using namespace kiln::testing;
using ::testing::HasSubstr;

TEST(Cache, MemoryThenDisk) {
  TemporaryDirectory temporary;
  Cache::Hit hit;
  auto cache = openCache(temporary / "cache");
  EXPECT_FALSE(cache->get(keyOf(1), &hit).has_value());
  EXPECT_EQ(hit, Cache::Hit::None);
  cache->put(keyOf(1), artifactOf(1));
  EXPECT_TRUE(isArtifactOf(cache->get(keyOf(1), &hit), 1));
  EXPECT_EQ(hit, Cache::Hit::Memory);
  auto other = openCache(temporary / "cache");
  EXPECT_TRUE(isArtifactOf(other->get(keyOf(1), &hit), 1));
  EXPECT_EQ(hit, Cache::Hit::Disk);
  EXPECT_TRUE(isArtifactOf(other->get(keyOf(1), &hit), 1));
  EXPECT_EQ(hit, Cache::Hit::Memory);
  other->remove(keyOf(1));
  EXPECT_FALSE(other->get(keyOf(1)).has_value());
  EXPECT_FALSE(openCache(temporary / "cache")->get(keyOf(1)).has_value());
}

TEST(Cache, MemoryOnly) {
  auto cache = openCache("");
  EXPECT_EQ(cache->disk(), nullptr);
  EXPECT_FALSE(cache->begin(keyOf(1)).has_value());
  cache->end(keyOf(1), artifactOf(1));
  EXPECT_TRUE(isArtifactOf(cache->get(keyOf(1)), 1));
}

TEST(Cache, MemoryIsBoundedByBytes) {
  ::setenv("KILN_CACHE_MEMORY", "64K", 1);
  auto cache = openCache("");
  ::unsetenv("KILN_CACHE_MEMORY");
  EXPECT_EQ(cache->stats().maxMemoryBytes, 64u << 10);
  uint64_t most = 0;
  for (int i = 0; i < 200; ++i) {
    cache->put(keyOf(i), artifactOf(i, 1000));
    cache->alias(keyOf(1000 + i), keyOf(i));
    EXPECT_TRUE(isArtifactOf(cache->get(keyOf(0)), 0)) << "used last";
    most = std::max(most, cache->stats().memoryBytes);
  }
  EXPECT_LE(most, 64u << 10);
  EXPECT_GT(most, 60u << 10);
  EXPECT_FALSE(cache->get(keyOf(1)).has_value());
  EXPECT_TRUE(isArtifactOf(cache->get(keyOf(199)), 199));
  // One that alone is larger stays until another comes.
  cache->put(keyOf(300), artifactOf(300, 100000));
  EXPECT_TRUE(isArtifactOf(cache->get(keyOf(300)), 300));
  EXPECT_FALSE(cache->get(keyOf(199)).has_value());
  for (int i = 0; i < 200; ++i)
    cache->remove(keyOf(i)), cache->remove(keyOf(1000 + i));
  cache->remove(keyOf(300));
  EXPECT_EQ(cache->stats().memoryBytes, 0u);
}

TEST(Cache, AliasesAreFollowedOnBothLevels) {
  TemporaryDirectory temporary;
  auto cache = openCache(temporary / "cache");
  cache->put(keyOf(1), artifactOf(1));
  cache->alias(keyOf(2), keyOf(1));
  EXPECT_TRUE(isArtifactOf(cache->get(keyOf(2)), 1));
  EXPECT_TRUE(isArtifactOf(openCache(temporary / "cache")->get(keyOf(2)), 1));
  cache->remove(keyOf(1));
  EXPECT_FALSE(cache->get(keyOf(2)).has_value()) << "an alias of nothing is a miss";
}

TEST(Cache, WhatWasMadeWithAnotherLibraryIsAbsent) {
  TemporaryDirectory temporary;
  std::string path = temporary / "library.bc";
  spill(path, "one");
  llvm::json::Array libraries{llvm::json::Object{{"path", path}, {"hash", Key::of("one").hex()}}};
  Artifact made =
      artifactOf(1).withMetadata(llvm::json::Object{{"libraries", std::move(libraries)}});
  auto cache = openCache(temporary / "cache");
  cache->put(keyOf(1), made);
  cache->alias(keyOf(2), keyOf(1));
  EXPECT_TRUE(cache->get(keyOf(1)).has_value());
  EXPECT_TRUE(openCache(temporary / "cache")->get(keyOf(2)).has_value());
  spill(path, "another");
  Cache::Hit hit;
  EXPECT_FALSE(cache->get(keyOf(1), &hit).has_value());
  EXPECT_EQ(hit, Cache::Hit::None);
  EXPECT_FALSE(openCache(temporary / "cache")->get(keyOf(2)).has_value());
  EXPECT_FALSE(cache->begin(keyOf(1)).has_value()) << "the caller is to compile it";
  cache->end(keyOf(1), artifactOf(2));
  EXPECT_TRUE(isArtifactOf(cache->get(keyOf(2)), 2));
  ::unlink(path.c_str());
  cache->put(keyOf(1), made);
  EXPECT_FALSE(cache->get(keyOf(1)).has_value()) << "it is gone";
}

TEST(Cache, AliasesInACircleEnd) {
  auto cache = openCache("");
  cache->alias(keyOf(1), keyOf(2));
  cache->alias(keyOf(2), keyOf(1));
  cache->alias(keyOf(3), keyOf(3));
  EXPECT_FALSE(cache->get(keyOf(1)).has_value());
  EXPECT_FALSE(cache->get(keyOf(3)).has_value());
}

TEST(Cache, OneCompileAKeyAmongThreads) {
  TemporaryDirectory temporary;
  for (const std::string &directory : {std::string(), temporary / "cache"}) {
    auto cache = openCache(directory);
    std::atomic<int> compiles{0}, right{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 16; ++i)
      threads.emplace_back([&] {
        std::optional<Artifact> artifact = cache->begin(keyOf(1));
        if (!artifact) {
          ++compiles;
          std::this_thread::sleep_for(std::chrono::milliseconds(50));
          artifact = artifactOf(1);
          cache->end(keyOf(1), artifact);
        }
        right += isArtifactOf(artifact, 1);
      });
    for (std::thread &thread : threads)
      thread.join();
    EXPECT_EQ(compiles, 1);
    EXPECT_EQ(right, 16);
  }
}

TEST(Cache, OtherKeysGoOn) {
  auto cache = openCache("");
  EXPECT_FALSE(cache->begin(keyOf(1)).has_value());
  EXPECT_FALSE(cache->begin(keyOf(2)).has_value()) << "key 1 is being made all the while";
  cache->end(keyOf(2), artifactOf(2));
  cache->end(keyOf(1), artifactOf(1));
}

TEST(Cache, AFailedCompileIsTriedByThoseWhoWaited) {
  auto cache = openCache("");
  std::atomic<int> tries{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      if (cache->begin(keyOf(1)))
        return;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      bool fails = tries++ < 2;
      cache->end(keyOf(1), fails ? std::nullopt : std::optional(artifactOf(1)));
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(tries, 3);
  EXPECT_TRUE(isArtifactOf(cache->get(keyOf(1)), 1));
}

TEST(Cache, AForkedChildDoesNotWaitForItsParentsThreads) {
  auto cache = openCache("");
  EXPECT_FALSE(cache->begin(keyOf(1)).has_value());
  pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);
    bool mine = !cache->begin(keyOf(1));
    ::_exit(mine ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  cache->end(keyOf(1), std::nullopt);
}

// A lock that another thread holds at the moment of a fork has no owner in the child.
TEST(Cache, ForksAmongBusyThreadsFindEveryLockFree) {
  TemporaryDirectory temporary;
  auto cache = openCache(temporary / "cache");
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([&, i] {
      for (int number = 0; !stop; number = (number + 1) % 50)
        if (!cache->get(keyOf(100 * i + number)))
          cache->put(keyOf(100 * i + number), artifactOf(number, 100));
    });
  for (int round = 0; round < 100; ++round) {
    pid_t child = ::fork();
    if (child == 0) {
      ::alarm(20);
      bool made = !cache->begin(keyOf(10000 + round));
      cache->end(keyOf(10000 + round), artifactOf(1, 100));
      ::_exit(made && isArtifactOf(cache->get(keyOf(10000 + round)), 1) ? 0 : 1);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  stop = true;
  for (std::thread &thread : threads)
    thread.join();
}

//===- Where --------------------------------------------------------------------------------===//

TEST(Cache, PlaceAndBoundComeFromTheEnvironment) {
  TemporaryDirectory temporary;
  ::unsetenv("KILN_CACHE_DIR");
  ::setenv("XDG_CACHE_HOME", temporary.path.c_str(), 1);
  EXPECT_EQ(llvm::cantFail(Cache::open(std::nullopt, 0))->disk()->directory().path(),
            temporary / "kiln");
  ::setenv("KILN_CACHE_DIR", (temporary / "chosen").c_str(), 1);
  ::setenv("KILN_CACHE_SIZE", "3M", 1);
  auto cache = llvm::cantFail(Cache::open(std::nullopt, 0));
  EXPECT_EQ(cache->disk()->directory().path(), temporary / "chosen");
  EXPECT_EQ(cache->disk()->maxBytes(), uint64_t(3) << 20);
  EXPECT_EQ(cache->stats().maxMemoryBytes, uint64_t(64) << 20);
  for (const char *variable : {"KILN_CACHE_SIZE", "KILN_CACHE_MEMORY"}) {
    for (const char *wrong : {"0", "-1", "much", "99999999999999G"}) {
      ::setenv(variable, wrong, 1);
      llvm::Expected<std::unique_ptr<Cache>> opened = Cache::open(std::nullopt, 0);
      ASSERT_FALSE(bool(opened)) << wrong;
      EXPECT_THAT(llvm::toString(opened.takeError()), HasSubstr(variable));
    }
    ::unsetenv(variable);
  }
  ::setenv("KILN_CACHE_DIR", "", 1);
  EXPECT_EQ(llvm::cantFail(Cache::open(std::nullopt, 0))->disk(), nullptr);
  ::unsetenv("KILN_CACHE_DIR");
}

TEST(Cache, ADefaultPlaceThatCannotBeMadeLeavesMemory) {
  TemporaryDirectory temporary;
  spill(temporary / "file", "");
  ::unsetenv("KILN_CACHE_DIR");
  ::setenv("XDG_CACHE_HOME", (temporary / "file/below").c_str(), 1);
  auto cache = llvm::cantFail(Cache::open(std::nullopt, 0));
  EXPECT_EQ(cache->disk(), nullptr);
  EXPECT_THAT(cache->notice(), HasSubstr("kept in memory only"));
  cache->put(keyOf(1), artifactOf(1));
  EXPECT_TRUE(isArtifactOf(cache->get(keyOf(1)), 1));
  // A place that somebody chose is not passed over in silence.
  EXPECT_FALSE(
      bool(llvm::expectedToOptional(Cache::open(llvm::StringRef(temporary / "file/below"), 0))));
  ::unsetenv("XDG_CACHE_HOME");
}
