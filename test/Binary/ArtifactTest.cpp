// The artifact container: what goes in comes out, and no damage is believed.
#include "kiln/Binary/Artifact.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/Endian.h"
#include "gmock/gmock.h"
#include <random>

using namespace kiln;
using namespace llvm;

static Artifact example() {
  return Artifact::create(
      json::Object{{"kernel", "add"}, {"target", "cpu"}},
      {{"ir:tile", "module {}"}, {"binary", std::string("\0\1\2", 3)}, {"empty", ""}});
}

/// A file with a right checksum around whatever `change` did to it.
static std::string resealed(std::string file) {
  auto sum = BLAKE3::hash<32>(arrayRefFromStringRef(StringRef(file).drop_front(64)));
  std::memcpy(file.data() + 32, sum.data(), 32);
  return file;
}

static std::string failure(std::string bytes) {
  Expected<Artifact> artifact = Artifact::deserialize(std::move(bytes));
  return artifact ? "" : toString(artifact.takeError());
}

TEST(Artifact, RoundTrip) {
  Artifact made = example();
  Expected<Artifact> read = Artifact::deserialize(made.serialized().str());
  ASSERT_TRUE(bool(read));
  EXPECT_EQ(read->metadataString("kernel"), "add");
  ASSERT_EQ(read->numSections(), 3u);
  EXPECT_EQ(read->sectionName(1), "binary");
  EXPECT_EQ(read->section("ir:tile"), StringRef("module {}"));
  EXPECT_EQ(read->section("binary"), StringRef("\0\1\2", 3));
  EXPECT_EQ(read->section("empty"), StringRef(""));
  EXPECT_FALSE(read->section("ir:layout").has_value());
}

TEST(Artifact, SectionsAreAlignedAndEndInZero) {
  Artifact made = example();
  for (size_t i = 0; i < made.numSections(); ++i) {
    StringRef bytes = made.sectionBytes(i);
    EXPECT_EQ((bytes.data() - made.serialized().data()) % 64, 0);
    EXPECT_EQ(bytes.data()[bytes.size()], '\0');
  }
  EXPECT_EQ(made.metadataText().data()[made.metadataText().size()], '\0');
}

TEST(Artifact, MetadataCanBeAdded) {
  Artifact more = example().withMetadata(json::Object{{"compiler", "c"}, {"target", "x"}});
  EXPECT_EQ(more.metadataString("kernel"), "add");
  EXPECT_EQ(more.metadataString("compiler"), "c");
  EXPECT_EQ(more.metadataString("target"), "x");
  EXPECT_EQ(more.section("ir:tile"), StringRef("module {}"));
}

TEST(Artifact, EveryTruncationIsAnError) {
  std::string file = example().serialized().str();
  for (size_t size = 0; size < file.size(); ++size)
    EXPECT_NE(failure(file.substr(0, size)), "") << "cut to " << size;
  EXPECT_NE(failure(file + "x"), "");
}

TEST(Artifact, EveryFlippedByteIsAnError) {
  std::string file = example().serialized().str();
  for (size_t at = 0; at < file.size(); ++at) {
    std::string broken = file;
    broken[at] ^= 0x40;
    EXPECT_NE(failure(broken), "") << "flipped byte " << at;
  }
}

// A hostile file may carry a right checksum: nothing may be read outside of it.
TEST(Artifact, HostileSizesAreErrors) {
  std::string file = example().serialized().str();
  std::mt19937_64 random(std::random_device{}());
  for (int round = 0; round < 20000; ++round) {
    std::string broken = file;
    for (int i = 0; i < 3; ++i)
      broken[8 + random() % (broken.size() - 8)] = char(random());
    Expected<Artifact> artifact = Artifact::deserialize(resealed(broken));
    if (!artifact) {
      consumeError(artifact.takeError());
      continue;
    }
    uint64_t sum = 0;
    for (size_t i = 0; i < artifact->numSections(); ++i)
      for (char c : artifact->sectionBytes(i))
        sum += uint8_t(c);
    EXPECT_LE(sum, 255 * file.size() * artifact->numSections());
  }
  std::string many = file;
  support::endian::write32le(many.data() + 12, 0xffffffff);
  EXPECT_THAT(failure(resealed(many)), testing::HasSubstr("sizes do not fit"));
  std::string large = file;
  support::endian::write64le(large.data() + 24, ~uint64_t(0));
  EXPECT_THAT(failure(resealed(large)), testing::HasSubstr("sizes do not fit"));
}

TEST(Artifact, BracketsInStringsAreText) {
  std::string text(100, '{');
  Artifact made = Artifact::create(json::Object{{"kernel", "\\\"" + text}}, {});
  EXPECT_EQ(made.metadataString("kernel"), "\\\"" + text);
}

TEST(Artifact, DeepMetadataIsRefusedBeforeItIsParsed) {
  std::string deep = "{\"a\":" + std::string(100000, '[') + std::string(100000, ']') + "}";
  std::string file = example().serialized().str();
  std::string made = file.substr(0, 64) + deep + '\0';
  support::endian::write32le(made.data() + 12, 0);
  support::endian::write64le(made.data() + 16, made.size());
  support::endian::write64le(made.data() + 24, deep.size());
  EXPECT_THAT(failure(resealed(made)), testing::HasSubstr("nest at most 32 deep"));
}
