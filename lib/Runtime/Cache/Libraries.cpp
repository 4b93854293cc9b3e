// The libraries behind an artifact, by their contents.
#include "Libraries.h"
#include "kiln/Support/FileHash.h"

using namespace kiln;
using namespace llvm;

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
    if (!path || !hash || hashOfFile(*path) != hash->str())
      return false;
  }
  return true;
}
