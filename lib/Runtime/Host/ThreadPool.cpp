// The pool of ThreadPool.h: one list of open jobs, a counter a job, a short spin before sleep.
#include "kiln/Runtime/Host/ThreadPool.h"
#include "kiln/Runtime/Host/CancelWatch.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/MemoryBuffer.h"
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <mutex>
#include <pthread.h>
#include <sched.h>
#include <system_error>
#include <vector>

using namespace kiln;
using namespace llvm;

/// Enough chunks that the last one to finish is small, few enough that the counter is cheap.
static constexpr int64_t chunksPerThread = 8;
static constexpr unsigned spins = 2000;
static constexpr unsigned maxThreads = 1024;

namespace {
/// How long a thread of a job that may be stopped runs programs before it looks whether to go on.
constexpr std::chrono::milliseconds pieceTime{2};

struct Job {
  function_ref<bool(int64_t, int64_t)> body;
  int64_t total, chunk;
  /// Whether somebody may want it stopped before a body returns false.
  bool watched;
  /// Unsigned: threads add to it beyond the total.
  std::atomic<uint64_t> next{0};
  std::atomic<bool> stopped{false};
  /// Threads other than the owner inside work(); guarded by the pool's mutex.
  unsigned helpers = 0;

  bool isOpen() const { return next.load(std::memory_order_relaxed) < uint64_t(total); }

  void stop() {
    stopped.store(true, std::memory_order_relaxed);
    next.store(total, std::memory_order_relaxed);
  }

  /// `watch` is the owner's; null for the other threads.
  void work(CancelWatch *watch) {
    int64_t piece = watched ? 1 : chunk;
    while (true) {
      uint64_t first = next.fetch_add(chunk, std::memory_order_relaxed);
      if (first >= uint64_t(total))
        return;
      int64_t last = std::min(total, int64_t(first) + chunk);
      if (watched)
        runPieces(first, last, piece, watch);
      else if (!body(first, last))
        stop();
    }
  }

private:
  /// Calls the body for as many programs at a time as fit into pieceTime, by what those before
  /// took, and looks in between whether the job was stopped.
  void runPieces(int64_t first, int64_t last, int64_t &piece, CancelWatch *watch) {
    CancelWatch::Clock::time_point begin = CancelWatch::Clock::now();
    while (first < last && !stopped.load(std::memory_order_relaxed)) {
      int64_t count = std::min(piece, last - first);
      if (!body(first, first + count))
        return stop();
      first += count;
      CancelWatch::Clock::time_point end = CancelWatch::Clock::now();
      if (watch && watch->poll(end))
        return stop();
      auto spent = std::max<int64_t>(1, (end - begin) / std::chrono::nanoseconds(1));
      double fitting = double(count) * double(std::chrono::nanoseconds(pieceTime).count()) / spent;
      // Programs differ: what a few did is no promise for very many.
      piece = int64_t(std::clamp(fitting, 1.0, std::min(double(count) * 16, 1e15)));
      begin = end;
    }
  }
};
} // namespace

struct ThreadPool::State {
  unsigned threads;
  std::mutex mutex;
  std::condition_variable wake, done;
  std::vector<Job *> jobs;
  unsigned sleeping = 0;
  /// How often a job was posted; what a thread about to sleep watches.
  std::atomic<uint64_t> posted{0};

  static void *main(void *self) {
    static_cast<State *>(self)->loop();
    return nullptr;
  }
  void loop();
  Job *findOpen() {
    for (Job *job : jobs)
      if (job->isOpen())
        return job;
    return nullptr;
  }
};

static inline void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

void ThreadPool::State::loop() {
  std::unique_lock<std::mutex> lock(mutex);
  while (true) {
    if (Job *job = findOpen()) {
      ++job->helpers;
      lock.unlock();
      job->work(nullptr);
      lock.lock();
      if (--job->helpers == 0)
        done.notify_all();
      continue;
    }
    uint64_t seen = posted.load(std::memory_order_relaxed);
    lock.unlock();
    for (unsigned i = 0; i < spins && posted.load(std::memory_order_relaxed) == seen; ++i)
      relax();
    lock.lock();
    if (posted.load(std::memory_order_relaxed) != seen)
      continue;
    ++sleeping;
    wake.wait(lock);
    --sleeping;
  }
}

//===- How many -----------------------------------------------------------------------------===//

/// The control group's quota in whole processors, rounded up; 0 without one.
static unsigned quota() {
  auto file = MemoryBuffer::getFileAsStream("/sys/fs/cgroup/cpu.max");
  if (!file)
    return 0;
  auto [limit, period] = (*file)->getBuffer().trim().split(' ');
  uint64_t microseconds, each;
  if (limit.getAsInteger(10, microseconds) || period.getAsInteger(10, each) || each == 0)
    return 0;
  return std::max<uint64_t>(1, (microseconds + each - 1) / each);
}

static unsigned decideThreads() {
  unsigned asked;
  if (const char *set = std::getenv("KILN_NUM_THREADS"))
    if (!StringRef(set).getAsInteger(10, asked) && asked > 0)
      return std::min(asked, maxThreads);
  unsigned count = 1;
  // A mask of the default size is too small for a machine of more than 1024 processors.
  for (size_t processors = 1024; processors <= 65536; processors *= 4) {
    cpu_set_t *set = CPU_ALLOC(processors);
    size_t size = CPU_ALLOC_SIZE(processors);
    CPU_ZERO_S(size, set);
    bool known = set && ::sched_getaffinity(0, size, set) == 0;
    if (known)
      count = CPU_COUNT_S(size, set);
    CPU_FREE(set);
    if (known)
      break;
  }
  if (unsigned bound = quota())
    count = std::min(count, bound);
  return std::clamp(count, 1u, maxThreads);
}

//===- The pool -----------------------------------------------------------------------------===//

static std::atomic<ThreadPool *> current{nullptr};
static std::mutex making;

ThreadPool &ThreadPool::get() {
  if (ThreadPool *pool = current.load(std::memory_order_acquire))
    return *pool;
  // In a forked child the parent's pool is left behind unused: its mutex may be held by a thread
  // that does not exist here.
  static bool registered = false;
  std::lock_guard<std::mutex> lock(making);
  if (!registered) {
    ::pthread_atfork([] { making.lock(); }, [] { making.unlock(); },
                     [] {
                       current.store(nullptr);
                       making.unlock();
                     });
    registered = true;
  }
  if (ThreadPool *pool = current.load(std::memory_order_acquire))
    return *pool;
  auto *pool = new ThreadPool(decideThreads());
  current.store(pool, std::memory_order_release);
  return *pool;
}

ThreadPool::ThreadPool(unsigned threads) : state(new State) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  // Signals belong to the program's own threads.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  unsigned made = 1;
  while (made < threads) {
    pthread_t thread;
    // A system out of threads is no error: the caller alone is enough.
    if (pthread_create(&thread, &attributes, State::main, state) != 0)
      break;
    ++made;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  state->threads = made;
}

unsigned ThreadPool::numThreads() const { return state->threads; }

bool ThreadPool::run(int64_t total, function_ref<bool(int64_t, int64_t)> body,
                     function_ref<bool()> cancelled) {
  if (total <= 0)
    return true;
  CancelWatch watch(cancelled);
  bool alone = total == 1 || state->threads == 1;
  Job job{body, total,
          alone ? total : std::max<int64_t>(1, total / (state->threads * chunksPerThread)),
          watch.isActive() && total > 1};
  if (alone) {
    job.work(&watch);
    return !watch.wasCancelled();
  }
  {
    std::lock_guard<std::mutex> lock(state->mutex);
    state->jobs.push_back(&job);
    state->posted.fetch_add(1, std::memory_order_relaxed);
    int64_t useful = (total + job.chunk - 1) / job.chunk - 1;
    for (unsigned i = 0; i < state->sleeping && i < useful; ++i)
      state->wake.notify_one();
  }
  job.work(&watch);
  std::unique_lock<std::mutex> lock(state->mutex);
  state->jobs.erase(std::find(state->jobs.begin(), state->jobs.end(), &job));
  auto isDone = [&] { return job.helpers == 0; };
  while (watch.isActive() && !watch.wasCancelled() &&
         !state->done.wait_for(lock, CancelWatch::interval, isDone)) {
    lock.unlock();
    if (watch.poll())
      job.stop();
    lock.lock();
  }
  state->done.wait(lock, isDone);
  return !watch.wasCancelled();
}
