// The checks and the descriptor-relative file operations of Directory.h.
#include "kiln/Runtime/Cache/Directory.h"
#include "kiln/Runtime/Error.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace kiln;
using namespace llvm;

static constexpr char subfolder[] = "v1";

namespace {
/// Closes a descriptor at the end of a scope.
struct Descriptor {
  int fd;
  explicit Descriptor(int fd) : fd(fd) {}
  Descriptor(const Descriptor &) = delete;
  ~Descriptor() {
    if (fd >= 0)
      ::close(fd);
  }
};

/// Writing past the file size limit raises SIGXFSZ, which ends the process: for the length of a
/// write it is held back, so that the write fails with EFBIG instead.
class HoldSizeSignal {
public:
  HoldSizeSignal() {
    sigemptyset(&set);
    sigaddset(&set, SIGXFSZ);
    sigset_t pending;
    sigpending(&pending);
    wasPending = sigismember(&pending, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &set, &before);
  }
  ~HoldSizeSignal() {
    if (!wasPending) {
      timespec none{0, 0};
      while (sigtimedwait(&set, nullptr, &none) == SIGXFSZ) {
      }
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

private:
  sigset_t set, before;
  bool wasPending;
};
} // namespace

static int64_t nanoseconds(const timespec &time) {
  return int64_t(time.tv_sec) * 1000000000 + time.tv_nsec;
}

static std::string octal(unsigned mode) {
  std::string digits;
  do
    digits.insert(digits.begin(), char('0' + mode % 8));
  while (mode /= 8);
  return digits;
}

/// Why a directory with this status must not be used, or the empty string.
static std::string whyUnsafe(const struct stat &status) {
  if (!S_ISDIR(status.st_mode))
    return "it is not a directory";
  if (status.st_uid != ::geteuid())
    return ("it belongs to user " + Twine(status.st_uid) + ", not to user " + Twine(::geteuid()))
        .str();
  if (status.st_mode & (S_IWGRP | S_IWOTH))
    return "it is writable by others (mode " + octal(status.st_mode & 07777) + ")";
  return "";
}

Expected<CacheDirectory> CacheDirectory::open(StringRef path) {
  SmallString<256> absolute = path;
  if (std::error_code error = sys::fs::make_absolute(absolute))
    return makeError(KILN_ERROR_IO, "cannot find the current directory, which cache directory '" +
                                        path + "' is relative to: " + error.message());
  std::string where = absolute.str().str();
  // The parents get the user's own default mode, the directory itself is private.
  if (std::error_code error = sys::fs::create_directories(sys::path::parent_path(where)))
    return makeError(KILN_ERROR_IO, "cannot make the parents of cache directory '" + where +
                                        "': " + error.message());
  if (::mkdir(where.c_str(), 0700) != 0 && errno != EEXIST)
    return makeError(KILN_ERROR_IO,
                     "cannot make cache directory '" + where + "': " + std::strerror(errno));
  int fd = ::open(where.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) {
    // A dangling or hostile link in the directory's place is not followed into making things.
    KilnErrorCode code =
        errno == ENOTDIR || errno == ELOOP || errno == ENOENT ? KILN_ERROR_REFUSED : KILN_ERROR_IO;
    return makeError(code, "cannot open cache directory '" + where + "': " + std::strerror(errno));
  }
  CacheDirectory directory(fd, where);
  struct stat status;
  if (::fstat(fd, &status) != 0)
    return makeError(KILN_ERROR_IO,
                     "cannot inspect cache directory '" + where + "': " + std::strerror(errno));
  if (std::string why = whyUnsafe(status); !why.empty())
    return makeError(KILN_ERROR_REFUSED,
                     "refused cache directory '" + where + "': " + why +
                         "; expected a directory of your own that only you can write (chmod "
                         "go-w), or set KILN_CACHE_DIR");
  // All that is ours lies one level down, so that a directory given by mistake keeps its files.
  if (::mkdirat(fd, subfolder, 0700) != 0 && errno != EEXIST && errno != EROFS)
    return makeError(KILN_ERROR_IO, "cannot make '" + Twine(subfolder) + "' in cache directory '" +
                                        where + "': " + std::strerror(errno));
  int inner = ::openat(fd, subfolder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (inner < 0 && errno == ENOENT)
    return std::move(directory); // a read-only file system: nothing to read, nothing written
  if (inner < 0 || ::fstat(inner, &status) != 0 || !whyUnsafe(status).empty()) {
    if (inner >= 0)
      ::close(inner);
    return makeError(KILN_ERROR_REFUSED, "refused cache directory '" + where + "': expected '" +
                                             subfolder +
                                             "' in it to be a directory of yours that only you "
                                             "can write");
  }
  ::close(directory.descriptor);
  directory.descriptor = inner;
  return std::move(directory);
}

CacheDirectory::CacheDirectory(CacheDirectory &&other)
    : descriptor(other.descriptor), where(std::move(other.where)) {
  other.descriptor = -1;
}

CacheDirectory::~CacheDirectory() {
  if (descriptor >= 0)
    ::close(descriptor);
}

/// The folder that holds the file, or -1 with errno. A folder that fails the directory's own
/// checks is as one that does not exist.
int CacheDirectory::openShard(StringRef name, bool make) const {
  std::string shard = name.take_front(2).str();
  if (make && ::mkdirat(descriptor, shard.c_str(), 0700) != 0 && errno != EEXIST)
    return -1;
  int fd = ::openat(descriptor, shard.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0)
    return -1;
  struct stat status;
  if (::fstat(fd, &status) != 0 || !whyUnsafe(status).empty()) {
    ::close(fd);
    errno = EACCES;
    return -1;
  }
  return fd;
}

std::optional<std::string> CacheDirectory::read(StringRef name) const {
  Descriptor shard(openShard(name, /*make=*/false));
  if (shard.fd < 0)
    return std::nullopt;
  // O_NONBLOCK: a FIFO in a file's place must not make the reader wait for its writer.
  Descriptor file(
      ::openat(shard.fd, name.str().c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat status;
  if (file.fd < 0 || ::fstat(file.fd, &status) != 0 || !S_ISREG(status.st_mode) ||
      status.st_uid != ::geteuid() || (status.st_mode & (S_IWGRP | S_IWOTH)))
    return std::nullopt;
  std::string bytes(status.st_size, '\0');
  size_t have = 0;
  while (have < bytes.size()) {
    ssize_t got = ::read(file.fd, bytes.data() + have, bytes.size() - have);
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      break;
    have += got;
  }
  bytes.resize(have);
  return bytes;
}

static int writeAll(int fd, StringRef bytes) {
  HoldSizeSignal hold;
  while (!bytes.empty()) {
    ssize_t put = ::write(fd, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR)
      continue;
    if (put < 0)
      return errno;
    bytes = bytes.drop_front(put);
  }
  return 0;
}

int CacheDirectory::write(StringRef name, StringRef bytes) const {
  Descriptor shard(openShard(name, /*make=*/true));
  if (shard.fd < 0)
    return errno;
  static std::atomic<uint64_t> serial{0};
  timespec now;
  ::clock_gettime(CLOCK_REALTIME, &now);
  // Process ids repeat between machines; with the time, names do not.
  std::string temporary = formatv("{0}.{1}.{2}.{3}.tmp", name.take_front(16), ::getpid(),
                                  nanoseconds(now), serial.fetch_add(1))
                              .str();
  int error;
  {
    Descriptor file(::openat(shard.fd, temporary.c_str(),
                             O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (file.fd < 0)
      return errno;
    error = writeAll(file.fd, bytes);
    // Closed by hand: a network file system reports a full disk only here.
    if (::close(file.fd) != 0 && !error)
      error = errno;
    file.fd = -1;
  }
  if (!error && ::renameat(shard.fd, temporary.c_str(), shard.fd, name.str().c_str()) != 0)
    error = errno;
  if (error)
    ::unlinkat(shard.fd, temporary.c_str(), 0);
  return error;
}

int CacheDirectory::create(StringRef name, StringRef bytes) const {
  Descriptor shard(openShard(name, /*make=*/true));
  if (shard.fd < 0)
    return errno;
  Descriptor file(::openat(shard.fd, name.str().c_str(),
                           O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (file.fd < 0)
    return errno;
  return writeAll(file.fd, bytes);
}

int CacheDirectory::remove(StringRef name) const {
  Descriptor shard(openShard(name, /*make=*/false));
  if (shard.fd < 0)
    return errno == ENOENT ? 0 : errno;
  return ::unlinkat(shard.fd, name.str().c_str(), 0) == 0 || errno == ENOENT ? 0 : errno;
}

std::optional<CacheDirectory::File> CacheDirectory::stat(StringRef name) const {
  Descriptor shard(openShard(name, /*make=*/false));
  struct stat status;
  if (shard.fd < 0 || ::fstatat(shard.fd, name.str().c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0)
    return std::nullopt;
  return File{name.str(), uint64_t(status.st_size), nanoseconds(status.st_mtim)};
}

void CacheDirectory::touch(StringRef name) const {
  timespec now;
  ::clock_gettime(CLOCK_REALTIME, &now);
  std::optional<File> file = stat(name);
  if (!file || nanoseconds(now) - file->modified < int64_t(60) * 1000000000)
    return;
  Descriptor shard(openShard(name, /*make=*/false));
  if (shard.fd >= 0)
    ::utimensat(shard.fd, name.str().c_str(), nullptr, AT_SYMLINK_NOFOLLOW);
}

void CacheDirectory::forEach(function_ref<void(const File &)> visit) const {
  for (int i = 0; i < 256; ++i) {
    std::string shard = formatv("{0:x-2}", i).str();
    int fd = openShard(shard, /*make=*/false);
    if (fd < 0)
      continue;
    DIR *listing = ::fdopendir(fd);
    if (!listing) {
      ::close(fd);
      continue;
    }
    while (dirent *entry = ::readdir(listing)) {
      struct stat status;
      StringRef suffix = sys::path::extension(entry->d_name);
      if ((suffix != ".kiln" && suffix != ".lock" && suffix != ".tmp") ||
          ::fstatat(fd, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0 ||
          S_ISDIR(status.st_mode))
        continue;
      visit({entry->d_name, uint64_t(status.st_size), nanoseconds(status.st_mtim)});
    }
    ::closedir(listing);
  }
}
