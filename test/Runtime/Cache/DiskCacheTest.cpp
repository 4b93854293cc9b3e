// Entries on disk: damage, bounds, full and read-only disks.
#include "Entries.h"
#include <csignal>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace kiln;
using namespace kiln::testing;
using ::testing::HasSubstr;

namespace {
class DiskCacheTest : public ::testing::Test {
protected:
  DiskCache open(uint64_t maxBytes = 1 << 30) {
    return DiskCache(llvm::cantFail(CacheDirectory::open(path)), maxBytes);
  }
  void setUsed(int number, int secondsAgo) {
    auto when = std::filesystem::file_time_type::clock::now() - std::chrono::seconds(secondsAgo);
    std::filesystem::last_write_time(fileOf(path, keyOf(number)), when);
  }
  bool has(DiskCache &cache, int number) {
    std::optional<DiskCache::Entry> entry = cache.get(keyOf(number));
    return entry && isArtifactOf(entry->artifact, number);
  }

  TemporaryDirectory temporary;
  std::string path = temporary / "cache";
};
} // namespace

TEST_F(DiskCacheTest, AnotherProcessFindsIt) {
  open().put(keyOf(1), artifactOf(1));
  DiskCache other = open();
  EXPECT_TRUE(has(other, 1));
  EXPECT_FALSE(other.get(keyOf(2)).has_value());
}

TEST_F(DiskCacheTest, AliasesAreEntries) {
  open().putAlias(keyOf(1), keyOf(2));
  std::optional<DiskCache::Entry> entry = open().get(keyOf(1));
  ASSERT_TRUE(entry && entry->alias);
  EXPECT_EQ(*entry->alias, keyOf(2));
}

TEST_F(DiskCacheTest, EveryTruncationIsAMissAndRemoved) {
  open().put(keyOf(1), artifactOf(1, 100));
  std::string file = fileOf(path, keyOf(1)), whole = slurp(file);
  for (size_t size = 0; size < whole.size(); size += 7) {
    spill(file, whole.substr(0, size));
    DiskCache cache = open();
    EXPECT_FALSE(cache.get(keyOf(1)).has_value()) << "cut to " << size;
    EXPECT_FALSE(std::filesystem::exists(file));
    EXPECT_EQ(cache.stats().corrupt, 1u);
  }
}

TEST_F(DiskCacheTest, EveryFlippedByteIsAMissAndRemoved) {
  open().put(keyOf(1), artifactOf(1, 100));
  std::string file = fileOf(path, keyOf(1)), whole = slurp(file);
  for (size_t at = 0; at < whole.size(); ++at) {
    std::string broken = whole;
    broken[at] ^= 1;
    spill(file, broken);
    EXPECT_FALSE(open().get(keyOf(1)).has_value()) << "flipped byte " << at;
    EXPECT_FALSE(std::filesystem::exists(file));
  }
}

TEST_F(DiskCacheTest, AnEntryUnderAnotherKeyIsNotBelieved) {
  open().put(keyOf(1), artifactOf(1));
  open().put(keyOf(2), artifactOf(2));
  std::filesystem::copy_file(fileOf(path, keyOf(1)), fileOf(path, keyOf(2)),
                             std::filesystem::copy_options::overwrite_existing);
  DiskCache cache = open();
  EXPECT_FALSE(cache.get(keyOf(2)).has_value());
  EXPECT_TRUE(has(cache, 1));
}

TEST_F(DiskCacheTest, LeastRecentlyUsedGoFirst) {
  constexpr int count = 20;
  for (int i = 0; i < count; ++i)
    open().put(keyOf(i), artifactOf(i, 1000));
  for (int i = 0; i < count; ++i)
    setUsed(i, 10000 - i * 100);
  setUsed(0, 5); // the first was used last
  uint64_t each = std::filesystem::file_size(fileOf(path, keyOf(1)));
  DiskCache cache = open();
  EXPECT_EQ(cache.prune(each * 5), uint64_t(count - 5));
  for (int i = 0; i < count; ++i)
    EXPECT_EQ(has(cache, i), i == 0 || i >= count - 4) << i;
  EXPECT_EQ(cache.prune(0), 5u);
  EXPECT_EQ(cache.usage().second, 0u);
}

TEST_F(DiskCacheTest, AHitCountsAsUse) {
  for (int i = 0; i < 3; ++i) {
    open().put(keyOf(i), artifactOf(i));
    setUsed(i, 10000 - i * 100);
  }
  DiskCache cache = open();
  EXPECT_TRUE(has(cache, 0));
  uint64_t each = std::filesystem::file_size(fileOf(path, keyOf(0)));
  cache.prune(each);
  EXPECT_TRUE(has(cache, 0));
}

TEST_F(DiskCacheTest, StaysWithinItsBound) {
  constexpr uint64_t bound = 50000;
  DiskCache cache = open(bound);
  for (int i = 0; i < 200; ++i)
    cache.put(keyOf(i), artifactOf(i, 1000));
  EXPECT_LE(cache.usage().first, bound);
  EXPECT_GE(cache.usage().first, bound / 2);
  EXPECT_GT(cache.stats().evicted, 100u);
  cache.put(keyOf(1000), artifactOf(1000, 60000)); // larger than the whole bound
  EXPECT_FALSE(cache.get(keyOf(1000)).has_value());
  EXPECT_EQ(cache.notice(), "");
}

TEST_F(DiskCacheTest, VerifyFindsWhatIsWrong) {
  for (int i = 0; i < 5; ++i)
    open().put(keyOf(i), artifactOf(i));
  std::string broken = fileOf(path, keyOf(3));
  std::string bytes = slurp(broken);
  bytes[bytes.size() / 2] ^= 1;
  spill(broken, bytes);
  DiskCache cache = open();
  std::vector<std::pair<std::string, std::string>> removed;
  EXPECT_EQ(cache.verify(removed), 5u);
  ASSERT_EQ(removed.size(), 1u);
  EXPECT_EQ(removed[0].first, keyOf(3).hex() + ".kiln");
  EXPECT_THAT(removed[0].second, HasSubstr("checksum"));
  EXPECT_EQ(cache.list().size(), 4u);
}

TEST_F(DiskCacheTest, PruneSweepsWhatKilledWritersLeft) {
  open().put(keyOf(1), artifactOf(1));
  std::string debris = fileOf(path, keyOf(1), ".tmp"), fresh = fileOf(path, keyOf(1), ".2.tmp");
  std::string foreign = fileOf(path, keyOf(1), ".txt");
  for (const std::string &file : {debris, fresh, foreign})
    spill(file, "half");
  auto old = std::filesystem::file_time_type::clock::now() - std::chrono::hours(2);
  std::filesystem::last_write_time(debris, old);
  std::filesystem::last_write_time(foreign, old);
  open().prune(1 << 30);
  EXPECT_FALSE(std::filesystem::exists(debris));
  EXPECT_TRUE(std::filesystem::exists(fresh)) << "its writer may be alive";
  EXPECT_TRUE(std::filesystem::exists(foreign)) << "not ours";
}

//===- Disks that say no --------------------------------------------------------------------===//

/// Runs `body` in a child, for limits that cannot be taken back; true if it returned true.
template <typename Body>
static bool inChild(Body body) {
  pid_t child = ::fork();
  if (child == 0)
    ::_exit(body() ? 0 : 1);
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST_F(DiskCacheTest, AFullDiskLeavesMemory) {
  if (::geteuid() != 0)
    GTEST_SKIP() << "only root can mount a small disk";
  std::filesystem::create_directory(path);
  if (::mount("none", path.c_str(), "tmpfs", 0, "size=256k,mode=700") != 0)
    GTEST_SKIP() << "this machine lets nobody mount";
  {
    std::unique_ptr<Cache> cache = openCache(path);
    cache->put(keyOf(1), artifactOf(1, 20000));
    EXPECT_EQ(cache->disk()->notice(), "");
    cache->put(keyOf(2), artifactOf(2, 400000)); // more than there is
    EXPECT_THAT(cache->disk()->notice(), HasSubstr("No space left"));
    EXPECT_TRUE(isArtifactOf(cache->get(keyOf(2)), 2)) << "memory still has it";
    cache->put(keyOf(3), artifactOf(3));
    EXPECT_TRUE(isArtifactOf(cache->get(keyOf(3)), 3));
    uint64_t entries = 0, others = 0;
    cache->disk()->directory().forEach([&](const CacheDirectory::File &file) {
      ++(llvm::StringRef(file.name).ends_with(".kiln") ? entries : others);
    });
    EXPECT_EQ(others, 0u) << "half a file was left";
  }
  ::umount2(path.c_str(), MNT_DETACH);
}

// The limit's signal would end the process.
TEST_F(DiskCacheTest, AFileSizeLimitLeavesMemory) {
  EXPECT_TRUE(inChild([&] {
    rlimit limit{10000, 10000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    ::signal(SIGXFSZ, SIG_DFL);
    std::unique_ptr<Cache> cache = openCache(path);
    cache->put(keyOf(1), artifactOf(1, 500));
    cache->put(keyOf(2), artifactOf(2, 50000));
    bool degraded = llvm::StringRef(cache->disk()->notice()).contains("too large");
    return degraded && isArtifactOf(cache->get(keyOf(2)), 2) &&
           isArtifactOf(cache->get(keyOf(1)), 1);
  }));
  DiskCache later = open();
  EXPECT_TRUE(has(later, 1));
  EXPECT_FALSE(later.get(keyOf(2)).has_value());
}

TEST_F(DiskCacheTest, AReadOnlyDiskStillServes) {
  if (::geteuid() != 0)
    GTEST_SKIP() << "only root can mount";
  open().put(keyOf(1), artifactOf(1));
  if (::mount(path.c_str(), path.c_str(), nullptr, MS_BIND, nullptr) != 0 ||
      ::mount("none", path.c_str(), nullptr, MS_BIND | MS_REMOUNT | MS_RDONLY, nullptr) != 0)
    GTEST_SKIP() << "this machine lets nobody mount";
  {
    std::unique_ptr<Cache> cache = openCache(path);
    EXPECT_TRUE(isArtifactOf(cache->get(keyOf(1)), 1));
    EXPECT_FALSE(cache->begin(keyOf(2)).has_value());
    cache->end(keyOf(2), artifactOf(2));
    EXPECT_TRUE(isArtifactOf(cache->get(keyOf(2)), 2));
    EXPECT_THAT(cache->disk()->notice(), HasSubstr("Read-only"));
  }
  ::umount2(path.c_str(), MNT_DETACH);
}
