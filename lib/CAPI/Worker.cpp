// Starting a worker, talking to it, and saying what became of it.
#include "Worker.h"
#include "kiln/Runtime/Error.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace kiln;
using namespace kiln::capi;
using namespace llvm;

static constexpr size_t frameHeader = 9;
static constexpr size_t keptOfStandardError = 4096;

//===- Frames -------------------------------------------------------------------------------===//

std::string frame::encode(char kind, StringRef bytes) {
  std::string frame(frameHeader, kind);
  support::endian::write64le(frame.data() + 1, bytes.size());
  return frame += bytes;
}

bool frame::decode(std::string &stream, char &kind, std::string &bytes) {
  if (stream.size() < frameHeader)
    return false;
  uint64_t size = support::endian::read64le(stream.data() + 1);
  if (stream.size() - frameHeader < size)
    return false;
  kind = stream[0];
  bytes = stream.substr(frameHeader, size);
  stream.erase(0, frameHeader + size);
  return true;
}

json::Object capi::toJSON(const Diagnostic &diagnostic) {
  return json::Object{{"severity", int(diagnostic.severity)},
                      {"file", json::fixUTF8(diagnostic.file)},
                      {"line", diagnostic.line},
                      {"column", diagnostic.column},
                      {"text", json::fixUTF8(diagnostic.text)}};
}

Diagnostic capi::diagnosticFromJSON(const json::Object &object) {
  Diagnostic result;
  result.severity = Severity(std::clamp<int64_t>(object.getInteger("severity").value_or(0), 0, 3));
  result.file = object.getString("file").value_or("").str();
  result.line = object.getInteger("line").value_or(0);
  result.column = object.getInteger("column").value_or(0);
  result.text = object.getString("text").value_or("").str();
  return result;
}

//===- The process --------------------------------------------------------------------------===//

/// The program asked for, or the one that was installed with this library.
static std::string findProgram(const char *asked) {
  if (asked && *asked)
    return asked;
  if (const char *set = std::getenv("KILN_WORKER"); set && *set)
    return set;
  Dl_info info;
  SmallString<256> library;
  if (::dladdr(reinterpret_cast<void *>(&kilnCompile), &info) && info.dli_fname)
    library = info.dli_fname;
  sys::fs::make_absolute(library);
  StringRef directory = sys::path::parent_path(library);
  for (const char *place : {"kiln-worker", "../bin/kiln-worker", "bin/kiln-worker"}) {
    SmallString<256> path = directory;
    sys::path::append(path, place);
    if (sys::fs::can_execute(path))
      return path.str().str();
  }
  return (directory + "/kiln-worker").str();
}

namespace {
struct Descriptor {
  int fd = -1;
  ~Descriptor() { reset(); }
  void reset() {
    if (fd >= 0)
      ::close(fd);
    fd = -1;
  }
};

/// A worker and the two ends that we hold: the socket, and a pipe with its standard error.
class Process {
public:
  Error start(const std::string &program);
  ~Process() {
    if (pid > 0) {
      kill();
      wait();
    }
  }
  /// With all that it may have started: it leads a group.
  void kill() { ::kill(-pid, SIGKILL); }
  /// The wait status; -1 if someone else in this process took it.
  int wait() {
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
  Descriptor socket, errors;

private:
  pid_t pid = -1;
};
} // namespace

Error Process::start(const std::string &program) {
  auto fail = [&](int error) {
    return makeError(KILN_ERROR_WORKER,
                     "cannot start the compile worker '" + program + "': " + std::strerror(error));
  };
  int pair[2], pipe[2];
  Descriptor theirSocket, theirErrors;
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
    return fail(errno);
  socket.fd = pair[0];
  theirSocket.fd = pair[1];
  if (::pipe2(pipe, O_CLOEXEC) != 0)
    return fail(errno);
  errors.fd = pipe[0];
  theirErrors.fd = pipe[1];
  ::fcntl(socket.fd, F_SETFL, O_NONBLOCK);
  ::fcntl(errors.fd, F_SETFL, O_NONBLOCK);

  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, theirErrors.fd, 2);
  // Last, because it overwrites 0, where neither of the two can be now.
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
  int error = ::posix_spawn(&pid, program.c_str(), &actions, &attributes, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (error) {
    pid = -1;
    return fail(error);
  }
  return Error::success();
}

/// Appends what can be read now; false at the end of the stream.
static bool drain(Descriptor &from, std::string &into) {
  char chunk[65536];
  while (true) {
    ssize_t got = ::read(from.fd, chunk, sizeof(chunk));
    if (got > 0) {
      into.append(chunk, got);
      continue;
    }
    if (got < 0 && errno == EINTR)
      continue;
    return got < 0 && errno == EAGAIN;
  }
}

/// What became of a worker that gave no answer.
static Error explain(StringRef kernel, int status, StringRef said, bool ranOver, unsigned seconds) {
  std::string what;
  if (ranOver || (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU))
    what = "ran over its limit of " + std::to_string(seconds) + " seconds";
  else if (status >= 0 && WIFSIGNALED(status))
    what = "was ended by signal " + std::to_string(WTERMSIG(status)) + " (" +
           ::strsignal(WTERMSIG(status)) + ")";
  else if (status >= 0 && WIFEXITED(status))
    what = "exited with status " + std::to_string(WEXITSTATUS(status)) + " without an answer";
  else
    what = "ended without an answer";
  said = said.trim();
  return makeError(KILN_ERROR_WORKER, "kernel '" + kernel + "': the compile worker " + what +
                                          (said.empty() ? "" : "; it said: " + said.str()));
}

Expected<Artifact> capi::compileInWorker(const CompileRequest &request,
                                         const KilnCompileRequest &limits,
                                         DiagnosticHandler handler) {
  StringRef kernel = request.kernel.empty() ? StringRef(request.sourceName) : request.kernel;
  Process process;
  if (Error error = process.start(findProgram(limits.worker_program)))
    return std::move(error);

  std::string header;
  raw_string_ostream(header) << json::Value(
      json::Object{{"source_name", json::fixUTF8(request.sourceName)},
                   {"kernel", json::fixUTF8(request.kernel)},
                   {"target", json::fixUTF8(request.target)},
                   {"keep_stages", json::Array(request.keepStages)},
                   {"opt_level", request.optLevel},
                   {"fast_math", request.fastMath},
                   {"options", json::fixUTF8(request.options)},
                   {"memory_bytes", limits.worker_memory_bytes},
                   {"seconds", limits.worker_seconds}});
  std::string outgoing =
      frame::encode(frame::request, header) + frame::encode(frame::source, request.source);
  std::string incoming, said;
  size_t sent = 0;
  auto end =
      std::chrono::steady_clock::now() + std::chrono::seconds(2 * uint64_t(limits.worker_seconds));
  std::optional<Artifact> artifact;
  Error answer = Error::success();
  bool answered = false, ranOver = false;
  while (!answered) {
    if (limits.cancelled && limits.cancelled(limits.user_data)) {
      consumeError(std::move(answer));
      return makeError(KILN_ERROR_CANCELLED, "kernel '" + kernel + "': the compile was cancelled");
    }
    if (std::chrono::steady_clock::now() >= end) {
      ranOver = true;
      process.kill();
      break;
    }
    pollfd ends[] = {{process.socket.fd, short(POLLIN | (sent < outgoing.size() ? POLLOUT : 0)), 0},
                     {process.errors.fd, POLLIN, 0}};
    ::poll(ends, 2, 50);
    if (sent < outgoing.size() && (ends[0].revents & POLLOUT)) {
      ssize_t put =
          ::send(process.socket.fd, outgoing.data() + sent, outgoing.size() - sent, MSG_NOSIGNAL);
      if (put > 0)
        sent += put;
      if (sent == outgoing.size())
        ::shutdown(process.socket.fd, SHUT_WR);
    }
    if ((ends[1].revents & (POLLIN | POLLHUP)) && !drain(process.errors, said))
      process.errors.reset();
    if (said.size() > 2 * keptOfStandardError)
      said.erase(0, said.size() - keptOfStandardError);
    bool open = true;
    if (ends[0].revents & (POLLIN | POLLHUP | POLLERR))
      open = drain(process.socket, incoming);
    char kind;
    std::string bytes;
    while (!answered && frame::decode(incoming, kind, bytes)) {
      if (kind == frame::artifact) {
        Expected<Artifact> made = Artifact::deserialize(std::move(bytes));
        if (made)
          artifact = std::move(*made);
        else
          answer = joinErrors(std::move(answer), made.takeError());
        answered = true;
        continue;
      }
      Expected<json::Value> value = json::parse(bytes);
      if (!value || !value->getAsObject()) {
        consumeError(value.takeError());
        continue;
      }
      const json::Object &object = *value->getAsObject();
      if (kind == frame::diagnostic)
        handler(diagnosticFromJSON(object));
      if (kind == frame::error) {
        answer = makeError(KilnErrorCode(object.getInteger("code").value_or(KILN_ERROR_INTERNAL)),
                           object.getString("message").value_or(""));
        answered = true;
      }
    }
    if (!open)
      break;
  }
  if (answered) {
    if (answer)
      return std::move(answer);
    return *artifact;
  }
  consumeError(std::move(answer));
  int status = process.wait();
  if (process.errors.fd >= 0)
    drain(process.errors, said);
  return explain(kernel, status, StringRef(said).take_back(keptOfStandardError), ranOver,
                 limits.worker_seconds);
}
