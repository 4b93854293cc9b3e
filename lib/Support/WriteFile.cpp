// Every call that can report a full disk is looked at: write, fsync and close.
#include "kiln/Support/WriteFile.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace llvm;

static std::error_code lastError() { return std::error_code(errno, std::generic_category()); }

static std::error_code writeAll(int file, StringRef bytes) {
  while (!bytes.empty()) {
    ssize_t put = ::write(file, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR)
      continue;
    if (put < 0)
      return lastError();
    bytes = bytes.drop_front(put);
  }
  return {};
}

/// Writes what is there and is no regular file; its contents cannot be exchanged.
static std::error_code writeThrough(const std::string &path, StringRef bytes) {
  int file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (file < 0)
    return lastError();
  std::error_code error = writeAll(file, bytes);
  if (::close(file) != 0 && !error)
    error = lastError();
  return error;
}

/// What a new file may be read by, as the shell that started the process says.
static mode_t newFileMode() {
  mode_t mask = ::umask(0);
  ::umask(mask);
  return 0666 & ~mask;
}

std::error_code kiln::writeFile(StringRef path, StringRef bytes) {
  ::signal(SIGXFSZ, SIG_IGN);
  if (path == "-")
    return writeAll(STDOUT_FILENO, bytes);

  // What a symbolic link leads to is replaced, and the link stays.
  SmallString<256> real;
  std::string target = sys::fs::real_path(path, real) ? path.str() : std::string(real);
  struct stat before;
  bool exists = ::stat(target.c_str(), &before) == 0;
  if (exists && !S_ISREG(before.st_mode))
    return writeThrough(target, bytes);
  if (exists && ::access(target.c_str(), W_OK) != 0)
    return lastError();

  std::string temporary = target + ".XXXXXX";
  int file = ::mkostemp(temporary.data(), O_CLOEXEC);
  if (file < 0)
    return lastError();
  std::error_code error = writeAll(file, bytes);
  if (!error && ::fchmod(file, exists ? before.st_mode & 07777 : newFileMode()) != 0)
    error = lastError();
  if (!error && ::fsync(file) != 0)
    error = lastError();
  if (::close(file) != 0 && !error)
    error = lastError();
  if (!error && ::rename(temporary.c_str(), target.c_str()) != 0)
    error = lastError();
  if (error)
    ::unlink(temporary.c_str());
  return error;
}
