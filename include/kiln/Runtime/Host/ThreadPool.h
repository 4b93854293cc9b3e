// Persistent threads over which the host spreads a grid.
//
// A job is a range of programs cut into chunks that an atomic counter hands out, so threads that
// got quick programs take more of them. The thread that asks works too: a job makes progress even
// if every other thread is busy with another's. Idle threads look for work for some microseconds
// before they sleep, which makes a run of launches cheap.
#ifndef KILN_RUNTIME_HOST_THREADPOOL_H
#define KILN_RUNTIME_HOST_THREADPOOL_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include <cstdint>

namespace kiln {

class ThreadPool {
public:
  /// The process's pool, made on first use and made anew in a forked child, whose threads stayed
  /// behind. $KILN_NUM_THREADS threads, the caller included; else as many as the affinity mask
  /// and the control group's quota allow.
  static ThreadPool &get();

  unsigned numThreads() const;

  /// Calls body(first, last) from several threads until all of [0, total) was covered, or until a
  /// call returned false: then what is not begun is left out. Returns when all calls have.
  /// `cancelled`, if there is one, is asked now and then by the calling thread; once it answers yes
  /// what is not begun is left out likewise, and the result is false. A job that may be so stopped
  /// has its ranges cut into what takes some milliseconds.
  bool run(int64_t total, llvm::function_ref<bool(int64_t, int64_t)> body,
           llvm::function_ref<bool()> cancelled = nullptr);

  struct State;

private:
  explicit ThreadPool(unsigned threads);
  State *state;
};

} // namespace kiln

#endif // KILN_RUNTIME_HOST_THREADPOOL_H
