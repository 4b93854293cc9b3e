// Entries on disk: their format, eviction by use, and what happens when the disk says no.
#include "kiln/Runtime/Cache/DiskCache.h"
#include "llvm/Support/Endian.h"
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>

using namespace kiln;
using namespace llvm;

static constexpr char magic[8] = {'K', 'I', 'L', 'N', 'E', 'N', 'T', '\0'};
static constexpr char formatVersion = 1;
// magic 8, version 1, kind 1, zero 6, key 32, payload size 8, checksum 32
static constexpr size_t keyAt = 16, sizeAt = 48, checksumAt = 56, headerSize = 88;
static constexpr char kindArtifact = 'a', kindAlias = 'l';
// A temporary file this old has no living writer.
static constexpr int64_t temporaryLifetime = int64_t(3600) * 1000000000;
// Other processes write too: after so many writes of our own the directory is counted again.
static constexpr unsigned writesBetweenCounts = 64;

static std::string fileName(const Key &key) { return key.hex() + ".kiln"; }

static std::optional<Key> keyOfFile(StringRef name) {
  if (!name.consume_back(".kiln"))
    return std::nullopt;
  return Key::fromHex(name);
}

static BLAKE3Result<32> checksum(StringRef file) {
  BLAKE3 hasher;
  hasher.update(file.take_front(checksumAt));
  hasher.update(file.drop_front(headerSize));
  BLAKE3Result<32> result;
  hasher.final(result);
  return result;
}

static std::string encode(const Key &key, char kind, StringRef payload) {
  std::string file(headerSize, '\0');
  std::memcpy(file.data(), magic, sizeof(magic));
  file[8] = formatVersion;
  file[9] = kind;
  std::memcpy(file.data() + keyAt, key.bytes.data(), 32);
  support::endian::write64le(file.data() + sizeAt, payload.size());
  file += payload;
  auto sum = checksum(file);
  std::memcpy(file.data() + checksumAt, sum.data(), 32);
  return file;
}

/// The entry, or in `why` what is wrong with the file.
static std::optional<DiskCache::Entry> decode(const Key &key, StringRef file, std::string &why) {
  auto wrong = [&](const Twine &what) {
    why = what.str();
    return std::nullopt;
  };
  if (file.size() < headerSize || std::memcmp(file.data(), magic, sizeof(magic)) != 0)
    return wrong("it is not a cache entry");
  if (file[8] != formatVersion)
    return wrong("it is of format version " + Twine(int(file[8])));
  if (std::memcmp(file.data() + keyAt, key.bytes.data(), 32) != 0)
    return wrong("it is the entry of another key");
  uint64_t size = support::endian::read64le(file.data() + sizeAt);
  if (size != file.size() - headerSize)
    return wrong("expected " + Twine(size) + " bytes of payload, got " +
                 Twine(file.size() - headerSize));
  if (std::memcmp(checksum(file).data(), file.data() + checksumAt, 32) != 0)
    return wrong("its checksum does not match");

  DiskCache::Entry entry;
  StringRef payload = file.drop_front(headerSize);
  if (file[9] == kindAlias && payload.size() == 32) {
    entry.alias.emplace();
    std::memcpy(entry.alias->bytes.data(), payload.data(), 32);
    return entry;
  }
  if (file[9] != kindArtifact)
    return wrong("it is of an unknown kind");
  Expected<Artifact> artifact = Artifact::deserialize(payload.str());
  if (!artifact)
    return wrong(toString(artifact.takeError()));
  entry.artifact = std::move(*artifact);
  return entry;
}

//===- One entry ----------------------------------------------------------------------------===//

std::optional<DiskCache::Entry> DiskCache::get(const Key &key) {
  std::string name = fileName(key), why;
  std::optional<std::string> bytes = files.read(name);
  if (!bytes)
    return std::nullopt;
  std::optional<Entry> entry = decode(key, *bytes, why);
  if (!entry) {
    files.remove(name);
    std::lock_guard<std::mutex> lock(mutex);
    ++counts.corrupt;
    return std::nullopt;
  }
  files.touch(name);
  return entry;
}

void DiskCache::put(const Key &key, const Artifact &artifact) {
  write(key, kindArtifact, artifact.serialized());
}

void DiskCache::putAlias(const Key &key, const Key &to) {
  write(key, kindAlias, toStringRef(to.bytes));
}

void DiskCache::remove(const Key &key) { files.remove(fileName(key)); }

void DiskCache::write(const Key &key, char kind, StringRef payload) {
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (!degraded.empty())
      return;
  }
  std::string bytes = encode(key, kind, payload);
  if (bytes.size() > limit)
    return;
  int error = files.write(fileName(key), bytes);
  if (error == ENOSPC || error == EDQUOT) {
    // Our own older entries may be what fills it.
    evict(usage().first / 2);
    error = files.write(fileName(key), bytes);
  }
  bool count;
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (error) {
      degraded = "cache directory '" + files.path() + "' cannot be written (" +
                 std::strerror(error) + "); compiled kernels are kept in memory only";
      return;
    }
    estimate += bytes.size();
    count = estimate > limit || writesUntilCount == 0;
    writesUntilCount = count ? writesBetweenCounts : writesUntilCount - 1;
  }
  if (!count)
    return;
  uint64_t total = usage().first;
  if (total > limit) {
    // Some room at once, or every later write would count and evict again.
    evict(limit - limit / 8);
    total = usage().first;
  }
  std::lock_guard<std::mutex> lock(mutex);
  estimate = total;
}

//===- All of them --------------------------------------------------------------------------===//

std::pair<uint64_t, uint64_t> DiskCache::usage() const {
  uint64_t bytes = 0, entries = 0;
  files.forEach([&](const CacheDirectory::File &file) {
    bytes += file.bytes;
    entries += keyOfFile(file.name).has_value();
  });
  return {bytes, entries};
}

/// Removes entries, oldest use first, until at most `target` bytes are left.
uint64_t DiskCache::evict(uint64_t target) {
  std::vector<CacheDirectory::File> all;
  uint64_t total = 0, removed = 0;
  timespec now;
  ::clock_gettime(CLOCK_REALTIME, &now);
  int64_t debris = int64_t(now.tv_sec) * 1000000000 - temporaryLifetime;
  files.forEach([&](const CacheDirectory::File &file) {
    if (!keyOfFile(file.name)) {
      // Temporary files and locks of writers that were killed, and entries of no key.
      if (file.modified < debris)
        files.remove(file.name);
      return;
    }
    total += file.bytes;
    all.push_back(file);
  });
  std::sort(all.begin(), all.end(),
            [](auto &left, auto &right) { return left.modified < right.modified; });
  for (const CacheDirectory::File &file : all) {
    if (total <= target)
      break;
    if (files.remove(file.name))
      continue;
    total -= file.bytes;
    ++removed;
  }
  std::lock_guard<std::mutex> lock(mutex);
  counts.evicted += removed;
  return removed;
}

uint64_t DiskCache::prune(uint64_t maxBytes) { return evict(maxBytes); }

std::vector<DiskCache::Listed> DiskCache::list() {
  std::vector<Listed> all;
  files.forEach([&](const CacheDirectory::File &file) {
    std::optional<Key> key = keyOfFile(file.name);
    std::optional<std::string> bytes = key ? files.read(file.name) : std::nullopt;
    std::string why;
    if (!bytes)
      return;
    if (std::optional<Entry> entry = decode(*key, *bytes, why))
      all.push_back({*key, std::move(*entry), file.bytes, file.modified / 1000000000});
  });
  std::sort(all.begin(), all.end(), [](auto &left, auto &right) {
    return left.used != right.used ? left.used > right.used : left.key < right.key;
  });
  return all;
}

uint64_t DiskCache::verify(std::vector<std::pair<std::string, std::string>> &removed) {
  std::vector<std::string> names;
  files.forEach([&](const CacheDirectory::File &file) {
    if (StringRef(file.name).ends_with(".kiln"))
      names.push_back(file.name);
  });
  for (const std::string &name : names) {
    std::optional<Key> key = keyOfFile(name);
    std::optional<std::string> bytes = files.read(name);
    std::string why;
    if (!key)
      why = "its name is not a key";
    else if (!bytes)
      why = "it is not a regular file of yours that only you can write";
    else if (decode(*key, *bytes, why))
      continue;
    // It may have been evicted meanwhile, which is no fault of it.
    if (!files.stat(name))
      continue;
    files.remove(name);
    removed.emplace_back(name, why);
  }
  std::lock_guard<std::mutex> lock(mutex);
  counts.corrupt += removed.size();
  return names.size();
}

DiskCache::Stats DiskCache::stats() const {
  std::lock_guard<std::mutex> lock(mutex);
  return counts;
}

std::string DiskCache::notice() const {
  std::lock_guard<std::mutex> lock(mutex);
  return degraded;
}
