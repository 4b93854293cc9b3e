// The table of a function's specialisations, as its readers see it.
#ifndef KILN_LIB_RUNTIME_LAUNCH_TABLE_H
#define KILN_LIB_RUNTIME_LAUNCH_TABLE_H

#include "kiln/Runtime/Launch/Function.h"

namespace kiln {

struct Function::Entry {
  uint64_t hash;
  size_t count;
  std::unique_ptr<uint64_t[]> words;
  ExecutablePtr executable;
  /// The time of its last use, which ticks with each specialisation that is made.
  mutable std::atomic<uint64_t> used{0};
};

struct Function::Table {
  explicit Table(size_t capacity)
      : mask(capacity - 1), slots(new std::atomic<Entry *>[capacity]()) {}
  size_t mask, used = 0;
  std::unique_ptr<std::atomic<Entry *>[]> slots;
};

inline bool equalWords(const uint64_t *left, const uint64_t *right, size_t count) {
  uint64_t differ = 0;
  for (size_t i = 0; i < count; ++i)
    differ |= left[i] ^ right[i];
  return differ == 0;
}

/// Mostly it is what the launch before it found, which needs no hash.
inline const Function::Entry *Function::find(const uint64_t *words, size_t count) {
  const Entry *last = recent.load(std::memory_order_seq_cst);
  bool again = last && last->count == count && equalWords(last->words.get(), words, count);
  return LLVM_LIKELY(again) ? last : findInTable(words, count, last);
}

/// Written only if it changes, so that launches of many threads share the line.
inline void Function::touch(const Entry &entry) {
  uint64_t now = clock.load(std::memory_order_relaxed);
  if (LLVM_UNLIKELY(entry.used.load(std::memory_order_relaxed) != now))
    entry.used.store(now, std::memory_order_relaxed);
}

} // namespace kiln

#endif // KILN_LIB_RUNTIME_LAUNCH_TABLE_H
