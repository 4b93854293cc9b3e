// Compiling: requests, artifacts, keys.
//
// A compile runs on a thread of its own that touches no Python object, while the thread that
// asked looks for signals. Ctrl-C ends the wait, and the compile if it is in a worker; one in this
// process finishes behind the scenes and its artifact is in the cache for the next call. A process
// that exits before that does so without running the destructors of LLVM, which the thread would
// not survive.
#include "GIL.h"
#include "Objects.h"
#include "kiln-c/Layout.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <nanobind/stl/vector.h>
#include <pthread.h>
#include <unistd.h>
#include <vector>

using namespace kiln::python;

namespace {

struct Message {
  int severity, parent;
  std::string file;
  unsigned line, column;
  std::string text;
};

/// A request with everything that it points to.
struct Request {
  std::string source, sourceName, kernel, target, options;
  std::vector<std::string> stages;
  std::vector<const char *> stagePointers;
  KilnCompileRequest c;

  explicit Request(nb::dict fields) {
    kilnCompileRequestInit(&c);
    auto text = [&](const char *name, std::string &out) -> const char * {
      nb::object value = fields.contains(name) ? nb::object(fields[name]) : nb::none();
      if (value.is_none())
        return nullptr;
      if (PyBytes_Check(value.ptr()))
        out.assign(nb::cast<nb::bytes>(value).c_str(), nb::len(value));
      else
        out = nb::cast<std::string>(value);
      return out.c_str();
    };
    auto number = [&](const char *name, auto &out) {
      if (fields.contains(name))
        out = nb::cast<std::remove_reference_t<decltype(out)>>(fields[name]);
    };
    text("source", source);
    c.source = source.data();
    c.source_size = source.size();
    c.source_name = text("source_name", sourceName);
    c.kernel = text("kernel", kernel);
    c.target = text("target", target);
    c.options = text("options", options);
    if (fields.contains("keep_stages"))
      for (nb::handle stage : nb::borrow<nb::object>(fields["keep_stages"]))
        stages.push_back(nb::cast<std::string>(stage));
    for (const std::string &stage : stages)
      stagePointers.push_back(stage.c_str());
    c.keep_stages = stagePointers.data();
    c.num_keep_stages = stagePointers.size();
    number("opt_level", c.opt_level);
    number("fast_math", c.fast_math);
    number("vendor_math", c.vendor_math);
    number("max_source_bytes", c.max_source_bytes);
    number("max_depth", c.max_depth);
    number("worker_memory_bytes", c.worker_memory_bytes);
    number("worker_seconds", c.worker_seconds);
    int isolation = 0;
    number("isolation", isolation);
    c.isolation = KilnIsolation(isolation);
  }
  Request(const Request &) = delete;
};

struct Job {
  std::unique_ptr<Request> request;
  KilnCache *cache = nullptr; // kept open by `cacheOwner` of the caller, or abandoned with it
  bool hasKey = false;
  KilnKey key{};
  std::mutex mutex;
  std::condition_variable changed;
  std::atomic<bool> done = false;
  bool abandoned = false;
  KilnArtifact *artifact = nullptr;
  KilnError *error = nullptr;
  int32_t hit = 0;
  std::vector<Message> messages;

  ~Job() {
    kilnArtifactDestroy(artifact);
    kilnErrorDestroy(error);
  }
};

std::mutex runningMutex;
int running = 0;

void *runJob(void *argument) {
  std::shared_ptr<Job> job =
      *std::unique_ptr<std::shared_ptr<Job>>(static_cast<std::shared_ptr<Job> *>(argument));
  KilnCompileRequest &request = job->request->c;
  request.user_data = job.get();
  request.cancelled = [](void *data) -> int32_t {
    auto *job = static_cast<Job *>(data);
    std::lock_guard<std::mutex> lock(job->mutex);
    return job->abandoned ? 1 : 0;
  };
  request.diagnostic = [](const KilnDiagnostic *d, void *data) {
    static_cast<Job *>(data)->messages.push_back(
        {int(d->severity), d->parent, toString(d->file), d->line, d->column, toString(d->text)});
  };
  KilnArtifact *artifact = nullptr;
  int32_t hit = 0;
  KilnError *error = job->cache
                         ? kilnCacheGetOrCompile(job->cache, job->hasKey ? &job->key : nullptr,
                                                 &request, &artifact, &hit)
                         : kilnCompile(&request, &artifact);
  {
    std::lock_guard<std::mutex> lock(job->mutex);
    job->artifact = artifact;
    job->error = error;
    job->hit = hit;
    job->done = true;
  }
  job->changed.notify_all();
  job.reset();
  std::lock_guard<std::mutex> lock(runningMutex);
  --running;
  return nullptr;
}

void start(const std::shared_ptr<Job> &job) {
  {
    std::lock_guard<std::mutex> lock(runningMutex);
    ++running;
  }
  auto *argument = new std::shared_ptr<Job>(job);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  // Recursion over deep (yet allowed) nesting; address space only.
  pthread_attr_setstacksize(&attributes, size_t(64) << 20);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_t thread;
  int failed = pthread_create(&thread, &attributes, runJob, argument);
  pthread_attr_destroy(&attributes);
  if (!failed)
    return;
  delete argument;
  {
    std::lock_guard<std::mutex> lock(runningMutex);
    --running;
  }
  PyErr_SetString(PyExc_MemoryError, "expected a thread for the compile, got none");
  throw nb::python_error();
}

/// Waits with the GIL released; looks for signals 20 times a second.
void wait(Job &job) {
  for (;;) {
    {
      WithoutGIL released;
      std::unique_lock<std::mutex> lock(job.mutex);
      job.changed.wait_for(lock, std::chrono::milliseconds(50), [&] { return job.done.load(); });
    }
    if (job.done)
      return;
    if (PyErr_CheckSignals() != 0) {
      std::lock_guard<std::mutex> lock(job.mutex);
      job.abandoned = true;
      throw nb::python_error();
    }
  }
}

/// compile(cache or None, key or None, request) -> (artifact, hit, diagnostics)
nb::object compileRequest(nb::object cache, std::optional<nb::bytes> key, nb::dict fields) {
  auto job = std::make_shared<Job>();
  job->request = std::make_unique<Request>(fields);
  if (!cache.is_none())
    job->cache = nb::cast<CacheObject &>(cache).get();
  if (key) {
    job->hasKey = true;
    job->key = keyOf(*key);
  }
  start(job);
  try {
    wait(*job);
  } catch (...) {
    cache.inc_ref(); // the compile that goes on still writes to it
    throw;
  }
  if (job->error) {
    KilnError *error = job->error;
    job->error = nullptr;
    check(error);
  }
  nb::list messages;
  for (const Message &m : job->messages)
    messages.append(nb::make_tuple(m.severity, m.parent, m.file, m.line, m.column, m.text));
  KilnArtifact *artifact = job->artifact;
  job->artifact = nullptr;
  return nb::make_tuple(ArtifactObject(artifact), job->hit, messages);
}

/// Called by exit(), after Python's own end and before the destructors of what was loaded earlier.
void leaveCompiles(int status, void *) {
  std::unique_lock<std::mutex> lock(runningMutex, std::try_to_lock);
  if (lock && !running)
    return;
  fflush(nullptr);
  _exit(status);
}

} // namespace

KilnKey kiln::python::keyOf(nb::bytes bytes) {
  KilnKey key;
  if (bytes.size() != sizeof key.bytes)
    throw nb::value_error("expected a key of 32 bytes");
  std::copy_n(reinterpret_cast<const uint8_t *>(bytes.c_str()), sizeof key.bytes, key.bytes);
  return key;
}

nb::bytes kiln::python::bytesOf(const KilnKey &key) {
  return nb::bytes(reinterpret_cast<const char *>(key.bytes), sizeof key.bytes);
}

void kiln::python::bindCompiler(nb::module_ &m) {
  on_exit(leaveCompiles, nullptr);
  m.def("version", [] { return toStr(kilnVersion()); });
  m.def("compiler_id", [] { return toStr(kilnCompilerId()); });
  m.def("api_version", [] { return kilnApiVersion(); });

  nb::class_<ArtifactObject>(m, "Artifact")
      .def_prop_ro("metadata",
                   [](const ArtifactObject &a) { return toStr(kilnArtifactGetMetadata(a.get())); })
      .def_prop_ro("sections",
                   [](const ArtifactObject &a) {
                     nb::list names;
                     for (size_t i = 0, n = kilnArtifactGetNumSections(a.get()); i < n; ++i)
                       names.append(toStr(kilnArtifactGetSectionName(a.get(), i)));
                     return names;
                   })
      .def("section",
           [](const ArtifactObject &a, const std::string &name) {
             KilnString bytes{};
             check(kilnArtifactGetSection(a.get(), name.c_str(), &bytes));
             return toBytes(bytes);
           })
      .def("serialize",
           [](const ArtifactObject &a) {
             KilnBuffer *buffer = nullptr;
             check(kilnArtifactSerialize(a.get(), &buffer));
             nb::bytes bytes = toBytes(kilnBufferGet(buffer));
             kilnBufferDestroy(buffer);
             return bytes;
           })
      .def_static("deserialize", [](nb::bytes bytes) {
        KilnArtifact *artifact = nullptr;
        check(kilnArtifactDeserialize(bytes.c_str(), bytes.size(), &artifact));
        return ArtifactObject(artifact);
      });

  m.def("compile", &compileRequest, nb::arg("cache").none(), nb::arg("key").none(),
        nb::arg("request"));
  m.def("request_key", [](nb::dict fields) {
    Request request(fields);
    KilnKey key;
    check(kilnCompileRequestKey(&request.c, &key));
    return bytesOf(key);
  });
  m.def("key_of_bytes", [](nb::bytes bytes) {
    KilnKey key;
    kilnKeyOfBytes(bytes.c_str(), bytes.size(), &key);
    return bytesOf(key);
  });
  m.def("describe_layout", [](const char *text) {
    KilnBuffer *json = nullptr;
    check(kilnLayoutDescribe(text, &json));
    return takeStr(json);
  });
  m.def("target_identity", [](const char *target) {
    KilnBuffer *identity = nullptr;
    KilnError *error = kilnTargetIdentity(target, &identity);
    // A target that is not there, the compile says, with those that are.
    if (error && kilnErrorGetCode(error) == KILN_ERROR_NOT_FOUND) {
      kilnErrorDestroy(error);
      return nb::str("");
    }
    check(error);
    return takeStr(identity);
  });
  m.def("targets", [] {
    KilnBuffer *json = nullptr;
    check(kilnTargetsDescribe(&json));
    return takeStr(json);
  });
}
