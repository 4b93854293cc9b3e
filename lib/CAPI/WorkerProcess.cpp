// Starting, keeping and ending the processes that compile.
#include "WorkerProcess.h"
#include "kiln/Runtime/Error.h"
#include "kiln/Support/Descriptors.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <mutex>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace kiln;
using namespace kiln::capi;
using namespace llvm;

std::string capi::findWorkerProgram(const char *asked) {
  if (asked && *asked)
    return asked;
  if (const char *set = std::getenv("KILN_WORKER"); set && *set)
    return set;
  Dl_info info;
  SmallString<256> library;
  if (::dladdr(reinterpret_cast<void *>(&kilnCompile), &info) && info.dli_fname)
    library = info.dli_fname;
  (void)sys::fs::make_absolute(library);
  StringRef directory = sys::path::parent_path(library);
  for (const char *place : {"kiln-worker", "../bin/kiln-worker", "bin/kiln-worker"}) {
    SmallString<256> path = directory;
    sys::path::append(path, place);
    if (sys::fs::can_execute(path))
      return path.str().str();
  }
  return (directory + "/kiln-worker").str();
}

//===- One process ----------------------------------------------------------------------------===//

void Descriptor::reset() {
  if (fd >= 0)
    ::close(fd);
  fd = -1;
}

WorkerProcess::~WorkerProcess() {
  if (pid > 0) {
    kill();
    wait();
  }
}

void WorkerProcess::kill() { ::kill(-pid, SIGKILL); }

int WorkerProcess::wait() {
  int status = -1;
  while (::waitpid(pid, &status, 0) < 0) {
    if (errno == EINTR)
      continue;
    status = -1;
    break;
  }
  pid = -1;
  return status;
}

Expected<std::unique_ptr<WorkerProcess>> WorkerProcess::start(const std::string &program) {
  auto fail = [&](int error) {
    return makeError(KILN_ERROR_WORKER,
                     "cannot start the compile worker '" + program + "': " + std::strerror(error));
  };
  std::unique_ptr<WorkerProcess> worker(new WorkerProcess);
  int pair[2], pipe[2];
  Descriptor theirSocket, theirErrors;
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
    return fail(errno);
  worker->socket.fd = aboveStandard(pair[0]);
  theirSocket.fd = aboveStandard(pair[1]);
  if (::pipe2(pipe, O_CLOEXEC) != 0)
    return fail(errno);
  worker->errors.fd = aboveStandard(pipe[0]);
  theirErrors.fd = aboveStandard(pipe[1]);
  for (int fd : {worker->socket.fd, theirSocket.fd, worker->errors.fd, theirErrors.fd})
    if (fd < 0)
      return fail(EMFILE);
  ::fcntl(worker->socket.fd, F_SETFL, O_NONBLOCK);
  ::fcntl(worker->errors.fd, F_SETFL, O_NONBLOCK);

  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, theirErrors.fd, 2);
  posix_spawn_file_actions_adddup2(&actions, theirSocket.fd, 0);
  sigset_t none, defaults;
  sigemptyset(&none);
  sigfillset(&defaults);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  // A group of its own: Ctrl-C is for this process, which then decides.
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  char *arguments[] = {const_cast<char *>(program.c_str()), nullptr};
  int error =
      ::posix_spawn(&worker->pid, program.c_str(), &actions, &attributes, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (error) {
    worker->pid = -1;
    return fail(error);
  }
  return std::move(worker);
}

//===- Those that are kept --------------------------------------------------------------------===//

namespace {
struct Kept {
  std::string key;
  std::unique_ptr<WorkerProcess> worker;
};

/// A process's own. A forked child starts with none: its parent's answer to its parent, and the
/// mutex may have been held at the fork.
struct Pool {
  static constexpr size_t capacity = 2;
  pid_t owner = ::getpid();
  std::mutex mutex;
  std::vector<Kept> idle;

  static Pool &get() {
    static std::atomic<Pool *> current{nullptr};
    Pool *pool = current.load();
    while (!pool || pool->owner != ::getpid()) {
      auto *made = new Pool; // never freed: threads may compile until the process ends
      if (current.compare_exchange_strong(pool, made))
        return *made;
      delete made;
    }
    return *pool;
  }
};
} // namespace

/// What a worker inherits and a later compile might rely on.
static std::string keyOf(const std::string &program, const std::string &identity) {
  SmallString<256> folder;
  (void)sys::fs::current_path(folder);
  return program + '\0' + folder.str().str() + '\0' + identity;
}

Expected<std::unique_ptr<WorkerProcess>> WorkerPool::take(const std::string &program,
                                                          const std::string &identity) {
  Pool &pool = Pool::get();
  std::string key = keyOf(program, identity);
  {
    std::lock_guard<std::mutex> lock(pool.mutex);
    for (auto it = pool.idle.begin(); it != pool.idle.end(); ++it)
      if (it->key == key) {
        std::unique_ptr<WorkerProcess> worker = std::move(it->worker);
        pool.idle.erase(it);
        return std::move(worker);
      }
  }
  return WorkerProcess::start(program);
}

void WorkerPool::giveBack(const std::string &program, const std::string &identity,
                          std::unique_ptr<WorkerProcess> worker) {
  Pool &pool = Pool::get();
  worker->used = true;
  Kept kept{keyOf(program, identity), std::move(worker)}, oldest;
  std::lock_guard<std::mutex> lock(pool.mutex);
  if (pool.idle.size() == Pool::capacity) {
    oldest = std::move(pool.idle.front());
    pool.idle.erase(pool.idle.begin());
  }
  pool.idle.push_back(std::move(kept));
}
