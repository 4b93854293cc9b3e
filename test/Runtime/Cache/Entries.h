// Artifacts and keys for the cache's tests.
#ifndef KILN_TEST_RUNTIME_CACHE_ENTRIES_H
#define KILN_TEST_RUNTIME_CACHE_ENTRIES_H

#include "../Support/TemporaryDirectory.h"
#include "kiln/Binary/Artifact.h"
#include "kiln/Runtime/Cache/Cache.h"
#include "gmock/gmock.h"
#include <fstream>

namespace kiln::testing {

inline Key keyOf(int number) { return Key::of("key " + std::to_string(number)); }

/// An artifact that says which one it is, of about so many bytes.
inline Artifact artifactOf(int number, size_t bytes = 1000) {
  std::string text(bytes, 'x');
  for (size_t i = 0; i < bytes; ++i)
    text[i] = char('a' + (i * 7 + number) % 26);
  return Artifact::create(llvm::json::Object{{"kernel", "k" + std::to_string(number)}},
                          {{"binary", text}});
}

inline bool isArtifactOf(const std::optional<Artifact> &artifact, int number) {
  return artifact && artifact->metadataString("kernel") == "k" + std::to_string(number);
}

inline std::string fileOf(const std::string &directory, const Key &key,
                          const std::string &suffix = ".kiln") {
  std::string hex = key.hex();
  return directory + "/v1/" + hex.substr(0, 2) + "/" + hex + suffix;
}

inline std::unique_ptr<Cache> openCache(const std::string &directory, uint64_t maxBytes = 0) {
  return llvm::cantFail(Cache::open(llvm::StringRef(directory), maxBytes));
}

inline std::string slurp(const std::string &path) {
  std::ifstream in(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}
inline void spill(const std::string &path, const std::string &bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

} // namespace kiln::testing

#endif // KILN_TEST_RUNTIME_CACHE_ENTRIES_H
