// When to ask a launch's caller whether to go on: often enough for a person who waits, seldom
// enough that the question, for which a front end may need a lock, costs nothing.
#ifndef KILN_RUNTIME_HOST_CANCELWATCH_H
#define KILN_RUNTIME_HOST_CANCELWATCH_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include <chrono>

namespace kiln {

class CancelWatch {
public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds interval{50};

  /// A null function is never asked.
  explicit CancelWatch(llvm::function_ref<bool()> cancelled) : cancelled(cancelled) {
    if (cancelled)
      next = Clock::now() + interval;
  }
  bool isActive() const { return bool(cancelled); }

  /// Asks, if it is time to; once the answer was yes it stays so.
  bool poll(Clock::time_point now) {
    if (cancelled && !answer && now >= next) {
      answer = cancelled();
      next = Clock::now() + interval;
    }
    return answer;
  }
  bool poll() { return cancelled && poll(Clock::now()); }
  bool wasCancelled() const { return answer; }

private:
  llvm::function_ref<bool()> cancelled;
  Clock::time_point next;
  bool answer = false;
};

} // namespace kiln

#endif // KILN_RUNTIME_HOST_CANCELWATCH_H
