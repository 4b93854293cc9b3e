// Files and streams that others may have written: artifacts, cache entries, locks, a worker's
// frames. Sizes and checksums are put right where that lets the rest be read.
#include "Harness.h"
#include "Worker.h"
#include "kiln/Runtime/Cache/DiskCache.h"
#include "kiln/Runtime/Cache/KeyLock.h"
#include "kiln/Runtime/Device/Plan.h"
#include "kiln/Support/ParseJSON.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <cstring>

using namespace kiln;
using namespace llvm;

/// An artifact whose size and checksum are as they should be.
static std::string mendArtifact(StringRef data) {
  std::string file = data.str();
  if (file.size() < 64)
    return file;
  support::endian::write64le(file.data() + 16, file.size());
  auto sum = BLAKE3::hash<32>(arrayRefFromStringRef(StringRef(file).drop_front(64)));
  std::memcpy(file.data() + 32, sum.data(), 32);
  return file;
}

void fuzz::fuzzArtifact(StringRef data) {
  for (bool mended : {false, true}) {
    std::string file = mended ? mendArtifact(data) : data.str();
    Expected<Artifact> artifact = Artifact::deserialize(file);
    if (!artifact) {
      if (!StringRef(toString(artifact.takeError())).starts_with("not a valid artifact: "))
        fail("expected an error that says what is wrong, got another for", data);
      continue;
    }
    if (artifact->serialized() != file)
      fail("expected an artifact that serialises as itself, got", data);
    for (size_t i = 0; i < artifact->numSections(); ++i)
      if (!artifact->section(artifact->sectionName(i)))
        fail("expected a section to be found by its name", data);
    consumeError(LaunchPlan::parse(*artifact).takeError());
    artifact->withMetadata(json::Object{{"compiler", "of the fuzzer"}});
  }
}

/// A directory of this process's own, where $TMPDIR says.
static DiskCache &getCache() {
  static DiskCache *cache = [] {
    SmallString<128> path;
    if (std::error_code code = sys::fs::createUniqueDirectory("kiln-fuzz", path))
      fuzz::fail("cannot make a cache directory", code.message());
    sys::path::append(path, "cache");
    Expected<CacheDirectory> directory = CacheDirectory::open(path.str().str());
    if (!directory)
      fuzz::fail("cannot make a cache directory", toString(directory.takeError()));
    return new DiskCache(std::move(*directory), 1 << 20);
  }();
  return *cache;
}

void fuzz::fuzzCache(StringRef data) {
  DiskCache &cache = getCache();
  Key key = Key::of("a key");
  Pieces pieces(data);
  bool isLock = pieces.byte() % 4 == 0;
  std::string file = pieces.rest.str();
  if (isLock) {
    std::string name = key.hex() + ".lock";
    cache.directory().remove(name);
    cache.directory().create(name, file);
    unsigned asked = 0;
    KeyLock lock(cache.directory(), key, [&] { return asked++ > 0; }, 1);
    return;
  }
  if (file.size() >= 88) { // its own key, size and checksum
    std::memcpy(file.data() + 16, key.bytes.data(), 32);
    support::endian::write64le(file.data() + 48, file.size() - 88);
    BLAKE3 hasher;
    hasher.update(StringRef(file).take_front(56));
    hasher.update(StringRef(file).drop_front(88));
    BLAKE3Result<32> sum;
    hasher.final(sum);
    std::memcpy(file.data() + 56, sum.data(), 32);
  }
  std::string name = key.hex() + ".kiln";
  cache.directory().write(name, file);
  cache.list();
  std::optional<DiskCache::Entry> entry = cache.get(key);
  if (!entry && cache.directory().stat(name))
    fail("expected an entry that does not verify to be removed", data);
  if (entry && entry->artifact.has_value() == entry->alias.has_value())
    fail("expected an artifact or an alias", data);
}

void fuzz::fuzzFrames(StringRef data) {
  std::string stream = data.str(), bytes;
  char kind;
  size_t taken = 0;
  while (capi::frame::decode(stream, kind, bytes)) {
    taken += 9 + bytes.size();
    if (Expected<json::Value> value = parseJSON(bytes)) {
      if (const json::Object *object = value->getAsObject())
        capi::toJSON(capi::diagnosticFromJSON(*object));
    } else {
      consumeError(value.takeError());
    }
    if (!StringRef(data)
             .substr(taken - 9 - bytes.size())
             .starts_with(capi::frame::encode(kind, bytes)))
      fail("expected a frame that encodes as itself, got", data);
  }
  if (taken + stream.size() != data.size())
    fail("expected frames and a rest that make up the stream", data);
}
