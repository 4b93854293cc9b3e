// Both levels of the cache, and one compile a key at a time.
#ifndef KILN_RUNTIME_CACHE_CACHE_H
#define KILN_RUNTIME_CACHE_CACHE_H

#include "kiln/Runtime/Cache/DiskCache.h"
#include "kiln/Runtime/Cache/KeyLock.h"
#include <condition_variable>
#include <list>
#include <memory>
#include <unordered_map>

namespace kiln {

class Cache {
public:
  enum class Hit { None = 0, Memory = 1, Disk = 2 };
  struct Stats {
    uint64_t memoryHits = 0, diskHits = 0, misses = 0;
    uint64_t memoryBytes = 0, maxMemoryBytes = 0;
  };

  /// No path: kiln-c/Cache.h says where. An empty path: memory only. Zero bytes: the default. A
  /// place that nobody chose and that cannot be made gives a cache in memory with a notice.
  static llvm::Expected<std::unique_ptr<Cache>> open(std::optional<llvm::StringRef> path,
                                                     uint64_t maxBytes);
  ~Cache();

  std::optional<Artifact> get(const Key &key, Hit *hit = nullptr);
  void put(const Key &key, const Artifact &artifact);
  void alias(const Key &from, const Key &to);
  void remove(const Key &key);

  /// Finds the artifact, waiting for a thread that is making it, or else makes the caller the one
  /// who makes it: nothing is returned, and end() must follow.
  std::optional<Artifact> begin(const Key &key, Hit *hit = nullptr);
  void end(const Key &key, const std::optional<Artifact> &artifact);

  DiskCache *disk() { return second.get(); }
  /// Why nothing is kept on disk although it was to be, or the empty string.
  std::string notice() const { return second ? second->notice() : unplaced; }
  Stats stats() const;

private:
  struct Flight;
  struct Remembered {
    std::optional<Artifact> artifact;
    std::optional<Key> alias;
    std::list<Key>::iterator place;
  };

  Cache(std::unique_ptr<DiskCache> second, uint64_t maxMemoryBytes);
  std::optional<Artifact> find(const Key &key, Hit &hit);
  std::optional<Artifact> lookUp(const Key &key, Hit &hit);
  void remember(const Key &key, std::optional<Artifact> artifact, std::optional<Key> alias);
  void forget(const Key &key);

  /// Around a fork every cache's mutex is held, so that a child finds them free.
  static void lockAll();
  static void unlockAll();

  std::unique_ptr<DiskCache> second;
  std::string unplaced;
  mutable std::mutex mutex;
  std::unordered_map<Key, Remembered, KeyHash> memory;
  std::list<Key> recency; ///< most recently used first
  uint64_t memoryBytes = 0, maxMemoryBytes;
  std::unordered_map<Key, std::shared_ptr<Flight>, KeyHash> flights;
  Stats counts;
};

} // namespace kiln

#endif // KILN_RUNTIME_CACHE_CACHE_H
