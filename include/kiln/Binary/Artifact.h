// A compiled kernel as one file: metadata in JSON and named sections.
//
// Layout, little-endian throughout:
//   0   8  magic "KILNART\0"
//   8   4  format version
//   12  4  number of sections
//   16  8  size of everything, this header included
//   24  8  size of the metadata
//   32 32  BLAKE3 over everything after this field
//   64     metadata; then a section table of {name offset u32, name size u32, offset u64,
//          size u64} entries; then the names; then the sections, each aligned to 64 bytes
// Metadata, names and sections are each followed by a zero byte, which no size counts.
// A reader checks the checksum before it believes a size, and every size after that.
#ifndef KILN_BINARY_ARTIFACT_H
#define KILN_BINARY_ARTIFACT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace kiln {

/// Built by the compiler, then immutable: copies share the bytes.
class Artifact {
public:
  struct Section {
    std::string name;
    std::string bytes;
  };

  /// The sections keep their order. `metadata` must be what kiln-c/Artifact.h
  /// describes.
  static Artifact create(llvm::json::Object metadata, std::vector<Section> sections);

  /// Checks everything; the error says what is wrong. The bytes are kept, so
  /// that sections are read in place.
  static llvm::Expected<Artifact> deserialize(std::string bytes);

  /// The whole file.
  llvm::StringRef serialized() const;

  /// Printed JSON, and the same parsed.
  llvm::StringRef metadataText() const;
  const llvm::json::Object &metadata() const;
  /// A member of the metadata, or the empty string.
  llvm::StringRef metadataString(llvm::StringRef name) const;

  size_t numSections() const;
  llvm::StringRef sectionName(size_t index) const;
  llvm::StringRef sectionBytes(size_t index) const;
  std::optional<llvm::StringRef> section(llvm::StringRef name) const;

  /// The same artifact with more members in its metadata (existing ones are
  /// replaced).
  Artifact withMetadata(llvm::json::Object members) const;

private:
  struct Storage;
  explicit Artifact(std::shared_ptr<const Storage> storage) : storage(std::move(storage)) {}
  std::shared_ptr<const Storage> storage;
};

} // namespace kiln

#endif // KILN_BINARY_ARTIFACT_H
