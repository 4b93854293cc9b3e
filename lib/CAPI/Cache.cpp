// kiln-c/Cache.h.
#include "Objects.h"

using namespace kiln;
using namespace kiln::capi;
using namespace llvm;

KilnError *kilnCacheOpen(const char *directory, uint64_t max_bytes, KilnCache **out) {
  if (!out)
    return reportNull("kilnCacheOpen", "out");
  std::optional<StringRef> path;
  if (directory)
    path = directory;
  Expected<std::unique_ptr<Cache>> cache = Cache::open(path, max_bytes);
  if (!cache)
    return report(cache.takeError());
  *out = new KilnCache{std::move(*cache)};
  return nullptr;
}
void kilnCacheClose(KilnCache *cache) { delete cache; }

//===- Entries ------------------------------------------------------------------------------===//

KilnError *kilnCacheGet(KilnCache *cache, const KilnKey *key, KilnArtifact **out) {
  if (!cache || !key || !out)
    return reportNull("kilnCacheGet", "cache, key and out");
  std::optional<Artifact> artifact = cache->cache->get(unwrap(key));
  *out = artifact ? new KilnArtifact{std::move(*artifact)} : nullptr;
  return nullptr;
}

KilnError *kilnCachePut(KilnCache *cache, const KilnKey *key, const KilnArtifact *artifact) {
  if (!cache || !key || !artifact)
    return reportNull("kilnCachePut", "cache, key and artifact");
  cache->cache->put(unwrap(key), artifact->artifact);
  return nullptr;
}

KilnError *kilnCacheAlias(KilnCache *cache, const KilnKey *from, const KilnKey *to) {
  if (!cache || !from || !to)
    return reportNull("kilnCacheAlias", "cache, from and to");
  cache->cache->alias(unwrap(from), unwrap(to));
  return nullptr;
}

KilnError *kilnCacheBegin(KilnCache *cache, const KilnKey *key, KilnArtifact **out, int32_t *hit) {
  if (!cache || !key || !out)
    return reportNull("kilnCacheBegin", "cache, key and out");
  Cache::Hit where = Cache::Hit::None;
  std::optional<Artifact> artifact = cache->cache->begin(unwrap(key), &where);
  *out = artifact ? new KilnArtifact{std::move(*artifact)} : nullptr;
  if (hit)
    *hit = int32_t(where);
  return nullptr;
}

KilnError *kilnCacheEnd(KilnCache *cache, const KilnKey *key, const KilnArtifact *artifact) {
  if (!cache || !key)
    return reportNull("kilnCacheEnd", "cache and key");
  std::optional<Artifact> made;
  if (artifact)
    made = artifact->artifact;
  cache->cache->end(unwrap(key), made);
  return nullptr;
}

KilnError *kilnCacheGetOrCompile(KilnCache *cache, const KilnKey *key,
                                 const KilnCompileRequest *request, KilnArtifact **out,
                                 int32_t *hit) {
  if (!cache || !request || !out)
    return reportNull("kilnCacheGetOrCompile", "cache, request and out");
  Key address;
  if (key)
    address = unwrap(key);
  else if (KilnError *error = requestKey(*request, address))
    return error;
  Cache::Hit where = Cache::Hit::None;
  std::optional<Artifact> artifact = cache->cache->begin(address, &where);
  if (!artifact) {
    KilnError *error = capi::compile(*request, artifact);
    cache->cache->end(address, artifact);
    if (error)
      return error;
  }
  *out = new KilnArtifact{std::move(*artifact)};
  if (hit)
    *hit = int32_t(where);
  return nullptr;
}

KilnError *kilnCacheRemove(KilnCache *cache, const KilnKey *key) {
  if (!cache || !key)
    return reportNull("kilnCacheRemove", "cache and key");
  cache->cache->remove(unwrap(key));
  return nullptr;
}

//===- Looking after it ---------------------------------------------------------------------===//

KilnError *kilnCacheDescribe(KilnCache *cache, KilnBuffer **json) {
  if (!cache || !json)
    return reportNull("kilnCacheDescribe", "cache and json");
  Cache::Stats stats = cache->cache->stats();
  json::Object object{{"memory_hits", stats.memoryHits},
                      {"disk_hits", stats.diskHits},
                      {"misses", stats.misses},
                      {"memory_bytes", stats.memoryBytes},
                      {"max_memory_bytes", stats.maxMemoryBytes},
                      {"directory", nullptr},
                      {"notice", nullptr},
                      {"max_bytes", 0},
                      {"bytes", 0},
                      {"entries", 0},
                      {"corrupt", 0},
                      {"evicted", 0}};
  if (DiskCache *disk = cache->cache->disk()) {
    auto [bytes, entries] = disk->usage();
    DiskCache::Stats counts = disk->stats();
    object["directory"] = disk->directory().path();
    object["max_bytes"] = disk->maxBytes();
    object["bytes"] = bytes;
    object["entries"] = entries;
    object["corrupt"] = counts.corrupt;
    object["evicted"] = counts.evicted;
  }
  if (std::string notice = cache->cache->notice(); !notice.empty())
    object["notice"] = notice;
  return give(std::move(object), json);
}

KilnError *kilnCacheNotice(KilnCache *cache, KilnBuffer **text) {
  if (!cache || !text)
    return reportNull("kilnCacheNotice", "cache and text");
  *text = new KilnBuffer{cache->cache->notice()};
  return nullptr;
}

KilnError *kilnCacheList(KilnCache *cache, KilnBuffer **json) {
  if (!cache || !json)
    return reportNull("kilnCacheList", "cache and json");
  json::Array all;
  if (DiskCache *disk = cache->cache->disk())
    for (const DiskCache::Listed &listed : disk->list()) {
      json::Object entry{{"key", listed.key.hex()},
                         {"kind", listed.entry.artifact ? "artifact" : "alias"},
                         {"bytes", listed.bytes},
                         {"used", listed.used}};
      if (listed.entry.artifact)
        for (const char *name : {"kernel", "target", "compiler"})
          entry[name] = listed.entry.artifact->metadataString(name).str();
      else
        entry["alias"] = listed.entry.alias->hex();
      all.push_back(std::move(entry));
    }
  return give(std::move(all), json);
}

KilnError *kilnCachePrune(KilnCache *cache, uint64_t max_bytes, uint64_t *removed) {
  if (!cache)
    return reportNull("kilnCachePrune", "cache");
  DiskCache *disk = cache->cache->disk();
  uint64_t count = disk ? disk->prune(max_bytes) : 0;
  if (removed)
    *removed = count;
  return nullptr;
}

KilnError *kilnCacheVerify(KilnCache *cache, KilnBuffer **json) {
  if (!cache || !json)
    return reportNull("kilnCacheVerify", "cache and json");
  std::vector<std::pair<std::string, std::string>> removed;
  uint64_t checked = 0;
  if (DiskCache *disk = cache->cache->disk())
    checked = disk->verify(removed);
  json::Array list;
  for (auto &[file, reason] : removed)
    list.push_back(json::Object{{"file", file}, {"reason", reason}});
  return give(json::Object{{"checked", checked}, {"removed", std::move(list)}}, json);
}
