// Starting a worker, talking to it, and saying what became of it.
#include "WorkerProcess.h"
#include "kiln/Runtime/Error.h"
#include "kiln/Support/ParseJSON.h"
#include "llvm/Support/Endian.h"
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace kiln;
using namespace kiln::capi;
using namespace llvm;

static constexpr size_t frameHeader = 9;
static constexpr size_t keptOfStandardError = 4096;
// A code object with all its stages' text is far smaller than this.
static constexpr size_t mostAnswered = size_t(1) << 30;

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

/// Appends what can be read now, until there is more than `most`; false at the end of the stream.
static bool drain(Descriptor &from, std::string &into, size_t most = SIZE_MAX) {
  char chunk[65536];
  while (into.size() <= most) {
    ssize_t got = ::read(from.fd, chunk, sizeof(chunk));
    if (got > 0) {
      into.append(chunk, got);
      continue;
    }
    if (got < 0 && errno == EINTR)
      continue;
    return got < 0 && errno == EAGAIN;
  }
  return true;
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

/// One request put to a worker, and what came of it.
namespace {
class Conversation {
public:
  enum class End { Answered, Cancelled, RanOver, Died };

  Conversation(WorkerProcess &process, const CompileRequest &request,
               const KilnCompileRequest &limits, StringRef kernel, DiagnosticHandler handler)
      : process(process), request(request), limits(limits), kernel(kernel), handler(handler) {}

  /// Sends, listens and waits.
  End hold();
  /// The artifact, or the error that says why there is none. Called once.
  Expected<Artifact> result(End end);
  /// Whether the worker said anything: if not, it may have left before it saw the request.
  bool heard() const { return hasHeard; }

private:
  bool isKept() const { return limits.isolation == KILN_ISOLATION_KEPT_WORKER; }
  std::string encode() const;
  /// Takes the frames that have arrived; true after the last.
  bool listen();

  WorkerProcess &process;
  const CompileRequest &request;
  const KilnCompileRequest &limits;
  StringRef kernel;
  DiagnosticHandler handler;
  std::string incoming, said;
  bool hasHeard = false;
  std::optional<Artifact> artifact;
  std::optional<std::pair<KilnErrorCode, std::string>> error;
};
} // namespace

std::string Conversation::encode() const {
  std::string header;
  raw_string_ostream(header) << json::Value(
      json::Object{{"source_name", json::fixUTF8(request.sourceName)},
                   {"kernel", json::fixUTF8(request.kernel)},
                   {"target", json::fixUTF8(request.target)},
                   {"keep_stages", json::Array(request.keepStages)},
                   {"opt_level", request.optLevel},
                   {"fast_math", request.fastMath},
                   {"vendor_math", request.vendorMath},
                   {"options", json::fixUTF8(request.options)},
                   {"max_depth", request.maxDepth},
                   {"memory_bytes", limits.worker_memory_bytes},
                   {"seconds", limits.worker_seconds},
                   {"stay", isKept()}});
  return frame::encode(frame::request, header) + frame::encode(frame::source, request.source);
}

bool Conversation::listen() {
  char kind;
  std::string bytes;
  while (frame::decode(incoming, kind, bytes)) {
    if (kind == frame::artifact) {
      Expected<Artifact> made = Artifact::deserialize(std::move(bytes));
      if (made)
        artifact = std::move(*made);
      else
        error = {KILN_ERROR_WORKER, toString(made.takeError())};
      return true;
    }
    Expected<json::Value> value = parseJSON(bytes);
    if (!value || !value->getAsObject()) {
      consumeError(value.takeError());
      continue;
    }
    const json::Object &object = *value->getAsObject();
    // One that says nothing tells nobody anything.
    if (kind == frame::diagnostic && !object.getString("text").value_or("").empty())
      handler(diagnosticFromJSON(object));
    if (kind == frame::error) {
      int64_t code = object.getInteger("code").value_or(0);
      bool isKnown = code > KILN_OK && code <= KILN_ERROR_TIMEOUT;
      StringRef message = object.getString("message").value_or("");
      error = {isKnown ? KilnErrorCode(code) : KILN_ERROR_INTERNAL,
               message.empty()
                   ? ("kernel '" + kernel + "': the compile worker gave no reason").str()
                   : message.str()};
      return true;
    }
  }
  return false;
}

Conversation::End Conversation::hold() {
  std::string outgoing = encode();
  size_t sent = 0;
  auto end =
      std::chrono::steady_clock::now() + std::chrono::seconds(2 * uint64_t(limits.worker_seconds));
  while (true) {
    if (limits.cancelled && limits.cancelled(limits.user_data))
      return End::Cancelled;
    if (std::chrono::steady_clock::now() >= end)
      return End::RanOver;
    pollfd ends[] = {{process.socket.fd, short(POLLIN | (sent < outgoing.size() ? POLLOUT : 0)), 0},
                     {process.errors.fd, POLLIN, 0}};
    ::poll(ends, 2, 50);
    if (sent < outgoing.size() && (ends[0].revents & POLLOUT)) {
      ssize_t put =
          ::send(process.socket.fd, outgoing.data() + sent, outgoing.size() - sent, MSG_NOSIGNAL);
      if (put > 0)
        sent += put;
      if (sent == outgoing.size() && !isKept())
        ::shutdown(process.socket.fd, SHUT_WR);
    }
    if ((ends[1].revents & (POLLIN | POLLHUP)) && !drain(process.errors, said))
      process.errors.reset();
    if (said.size() > 2 * keptOfStandardError)
      said.erase(0, said.size() - keptOfStandardError);
    bool open = true;
    if (ends[0].revents & (POLLIN | POLLHUP | POLLERR))
      open = drain(process.socket, incoming, mostAnswered);
    if (incoming.size() > mostAnswered) {
      process.kill();
      error = {KILN_ERROR_WORKER, ("kernel '" + kernel + "': the compile worker sent more than " +
                                   Twine(mostAnswered) + " bytes as one answer")
                                      .str()};
      return End::Answered;
    }
    hasHeard |= !incoming.empty();
    if (listen())
      return End::Answered;
    if (!open)
      return End::Died;
  }
}

Expected<Artifact> Conversation::result(End end) {
  if (end == End::Cancelled)
    return makeError(KILN_ERROR_CANCELLED, "kernel '" + kernel + "': the compile was cancelled");
  if (end == End::Answered) {
    if (error)
      return makeError(error->first, error->second);
    return std::move(*artifact);
  }
  if (end == End::RanOver)
    process.kill();
  int status = process.wait();
  if (process.errors.fd >= 0)
    drain(process.errors, said);
  return explain(kernel, status, StringRef(said).take_back(keptOfStandardError),
                 end == End::RanOver, limits.worker_seconds);
}

Expected<Artifact> capi::compileInWorker(const CompileRequest &request,
                                         const KilnCompileRequest &limits,
                                         DiagnosticHandler handler) {
  StringRef kernel = request.kernel.empty() ? StringRef(request.sourceName) : request.kernel;
  bool isKept = limits.isolation == KILN_ISOLATION_KEPT_WORKER;
  std::string program = findWorkerProgram(limits.worker_program), identity;
#ifdef KILN_HAS_COMPILER
  if (isKept)
    identity = targetIdentity(request.target);
#endif
  while (true) {
    auto started = isKept ? WorkerPool::take(program, identity) : WorkerProcess::start(program);
    if (!started && isKept) {
      // What is trusted compiles here as well, where no process can be started.
      consumeError(started.takeError());
      return compileHere(request, handler);
    }
    if (!started)
      return started.takeError();
    std::unique_ptr<WorkerProcess> process = std::move(*started);
    Conversation conversation(*process, request, limits, kernel, handler);
    Conversation::End end = conversation.hold();
    if (end == Conversation::End::Died && process->used && !conversation.heard())
      continue; // it had left: the next is a fresh one in the end
    Expected<Artifact> result = conversation.result(end);
    if (end == Conversation::End::Answered && isKept)
      WorkerPool::giveBack(program, identity, std::move(process));
    return result;
  }
}
