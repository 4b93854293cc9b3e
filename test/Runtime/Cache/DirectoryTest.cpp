// Which directories the cache refuses, and that it never leaves the one it got.
#include "Entries.h"
#include "kiln/Runtime/Error.h"
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace kiln;
using namespace kiln::testing;
using ::testing::HasSubstr;

namespace {
struct Refusal {
  KilnErrorCode code = KILN_OK;
  std::string text;
};
} // namespace

static Refusal refusal(const std::string &path) {
  Refusal result;
  llvm::Expected<CacheDirectory> directory = CacheDirectory::open(path);
  if (!directory)
    llvm::handleAllErrors(directory.takeError(),
                          [&](const RuntimeError &error) { result = {error.code, error.text}; });
  return result;
}

TEST(CacheDirectory, IsMadePrivate) {
  TemporaryDirectory temporary;
  std::string path = temporary / "a/b/cache";
  EXPECT_EQ(refusal(path).code, KILN_OK);
  struct stat status;
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0700u);
}

TEST(CacheDirectory, SaysWhenARelativePathLeadsNowhere) {
  TemporaryDirectory temporary;
  std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::create_directory(temporary / "gone");
  std::filesystem::current_path(temporary / "gone");
  std::filesystem::remove(temporary / "gone");
  Refusal got = refusal("cache");
  std::filesystem::current_path(before);
  EXPECT_EQ(got.code, KILN_ERROR_IO);
  EXPECT_THAT(got.text, HasSubstr("cannot find the current directory"));
}

TEST(CacheDirectory, RefusesWhatOthersCanWrite) {
  TemporaryDirectory temporary;
  std::string path = temporary / "cache";
  for (mode_t mode : {0777, 0770, 01777, 0722}) {
    ASSERT_TRUE(::mkdir(path.c_str(), 0700) == 0 && ::chmod(path.c_str(), mode) == 0);
    Refusal got = refusal(path);
    EXPECT_EQ(got.code, KILN_ERROR_REFUSED);
    EXPECT_THAT(got.text, HasSubstr("writable by others"));
    EXPECT_THAT(got.text, HasSubstr(path));
    ::rmdir(path.c_str());
  }
  ASSERT_TRUE(::mkdir(path.c_str(), 0700) == 0 && ::chmod(path.c_str(), 0755) == 0);
  EXPECT_EQ(refusal(path).code, KILN_OK);
}

TEST(CacheDirectory, RefusesAnotherOwner) {
  if (::geteuid() != 0)
    GTEST_SKIP() << "only root can give a directory away";
  TemporaryDirectory temporary;
  std::string path = temporary / "cache";
  ASSERT_TRUE(::mkdir(path.c_str(), 0700) == 0 && ::chown(path.c_str(), 65534, 65534) == 0);
  Refusal got = refusal(path);
  EXPECT_EQ(got.code, KILN_ERROR_REFUSED);
  EXPECT_THAT(got.text, HasSubstr("belongs to user 65534"));
}

TEST(CacheDirectory, RefusesAnotherOwnerBehindALink) {
  if (::geteuid() != 0)
    GTEST_SKIP() << "only root can give a directory away";
  TemporaryDirectory temporary;
  std::string path = temporary / "theirs", link = temporary / "cache";
  ASSERT_TRUE(::mkdir(path.c_str(), 0700) == 0 && ::chown(path.c_str(), 65534, 65534) == 0);
  ASSERT_EQ(::symlink(path.c_str(), link.c_str()), 0);
  EXPECT_EQ(refusal(link).code, KILN_ERROR_REFUSED);
}

TEST(CacheDirectory, RefusesWhatIsNoDirectory) {
  TemporaryDirectory temporary;
  spill(temporary / "file", "x");
  EXPECT_NE(refusal(temporary / "file").code, KILN_OK);
  ASSERT_EQ(::symlink("/nonexistent/place", (temporary / "dangling").c_str()), 0);
  EXPECT_EQ(refusal(temporary / "dangling").code, KILN_ERROR_REFUSED);
  EXPECT_NE(refusal(temporary / "file/below").code, KILN_OK);
}

TEST(CacheDirectory, RefusesAHostileFolderInside) {
  TemporaryDirectory temporary;
  std::string inner = temporary / "cache/v1";
  std::filesystem::create_directories(inner);
  ASSERT_EQ(::chmod((temporary / "cache").c_str(), 0700), 0);
  ASSERT_EQ(::chmod(inner.c_str(), 0777), 0);
  EXPECT_EQ(refusal(temporary / "cache").code, KILN_ERROR_REFUSED);
  std::filesystem::remove(inner);
  std::filesystem::create_directory(temporary / "elsewhere");
  ASSERT_EQ(::symlink((temporary / "elsewhere").c_str(), inner.c_str()), 0);
  EXPECT_EQ(refusal(temporary / "cache").code, KILN_ERROR_REFUSED);
}

TEST(CacheDirectory, FollowsNoLinkBelow) {
  TemporaryDirectory temporary;
  CacheDirectory directory = llvm::cantFail(CacheDirectory::open(temporary / "cache"));
  std::string name = keyOf(1).hex() + ".kiln", file = fileOf(temporary / "cache", keyOf(1));
  ASSERT_EQ(directory.write(name, "mine"), 0);
  EXPECT_EQ(directory.read(name), "mine");

  // A link in a file's place is not read, not written through, and replaced by a write.
  spill(temporary / "secret", "theirs");
  std::filesystem::remove(file);
  ASSERT_EQ(::symlink((temporary / "secret").c_str(), file.c_str()), 0);
  EXPECT_FALSE(directory.read(name).has_value());
  EXPECT_NE(directory.create(name, "new"), 0);
  EXPECT_EQ(directory.write(name, "new"), 0);
  EXPECT_EQ(directory.read(name), "new");
  EXPECT_EQ(slurp(temporary / "secret"), "theirs");

  // A link in a folder's place leads nowhere.
  std::string shard = std::filesystem::path(file).parent_path().string();
  std::filesystem::remove_all(shard);
  std::filesystem::create_directory(temporary / "elsewhere");
  ASSERT_EQ(::symlink((temporary / "elsewhere").c_str(), shard.c_str()), 0);
  EXPECT_FALSE(directory.read(name).has_value());
  EXPECT_NE(directory.write(name, "new"), 0);
  EXPECT_TRUE(std::filesystem::is_empty(temporary / "elsewhere"));
}

TEST(CacheDirectory, TrustsNoFileThatOthersCanWrite) {
  TemporaryDirectory temporary;
  CacheDirectory directory = llvm::cantFail(CacheDirectory::open(temporary / "cache"));
  std::string name = keyOf(1).hex() + ".kiln", file = fileOf(temporary / "cache", keyOf(1));
  ASSERT_EQ(directory.write(name, "mine"), 0);
  ASSERT_EQ(::chmod(file.c_str(), 0666), 0);
  EXPECT_FALSE(directory.read(name).has_value());
}

// Opening a FIFO waits for its writer: a cache with one must not hang.
TEST(CacheDirectory, DoesNotWaitForAFifo) {
  TemporaryDirectory temporary;
  CacheDirectory directory = llvm::cantFail(CacheDirectory::open(temporary / "cache"));
  std::string name = keyOf(1).hex() + ".kiln", file = fileOf(temporary / "cache", keyOf(1));
  ASSERT_EQ(directory.write(name, "mine"), 0);
  std::filesystem::remove(file);
  ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);
  EXPECT_FALSE(directory.read(name).has_value());
}

// The descriptor, not the path, is what was checked.
TEST(CacheDirectory, StaysWhereItWasOpened) {
  TemporaryDirectory temporary;
  std::string path = temporary / "cache", name = keyOf(1).hex() + ".kiln";
  CacheDirectory directory = llvm::cantFail(CacheDirectory::open(path));
  std::filesystem::rename(path, temporary / "moved");
  std::filesystem::create_directory(path);
  ASSERT_EQ(directory.write(name, "mine"), 0);
  EXPECT_TRUE(std::filesystem::is_empty(path));
  EXPECT_EQ(slurp(fileOf(temporary / "moved", keyOf(1))), "mine");
}
