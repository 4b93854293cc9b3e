// Writing and, without trust, reading the artifact file that Artifact.h describes.
#include "kiln/Binary/Artifact.h"
#include "kiln/Support/ParseJSON.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/raw_ostream.h"
#include <cstring>

using namespace kiln;
using namespace llvm;

static constexpr char magic[8] = {'K', 'I', 'L', 'N', 'A', 'R', 'T', '\0'};
static constexpr uint32_t formatVersion = 1;
static constexpr size_t headerSize = 64;
static constexpr size_t tableEntrySize = 24;
static constexpr size_t checksumEnd = 64;
static constexpr size_t sectionAlignment = 64;

namespace {
struct SectionRef {
  StringRef name, bytes;
};
} // namespace

struct Artifact::Storage {
  std::string file;
  StringRef metadataText;
  json::Object metadata;
  std::vector<SectionRef> sections;
};

static BLAKE3Result<32> checksum(StringRef file) {
  return BLAKE3::hash<32>(arrayRefFromStringRef(file.drop_front(checksumEnd)));
}

template <typename T>
static void put(std::string &out, size_t at, T value) {
  support::endian::write<T, llvm::endianness::little>(out.data() + at, value);
}

template <typename T>
static T get(StringRef in, size_t at) {
  return support::endian::read<T, llvm::endianness::little>(in.data() + at);
}

static Error corrupt(const Twine &what) {
  return createStringError(inconvertibleErrorCode(), "not a valid artifact: " + what);
}

//===- Writing ------------------------------------------------------------------------------===//

static std::string serialize(StringRef metadata, ArrayRef<Artifact::Section> sections) {
  size_t table = headerSize + metadata.size() + 1;
  size_t names = table + sections.size() * tableEntrySize;
  size_t at = names;
  for (const Artifact::Section &section : sections)
    at += section.name.size() + 1;

  std::string out(at, '\0');
  std::memcpy(out.data() + headerSize, metadata.data(), metadata.size());
  size_t nameAt = names;
  for (auto [i, section] : llvm::enumerate(sections)) {
    size_t offset = alignTo(out.size(), sectionAlignment);
    out.resize(offset);
    out += section.bytes;
    out += '\0';
    std::memcpy(out.data() + nameAt, section.name.data(), section.name.size());
    size_t entry = table + i * tableEntrySize;
    put<uint32_t>(out, entry, nameAt);
    put<uint32_t>(out, entry + 4, section.name.size());
    put<uint64_t>(out, entry + 8, offset);
    put<uint64_t>(out, entry + 16, section.bytes.size());
    nameAt += section.name.size() + 1;
  }
  std::memcpy(out.data(), magic, sizeof(magic));
  put<uint32_t>(out, 8, formatVersion);
  put<uint32_t>(out, 12, sections.size());
  put<uint64_t>(out, 16, out.size());
  put<uint64_t>(out, 24, metadata.size());
  BLAKE3Result<32> sum = checksum(out);
  std::memcpy(out.data() + 32, sum.data(), sum.size());
  return out;
}

Artifact Artifact::create(json::Object metadata, std::vector<Section> sections) {
  std::string text;
  raw_string_ostream(text) << json::Value(std::move(metadata));
  // What was written is read back, so that there is one place that lays out a Storage.
  return cantFail(deserialize(serialize(text, sections)));
}

Artifact Artifact::withMetadata(json::Object members) const {
  json::Object merged = metadata();
  for (auto &member : members)
    merged[member.first] = std::move(member.second);
  std::vector<Section> sections;
  for (const SectionRef &section : storage->sections)
    sections.push_back({section.name.str(), section.bytes.str()});
  return create(std::move(merged), std::move(sections));
}

//===- Reading ------------------------------------------------------------------------------===//

Expected<Artifact> Artifact::deserialize(std::string bytes) {
  auto storage = std::make_shared<Storage>();
  storage->file = std::move(bytes);
  StringRef file = storage->file;
  if (file.size() < headerSize)
    return corrupt("expected at least 64 bytes, got " + Twine(file.size()));
  if (std::memcmp(file.data(), magic, sizeof(magic)) != 0)
    return corrupt("it does not start with the magic bytes");
  if (uint32_t version = get<uint32_t>(file, 8); version != formatVersion)
    return corrupt("expected format version " + Twine(formatVersion) + ", got " + Twine(version));
  if (uint64_t size = get<uint64_t>(file, 16); size != file.size())
    return corrupt("expected " + Twine(size) + " bytes, got " + Twine(file.size()));
  if (std::memcmp(checksum(file).data(), file.data() + 32, 32) != 0)
    return corrupt("its checksum does not match");

  // The checksum finds accidents; what follows holds against a hostile file as well.
  uint64_t numSections = get<uint32_t>(file, 12), metadataSize = get<uint64_t>(file, 24);
  uint64_t room = file.size() - headerSize;
  if (metadataSize >= room || numSections * tableEntrySize > room - metadataSize - 1)
    return corrupt("its sizes do not fit");
  if (file[headerSize + metadataSize] != '\0')
    return corrupt("its metadata does not end with a zero byte");
  storage->metadataText = file.substr(headerSize, metadataSize);
  Expected<json::Value> parsed = parseJSON(storage->metadataText);
  if (!parsed)
    return corrupt("its metadata is not JSON: " + toString(parsed.takeError()));
  json::Object *object = parsed->getAsObject();
  if (!object)
    return corrupt("its metadata is not a JSON object");
  storage->metadata = std::move(*object);

  for (uint64_t i = 0; i < numSections; ++i) {
    size_t entry = headerSize + metadataSize + 1 + i * tableEntrySize;
    uint64_t nameAt = get<uint32_t>(file, entry), nameSize = get<uint32_t>(file, entry + 4);
    uint64_t offset = get<uint64_t>(file, entry + 8), size = get<uint64_t>(file, entry + 16);
    if (nameAt >= file.size() || nameSize >= file.size() - nameAt || offset >= file.size() ||
        size >= file.size() - offset)
      return corrupt("section " + Twine(i) + " lies outside the file");
    if (file[nameAt + nameSize] != '\0' || file[offset + size] != '\0')
      return corrupt("section " + Twine(i) + " does not end with a zero byte");
    storage->sections.push_back({file.substr(nameAt, nameSize), file.substr(offset, size)});
  }
  return Artifact(std::move(storage));
}

//===- Asking -------------------------------------------------------------------------------===//

StringRef Artifact::serialized() const { return storage->file; }
StringRef Artifact::metadataText() const { return storage->metadataText; }
const json::Object &Artifact::metadata() const { return storage->metadata; }
StringRef Artifact::metadataString(StringRef name) const {
  return storage->metadata.getString(name).value_or("");
}
size_t Artifact::numSections() const { return storage->sections.size(); }
StringRef Artifact::sectionName(size_t index) const { return storage->sections[index].name; }
StringRef Artifact::sectionBytes(size_t index) const { return storage->sections[index].bytes; }

std::optional<StringRef> Artifact::section(StringRef name) const {
  for (const SectionRef &section : storage->sections)
    if (section.name == name)
      return section.bytes;
  return std::nullopt;
}
