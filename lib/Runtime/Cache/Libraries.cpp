// The libraries behind an artifact, by their contents.
#include "Libraries.h"
#include "kiln/Runtime/Cache/Key.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include <mutex>

using namespace kiln;
using namespace llvm;

/// The hash of a file's contents, read again only when its size or time has changed; empty if it
/// cannot be read.
static std::string getHash(StringRef path) {
  static std::mutex mutex;
  static StringMap<std::pair<std::string, std::string>> known;
  sys::fs::file_status status;
  if (sys::fs::status(path, status))
    return "";
  int64_t time = status.getLastModificationTime().time_since_epoch().count();
  std::string stamp = std::to_string(status.getSize()) + " " + std::to_string(time);
  std::lock_guard<std::mutex> lock(mutex);
  auto &[seen, hash] = known[path];
  if (seen != stamp) {
    auto bytes = MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/true,
                                       /*IsVolatile=*/true);
    hash = bytes ? Key::of((*bytes)->getBuffer()).hex() : "";
    seen = stamp;
  }
  return hash;
}

bool kiln::areLibrariesCurrent(const Artifact &artifact) {
  const json::Array *libraries = artifact.metadata().getArray("libraries");
  if (!libraries)
    return true;
  for (const json::Value &value : *libraries) {
    const json::Object *library = value.getAsObject();
    std::optional<StringRef> path, hash;
    if (library) {
      path = library->getString("path");
      hash = library->getString("hash");
    }
    if (!path || !hash || getHash(*path) != *hash)
      return false;
  }
  return true;
}
