// The worker's side: limits first, then the compile.
#include "Worker.h"
#include "kiln/Runtime/Error.h"
#include <cerrno>
#include <csignal>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

using namespace kiln;
using namespace kiln::capi;
using namespace llvm;

/// Exit statuses beside 0, an answer was given.
static constexpr int32_t badRequest = 2, lostParent = 3;

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

static void limit(int resource, uint64_t soft, uint64_t hard) {
  rlimit current;
  if (::getrlimit(resource, &current) != 0)
    return;
  rlimit wanted{std::min<rlim_t>(soft, current.rlim_max), std::min<rlim_t>(hard, current.rlim_max)};
  ::setrlimit(resource, &wanted);
}

int32_t kilnWorkerMain(int32_t socket) {
  // Nobody waits for the answer of an orphan.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::string stream, header, source;
  if (!receive(socket, stream, frame::request, header))
    return badRequest;
  Expected<json::Value> parsed = json::parse(header);
  if (!parsed || !parsed->getAsObject()) {
    consumeError(parsed.takeError());
    return badRequest;
  }
  const json::Object &fields = *parsed->getAsObject();
  uint64_t memory = fields.getInteger("memory_bytes").value_or(0);
  uint64_t seconds = fields.getInteger("seconds").value_or(0);
  if (memory)
    limit(RLIMIT_AS, memory, memory);
  if (seconds)
    limit(RLIMIT_CPU, seconds, seconds + 5);
  limit(RLIMIT_CORE, 0, 0);
  // Linkers go through temporary files; a code object is far smaller than this.
  limit(RLIMIT_FSIZE, uint64_t(1) << 28, uint64_t(1) << 28);
  if (!receive(socket, stream, frame::source, source))
    return badRequest;

  auto text = [&](const char *name) { return fields.getString(name).value_or("").str(); };
  CompileRequest request;
  request.source = source;
  request.sourceName = text("source_name");
  request.kernel = text("kernel");
  request.target = text("target");
  request.options = text("options");
  request.optLevel = fields.getInteger("opt_level").value_or(3);
  request.fastMath = fields.getBoolean("fast_math").value_or(false);
  if (const json::Array *stages = fields.getArray("keep_stages"))
    for (const json::Value &stage : *stages)
      request.keepStages.push_back(stage.getAsString().value_or("").str());

  auto sink = [&](const Diagnostic &diagnostic) {
    if (!sendJSON(socket, frame::diagnostic, toJSON(diagnostic)))
      ::_exit(lostParent);
  };
  Expected<Artifact> artifact = compileHere(request, sink);
  if (artifact)
    return send(socket, frame::artifact, artifact->serialized()) ? 0 : lostParent;
  std::unique_ptr<KilnError, void (*)(KilnError *)> error(
      report(artifact.takeError(), KILN_ERROR_COMPILE), kilnErrorDestroy);
  json::Object object{{"code", int(error->code)}, {"message", json::fixUTF8(error->message)}};
  return sendJSON(socket, frame::error, std::move(object)) ? 0 : lostParent;
}
