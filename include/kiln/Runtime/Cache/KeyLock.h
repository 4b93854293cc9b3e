// A courtesy between processes: who compiles this key?
//
// The holder makes a file "<64 hex>.lock" that says which machine, process id space and process
// it is. Others on the same machine wait for it to go, and break it if that process is gone or
// the lock is older than a compile can be. Correctness never depends on it: a lock that cannot be
// made, belongs to another machine or is broken twice costs a compile, never an answer.
#ifndef KILN_RUNTIME_CACHE_KEYLOCK_H
#define KILN_RUNTIME_CACHE_KEYLOCK_H

#include "kiln/Runtime/Cache/Directory.h"
#include "kiln/Runtime/Cache/Key.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace kiln {

class KeyLock {
public:
  /// Makes the lock, or waits while another living process of this machine has it and `done`
  /// says false; `done` is asked some twenty times a second. Never waits longer than `seconds`.
  KeyLock(const CacheDirectory &directory, const Key &key, llvm::function_ref<bool()> done,
          unsigned seconds = 60);
  KeyLock(const KeyLock &) = delete;
  ~KeyLock();

private:
  const CacheDirectory &directory;
  std::string name, text;
  const int process;
  bool held = false;
};

} // namespace kiln

#endif // KILN_RUNTIME_CACHE_KEYLOCK_H
