// The worker's side: limits first, then the compile, and the next one if it is to stay.
#include "Worker.h"
#include "kiln/Runtime/Error.h"
#include "kiln/Support/ParseJSON.h"
#include <cerrno>
#include <csignal>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

using namespace kiln;
using namespace kiln::capi;
using namespace llvm;

/// Exit statuses beside 0, an answer was given.
static constexpr int32_t badRequest = 2, lostParent = 3;
static constexpr int idleMilliseconds = 60000;

static bool receive(int socket, std::string &stream, char wanted, std::string &bytes) {
  char kind;
  while (!frame::decode(stream, kind, bytes)) {
    char chunk[65536];
    ssize_t got = ::recv(socket, chunk, sizeof(chunk), 0);
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      return false;
    stream.append(chunk, got);
  }
  return kind == wanted;
}

static bool send(int socket, char kind, StringRef bytes) {
  std::string all = frame::encode(kind, bytes);
  StringRef rest = all;
  while (!rest.empty()) {
    ssize_t put = ::send(socket, rest.data(), rest.size(), MSG_NOSIGNAL);
    if (put < 0 && errno == EINTR)
      continue;
    if (put < 0)
      return false;
    rest = rest.drop_front(put);
  }
  return true;
}

static bool sendJSON(int socket, char kind, json::Value value) {
  std::string text;
  raw_string_ostream(text) << value;
  return send(socket, kind, text);
}

/// Lowers a limit for good, or the part of it that can be raised again for the next compile.
static void limit(int resource, uint64_t value, bool forGood) {
  rlimit current;
  if (::getrlimit(resource, &current) != 0)
    return;
  rlimit wanted{std::min<rlim_t>(value, current.rlim_max), current.rlim_max};
  if (forGood)
    wanted.rlim_max = wanted.rlim_cur;
  ::setrlimit(resource, &wanted);
}

static void setLimits(uint64_t memory, uint64_t seconds, bool forGood) {
  if (memory)
    limit(RLIMIT_AS, memory, forGood);
  rusage used;
  if (seconds && ::getrusage(RUSAGE_SELF, &used) == 0)
    limit(RLIMIT_CPU, seconds + used.ru_utime.tv_sec + used.ru_stime.tv_sec, forGood);
  limit(RLIMIT_CORE, 0, true);
  // Linkers go through temporary files; a code object is far smaller than this.
  limit(RLIMIT_FSIZE, uint64_t(1) << 28, true);
  // The first thread's stack grows up to this: what is nested as deep as is allowed needs more
  // than the usual 8 MiB.
  limit(RLIMIT_STACK, uint64_t(64) << 20, false);
}

/// Ends this process when the one that asks is gone: in the middle of a compile, too.
static void leaveWithParent(int socket) {
  std::thread([socket] {
    pollfd end{socket, POLLRDHUP, 0};
    while (::poll(&end, 1, -1) < 0 || !end.revents)
      ;
    ::_exit(lostParent);
  }).detach();
}

static bool waitForRequest(int socket) {
  pollfd end{socket, POLLIN, 0};
  return ::poll(&end, 1, idleMilliseconds) > 0;
}

/// Compiles one source and answers; false if nobody listens any more.
static bool serve(int socket, const json::Object &fields, StringRef source) {
  auto text = [&](const char *name) { return fields.getString(name).value_or("").str(); };
  CompileRequest request;
  request.source = source;
  request.sourceName = text("source_name");
  request.kernel = text("kernel");
  request.target = text("target");
  request.options = text("options");
  request.optLevel = fields.getInteger("opt_level").value_or(3);
  request.fastMath = fields.getBoolean("fast_math").value_or(false);
  request.vendorMath = fields.getBoolean("vendor_math").value_or(false);
  request.maxDepth = fields.getInteger("max_depth").value_or(kMaxSourceDepth);
  if (const json::Array *stages = fields.getArray("keep_stages"))
    for (const json::Value &stage : *stages)
      request.keepStages.push_back(stage.getAsString().value_or("").str());

  auto sink = [&](const Diagnostic &diagnostic) {
    if (!sendJSON(socket, frame::diagnostic, toJSON(diagnostic)))
      ::_exit(lostParent);
  };
  Expected<Artifact> artifact = compileHere(request, sink);
  if (artifact)
    return send(socket, frame::artifact, artifact->serialized());
  std::unique_ptr<KilnError, void (*)(KilnError *)> error(
      report(artifact.takeError(), KILN_ERROR_COMPILE), kilnErrorDestroy);
  json::Object object{{"code", int(error->code)}, {"message", json::fixUTF8(error->message)}};
  return sendJSON(socket, frame::error, std::move(object));
}

int32_t kilnWorkerMain(int32_t socket) {
  // Nobody waits for the answer of an orphan.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::string stream;
  for (bool first = true;; first = false) {
    std::string header, source;
    if (!first && !waitForRequest(socket))
      return 0;
    if (!receive(socket, stream, frame::request, header))
      return first ? badRequest : 0;
    Expected<json::Value> parsed = parseJSON(header);
    if (!parsed || !parsed->getAsObject()) {
      consumeError(parsed.takeError());
      return badRequest;
    }
    const json::Object &fields = *parsed->getAsObject();
    bool stays = fields.getBoolean("stay").value_or(false);
    if (first && stays) {
      // The signal would come when the thread that started this process ends.
      ::prctl(PR_SET_PDEATHSIG, 0);
      leaveWithParent(socket);
    }
    setLimits(fields.getInteger("memory_bytes").value_or(0),
              fields.getInteger("seconds").value_or(0), !stays);
    if (!receive(socket, stream, frame::source, source))
      return badRequest;
    if (!serve(socket, fields, source))
      return lostParent;
    if (!stays)
      return 0;
  }
}
