// The cache's second level: entries in a directory, checked when read, bounded by use.
//
// An entry is one file named "<64 hex>.kiln": magic, version, kind, the entry's own key, the
// payload's size, a BLAKE3 over all of it, the payload. What does not verify is removed and
// counts as absent, so the worst that damage can cost is a compile. Nothing here needs a lock.
#ifndef KILN_RUNTIME_CACHE_DISKCACHE_H
#define KILN_RUNTIME_CACHE_DISKCACHE_H

#include "kiln/Binary/Artifact.h"
#include "kiln/Runtime/Cache/Directory.h"
#include "kiln/Runtime/Cache/Key.h"
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace kiln {

class DiskCache {
public:
  struct Stats {
    uint64_t corrupt = 0, evicted = 0;
  };
  /// What one entry is; exactly one of the two is there.
  struct Entry {
    std::optional<Artifact> artifact;
    std::optional<Key> alias;
  };
  struct Listed {
    Key key;
    Entry entry;
    uint64_t bytes;
    int64_t used; ///< seconds since 1970
  };

  DiskCache(CacheDirectory directory, uint64_t maxBytes)
      : files(std::move(directory)), limit(maxBytes) {}

  std::optional<Entry> get(const Key &key);
  void put(const Key &key, const Artifact &artifact);
  void putAlias(const Key &key, const Key &to);
  void remove(const Key &key);

  /// Most recently used first. Nothing is removed or marked as used.
  std::vector<Listed> list();
  /// Removes least recently used entries down to `maxBytes`, and what killed writers left.
  uint64_t prune(uint64_t maxBytes);
  /// Reads everything, removes what is wrong: (file, reason) of each. Returns how many it read.
  uint64_t verify(std::vector<std::pair<std::string, std::string>> &removed);

  /// Bytes and entries that are there now.
  std::pair<uint64_t, uint64_t> usage() const;

  const CacheDirectory &directory() const { return files; }
  uint64_t maxBytes() const { return limit; }
  Stats stats() const;
  /// Why nothing is written any more, or the empty string.
  std::string notice() const;

  /// Around a fork (Cache::lockAll).
  void lock() { mutex.lock(); }
  void unlock() { mutex.unlock(); }

private:
  void write(const Key &key, char kind, llvm::StringRef payload);
  uint64_t evict(uint64_t target);

  CacheDirectory files;
  const uint64_t limit;
  mutable std::mutex mutex;
  Stats counts;
  std::string degraded;
  /// What the directory holds, as far as known: counted now and then, and our own writes added.
  uint64_t estimate = 0;
  unsigned writesUntilCount = 0;
};

} // namespace kiln

#endif // KILN_RUNTIME_CACHE_DISKCACHE_H
