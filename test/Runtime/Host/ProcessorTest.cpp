// Artifacts that say which processor they need, and those that hold several versions.
#include "../Support/Kernels.h"
#include "kiln/Runtime/Launch/Function.h"
#include "gmock/gmock.h"

using namespace kiln;
using namespace kiln::testing;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

namespace {
Artifact needing(const std::string &features, const std::string &more = "") {
  return countArtifact("nogrid", R"(,"processor_features":[)" + features + "]" + more);
}

/// Of versions in this order, the whole under the name of the first.
Artifact versionsOf(std::vector<Artifact> versions) {
  llvm::json::Array entries;
  std::vector<Artifact::Section> sections;
  for (size_t i = 0; i < versions.size(); ++i) {
    std::string section = "version:" + std::to_string(i);
    entries.push_back(llvm::json::Object{{"target", "cpu:x86-64-v3"}, {"section", section}});
    sections.push_back({section, versions[i].serialized().str()});
  }
  llvm::json::Object metadata = versions.front().metadata();
  metadata["target"] = "cpu:x86-64-v3,cpu:aarch64";
  metadata["versions"] = std::move(entries);
  return Artifact::create(std::move(metadata), std::move(sections));
}

Failure load(const Artifact &artifact, ExecutablePtr *out = nullptr) {
  auto executable = llvm::cantFail(openDevice("cpu"))->load(artifact);
  if (!executable)
    return failureOf(executable.takeError());
  if (out)
    *out = *executable;
  return {};
}
} // namespace

TEST(Processor, WhatIsMissingIsNamed) {
  EXPECT_EQ(load(needing("")).text, "");
  Failure failure = load(needing(R"("sorcery","alchemy")"));
  EXPECT_EQ(failure.code, KILN_ERROR_UNSUPPORTED);
  EXPECT_THAT(failure.text,
              AllOf(HasSubstr("kernel 'nogrid': expected a processor with sorcery, alchemy, got "),
                    HasSubstr("which has not; compile for an older kind")));
  failure = load(needing("", R"(,"processor":"pdp11")"));
  EXPECT_EQ(failure.code, KILN_ERROR_UNSUPPORTED);
  EXPECT_THAT(failure.text, HasSubstr("expected a processor of pdp11, got one of "));
}

TEST(Processor, TheBestVersionThatRunsIsTaken) {
#ifdef __x86_64__
  const char *some = R"("sse2")", *more = R"("sse","sse2")";
#else
  const char *some = R"("neon")", *more = R"("fp-armv8","neon")";
#endif
  Artifact plain = needing("", R"(,"which":"plain")"),
           better = needing(some, R"(,"which":"better")"),
           best = needing(more, R"(,"which":"best")"),
           absent = needing(R"("sorcery")", R"(,"which":"absent")"),
           foreign = needing("", R"(,"processor":"pdp11","which":"foreign")");
  auto chosen = [](std::vector<Artifact> versions) {
    ExecutablePtr executable;
    EXPECT_EQ(load(versionsOf(std::move(versions)), &executable).text, "");
    return executable ? executable->metadata : "";
  };
  EXPECT_THAT(chosen({plain, absent, foreign}), HasSubstr("\"plain\""));
  EXPECT_THAT(chosen({absent, plain, best, better}), HasSubstr("\"best\""));
  EXPECT_THAT(chosen({better, plain}), HasSubstr("\"better\""));
  Failure failure = load(versionsOf({absent, foreign}));
  EXPECT_EQ(failure.code, KILN_ERROR_UNSUPPORTED);
  EXPECT_THAT(failure.text, AllOf(HasSubstr("none of the artifact's versions runs on this machine"),
                                  HasSubstr("sorcery"), HasSubstr("pdp11")));
}

TEST(Processor, VersionsAreNotTrusted) {
  Artifact whole = versionsOf({needing("")});
  llvm::json::Object metadata = whole.metadata();
  metadata["versions"] = llvm::json::Array{llvm::json::Object{{"section", "version:7"}}};
  EXPECT_EQ(load(Artifact::create(std::move(metadata), {})).code, KILN_ERROR_CORRUPT);
  metadata = whole.metadata();
  EXPECT_EQ(load(Artifact::create(std::move(metadata), {{"version:0", "no artifact"}})).code,
            KILN_ERROR_CORRUPT);
}
