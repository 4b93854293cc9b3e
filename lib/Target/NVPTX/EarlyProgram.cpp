// EarlyProgram.h: a process whose standard input is a pipe, and a file for what it makes.
#include "EarlyProgram.h"
#include "kiln/Support/Descriptors.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include <csignal>
#include <fcntl.h>
#include <mutex>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;
using namespace kiln::nvptx;

static constexpr int kMostMilliseconds = 600'000;

namespace {
/// The ends of the pipes that programs wait at. A child that the process forks meanwhile, for work
/// of its own, closes them: a program reads until nobody holds the end.
class OpenEnds {
public:
  static OpenEnds &get() {
    static OpenEnds *all = new OpenEnds;
    return *all;
  }
  /// The end to read of a new pipe, and the one to write; false if there can be none.
  bool open(int &read, int &write) {
    std::lock_guard<std::mutex> lock(mutex);
    int both[2];
    if (pipe2(both, O_CLOEXEC))
      return false;
    read = kiln::aboveStandard(both[0]);
    write = kiln::aboveStandard(both[1]);
    if (read >= 0 && write >= 0) {
      ends.push_back(write);
      return true;
    }
    for (int end : {read, write})
      if (end >= 0)
        ::close(end);
    return false;
  }
  void close(int end) {
    std::lock_guard<std::mutex> lock(mutex);
    erase(ends, end);
    ::close(end);
  }

private:
  OpenEnds() {
    pthread_atfork([] { get().mutex.lock(); }, [] { get().mutex.unlock(); },
                   [] {
                     for (int end : get().ends)
                       ::close(end);
                     get().ends.clear();
                     get().mutex.unlock();
                   });
  }
  std::mutex mutex;
  SmallVector<int> ends;
};
} // namespace

EarlyProgram::EarlyProgram(StringRef path, StringRef arch) : program(path.str()) {
  int read;
  if (sys::fs::createTemporaryFile("kiln", "cubin", output) ||
      sys::fs::createTemporaryFile("kiln", "txt", told) || !OpenEnds::get().open(read, input))
    return;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, read, STDIN_FILENO);
  for (int stream : {STDOUT_FILENO, STDERR_FILENO})
    posix_spawn_file_actions_addopen(&actions, stream, told.c_str(), O_WRONLY | O_APPEND, 0);
  std::string chip = ("-arch=" + arch).str();
  const char *arguments[] = {program.c_str(), chip.c_str(), "-lineinfo",    "-v",
                             "/dev/stdin",    "-o",         output.c_str(), nullptr};
  if (posix_spawn(&process, program.c_str(), &actions, nullptr,
                  const_cast<char *const *>(arguments), environ))
    process = 0;
  posix_spawn_file_actions_destroy(&actions);
  close(read);
}

void EarlyProgram::closeInput() {
  if (input >= 0)
    OpenEnds::get().close(input);
  input = -1;
}

EarlyProgram::~EarlyProgram() {
  closeInput();
  if (process) {
    kill(process, SIGKILL);
    waitpid(process, nullptr, 0);
  }
  for (StringRef file : {output.str(), told.str()})
    if (!file.empty())
      (void)sys::fs::remove(file);
}

/// The signal of a pipe that nobody reads is this thread's: it is kept back, and taken away again.
bool EarlyProgram::write(StringRef text) {
  sigset_t broken, before, pending;
  sigemptyset(&broken);
  sigaddset(&broken, SIGPIPE);
  sigpending(&pending);
  bool isPending = sigismember(&pending, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &broken, &before);
  while (!text.empty()) {
    ssize_t count = ::write(input, text.data(), text.size());
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      break;
    text = text.drop_front(count);
  }
  timespec none = {};
  if (!text.empty() && !isPending)
    while (sigtimedwait(&broken, nullptr, &none) < 0 && errno == EINTR)
      ;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  closeInput();
  return text.empty();
}

bool EarlyProgram::wait() {
  // A kernel older than 5.3 has no such thing, and waits for as long as it takes.
  if (int handle = syscall(SYS_pidfd_open, process, 0); handle >= 0) {
    pollfd ended = {handle, POLLIN, 0};
    int ready;
    while ((ready = poll(&ended, 1, kMostMilliseconds)) < 0 && errno == EINTR)
      ;
    close(handle);
    if (ready <= 0)
      return false; // and it is killed
  }
  int status = 0;
  pid_t found;
  while ((found = waitpid(process, &status, 0)) < 0 && errno == EINTR)
    ;
  process = 0;
  return found > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static std::string contentsOf(StringRef file) {
  auto buffer = MemoryBuffer::getFile(file, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  return buffer ? (*buffer)->getBuffer().str() : "";
}

std::optional<std::string> EarlyProgram::assemble(StringRef path, StringRef ptx,
                                                  std::string &account) {
  if (path != program || !process || input < 0 || !write(ptx) || !wait())
    return std::nullopt;
  std::string cubin = contentsOf(output);
  if (cubin.empty())
    return std::nullopt;
  account = contentsOf(told);
  return cubin;
}
