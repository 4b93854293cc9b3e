// The memory level, the single flight of each key, and where the directory is by default.
#include "kiln/Runtime/Cache/Cache.h"
#include "Libraries.h"
#include "kiln/Runtime/Error.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Path.h"
#include <cstdlib>
#include <pthread.h>
#include <set>
#include <unistd.h>

using namespace kiln;
using namespace llvm;

/// Aliases of aliases are followed this far; longer chains are circles.
static constexpr int maxAliases = 8;
static constexpr uint64_t defaultMemoryBytes = uint64_t(64) << 20;
static constexpr uint64_t defaultDiskBytes = uint64_t(4) << 30;

/// One key being made. Waiters hold it too, so it outlives its place in the table.
struct Cache::Flight {
  /// A forked child inherits flights whose threads stayed behind: they are abandoned there.
  pid_t process = ::getpid();
  bool landed = false;
  std::condition_variable changed;
  std::optional<KeyLock> lock;
};

//===- Where --------------------------------------------------------------------------------===//

static Expected<std::string> defaultPath() {
  auto set = [](const char *name) -> StringRef {
    const char *value = std::getenv(name);
    return value ? value : "";
  };
  if (const char *chosen = std::getenv("KILN_CACHE_DIR"))
    return chosen;
  SmallString<128> path;
  if (StringRef base = set("XDG_CACHE_HOME"); sys::path::is_absolute(base))
    path = base;
  else if (StringRef home = set("HOME"); !home.empty())
    sys::path::append(path, home, ".cache");
  else
    return makeError(KILN_ERROR_IO, "expected KILN_CACHE_DIR, XDG_CACHE_HOME or HOME to be set, "
                                    "got none to place the cache by");
  sys::path::append(path, "kiln");
  return path.str().str();
}

/// The bytes that an environment variable says, or else the default.
static Expected<uint64_t> boundFrom(const char *variable, uint64_t otherwise) {
  const char *set = std::getenv(variable);
  if (!set || !*set)
    return otherwise;
  StringRef text = set;
  unsigned shift = 0;
  if (text.consume_back_insensitive("K"))
    shift = 10;
  else if (text.consume_back_insensitive("M"))
    shift = 20;
  else if (text.consume_back_insensitive("G"))
    shift = 30;
  uint64_t number;
  if (text.getAsInteger(10, number) || number == 0 || number > (~uint64_t(0) >> shift))
    return makeError(KILN_ERROR_INVALID_ARGUMENT,
                     "expected " + Twine(variable) +
                         " to be a number of bytes, or one with the suffix K, M or G, got '" +
                         Twine(set) + "'");
  return number << shift;
}

Expected<std::unique_ptr<Cache>> Cache::open(std::optional<StringRef> path, uint64_t maxBytes) {
  std::string where;
  if (path) {
    where = path->str();
  } else {
    Expected<std::string> found = defaultPath();
    if (!found)
      return found.takeError();
    where = std::move(*found);
  }
  Expected<uint64_t> memory = boundFrom("KILN_CACHE_MEMORY", defaultMemoryBytes);
  if (!memory)
    return memory.takeError();
  if (where.empty())
    return std::unique_ptr<Cache>(new Cache(nullptr, *memory));
  if (maxBytes == 0) {
    Expected<uint64_t> bound = boundFrom("KILN_CACHE_SIZE", defaultDiskBytes);
    if (!bound)
      return bound.takeError();
    maxBytes = *bound;
  }
  Expected<CacheDirectory> directory = CacheDirectory::open(where);
  if (!directory) {
    bool isChosen = path || std::getenv("KILN_CACHE_DIR");
    std::string why;
    Error refused =
        handleErrors(directory.takeError(), [&](std::unique_ptr<RuntimeError> error) -> Error {
          if (isChosen || error->code != KILN_ERROR_IO)
            return Error(std::move(error));
          why = error->text;
          return Error::success();
        });
    if (refused)
      return std::move(refused);
    std::unique_ptr<Cache> cache(new Cache(nullptr, *memory));
    cache->unplaced = why + "; compiled kernels are kept in memory only";
    return std::move(cache);
  }
  return std::unique_ptr<Cache>(
      new Cache(std::make_unique<DiskCache>(std::move(*directory), maxBytes), *memory));
}

//===- Forks --------------------------------------------------------------------------------===//

namespace {
struct Living {
  std::mutex mutex;
  std::set<Cache *> caches;
};
} // namespace

static Living &living() {
  static Living *all = new Living;
  return *all;
}

void Cache::lockAll() {
  living().mutex.lock();
  for (Cache *cache : living().caches) {
    cache->mutex.lock();
    if (cache->second)
      cache->second->lock();
  }
}

void Cache::unlockAll() {
  for (Cache *cache : living().caches) {
    if (cache->second)
      cache->second->unlock();
    cache->mutex.unlock();
  }
  living().mutex.unlock();
}

Cache::Cache(std::unique_ptr<DiskCache> second, uint64_t maxMemoryBytes)
    : second(std::move(second)), maxMemoryBytes(maxMemoryBytes) {
  static int registered = ::pthread_atfork(lockAll, unlockAll, unlockAll);
  (void)registered;
  std::lock_guard<std::mutex> lock(living().mutex);
  living().caches.insert(this);
}

Cache::~Cache() {
  std::lock_guard<std::mutex> lock(living().mutex);
  living().caches.erase(this);
}

//===- Memory -------------------------------------------------------------------------------===//

static uint64_t sizeOf(const std::optional<Artifact> &artifact) {
  return 128 + (artifact ? artifact->serialized().size() : 0);
}

void Cache::forget(const Key &key) {
  auto found = memory.find(key);
  if (found == memory.end())
    return;
  memoryBytes -= sizeOf(found->second.artifact);
  recency.erase(found->second.place);
  memory.erase(found);
}

void Cache::remember(const Key &key, std::optional<Artifact> artifact, std::optional<Key> alias) {
  forget(key);
  memoryBytes += sizeOf(artifact);
  recency.push_front(key);
  memory[key] = {std::move(artifact), alias, recency.begin()};
  while (memoryBytes > maxMemoryBytes && recency.size() > 1) {
    Key oldest = recency.back();
    forget(oldest);
  }
}

/// What was made with a library that is another one now counts as absent.
std::optional<Artifact> Cache::find(const Key &key, Hit &hit) {
  std::optional<Artifact> artifact = lookUp(key, hit);
  if (artifact && !areLibrariesCurrent(*artifact)) {
    hit = Hit::None;
    return std::nullopt;
  }
  return artifact;
}

/// Looks in both levels. Called without the mutex: a slow disk must not hold up other keys.
std::optional<Artifact> Cache::lookUp(const Key &key, Hit &hit) {
  Key at = key;
  hit = Hit::Memory;
  for (int hop = 0; hop < maxAliases; ++hop) {
    std::optional<Key> next;
    {
      std::lock_guard<std::mutex> lock(mutex);
      auto found = memory.find(at);
      if (found != memory.end()) {
        recency.splice(recency.begin(), recency, found->second.place);
        if (found->second.artifact)
          return found->second.artifact;
        next = found->second.alias;
      }
    }
    if (!next) {
      std::optional<DiskCache::Entry> entry = second ? second->get(at) : std::nullopt;
      if (!entry)
        break;
      hit = Hit::Disk;
      std::lock_guard<std::mutex> lock(mutex);
      remember(at, entry->artifact, entry->alias);
      if (entry->artifact)
        return entry->artifact;
      next = entry->alias;
    }
    at = *next;
  }
  hit = Hit::None;
  return std::nullopt;
}

std::optional<Artifact> Cache::get(const Key &key, Hit *hit) {
  Hit found;
  std::optional<Artifact> artifact = find(key, found);
  if (hit)
    *hit = found;
  std::lock_guard<std::mutex> lock(mutex);
  ++(found == Hit::Memory ? counts.memoryHits
     : found == Hit::Disk ? counts.diskHits
                          : counts.misses);
  return artifact;
}

void Cache::put(const Key &key, const Artifact &artifact) {
  {
    std::lock_guard<std::mutex> lock(mutex);
    remember(key, artifact, std::nullopt);
  }
  if (second)
    second->put(key, artifact);
}

void Cache::alias(const Key &from, const Key &to) {
  if (from == to)
    return;
  {
    std::lock_guard<std::mutex> lock(mutex);
    remember(from, std::nullopt, to);
  }
  if (second)
    second->putAlias(from, to);
}

void Cache::remove(const Key &key) {
  {
    std::lock_guard<std::mutex> lock(mutex);
    forget(key);
  }
  if (second)
    second->remove(key);
}

//===- One compile a key --------------------------------------------------------------------===//

std::optional<Artifact> Cache::begin(const Key &key, Hit *hit) {
  std::shared_ptr<Flight> flight;
  while (true) {
    if (std::optional<Artifact> found = get(key, hit))
      return found;
    std::unique_lock<std::mutex> lock(mutex);
    std::shared_ptr<Flight> &place = flights[key];
    if (!place || place->process != ::getpid()) {
      place = flight = std::make_shared<Flight>();
      break;
    }
    std::shared_ptr<Flight> other = place;
    other->changed.wait(lock, [&] { return other->landed; });
  }
  if (!second)
    return std::nullopt;

  // Now between processes: whoever had the lock before may have put the artifact.
  std::optional<Artifact> found;
  auto appeared = [&] {
    Hit where;
    found = find(key, where);
    if (found && hit)
      *hit = where;
    return found.has_value();
  };
  flight->lock.emplace(second->directory(), key, appeared);
  if (!found)
    appeared();
  if (found)
    end(key, std::nullopt);
  return found;
}

void Cache::end(const Key &key, const std::optional<Artifact> &artifact) {
  if (artifact)
    put(key, *artifact);
  std::shared_ptr<Flight> flight;
  {
    std::lock_guard<std::mutex> lock(mutex);
    auto found = flights.find(key);
    if (found == flights.end())
      return;
    flight = std::move(found->second);
    flights.erase(found);
    flight->landed = true;
  }
  flight->lock.reset();
  flight->changed.notify_all();
}

Cache::Stats Cache::stats() const {
  std::lock_guard<std::mutex> lock(mutex);
  Stats now = counts;
  now.memoryBytes = memoryBytes;
  now.maxMemoryBytes = maxMemoryBytes;
  return now;
}
