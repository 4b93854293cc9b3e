// Compiling and caching through the C API: artifacts, diagnostics, keys, limits.
#include "Support.h"

using namespace kiln::testing;
using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(CAPI, NullsAreErrors) {
  EXPECT_THAT(messageOf(kilnCompile(nullptr, nullptr)), HasSubstr("got a null pointer"));
  EXPECT_THAT(messageOf(kilnDeviceOpen("cpu", nullptr)), HasSubstr("kilnDeviceOpen"));
  EXPECT_THAT(messageOf(kilnCacheGet(nullptr, nullptr, nullptr)), HasSubstr("cache"));
  EXPECT_EQ(kilnErrorGetCode(nullptr), KILN_OK);
  EXPECT_EQ(kilnErrorGetNumDiagnostics(nullptr), 0u);
  kilnErrorDestroy(nullptr);
  kilnBufferDestroy(nullptr);
  kilnArtifactDestroy(nullptr);
  kilnCacheClose(nullptr);
  kilnExecutableDestroy(nullptr);
}

TEST(CAPI, NullsHaveNothing) {
  for (KilnString string :
       {kilnErrorGetMessage(nullptr), kilnBufferGet(nullptr), kilnDeviceGetName(nullptr),
        kilnDeviceGetTarget(nullptr), kilnDeviceGetIdentity(nullptr),
        kilnExecutableGetMetadata(nullptr), kilnArtifactGetMetadata(nullptr),
        kilnArtifactGetSectionName(nullptr, 0), kilnErrorGetDiagnostic(nullptr, 0).text})
    EXPECT_EQ(text(string), "");
  EXPECT_EQ(kilnArtifactGetNumSections(nullptr), 0u);
  EXPECT_EQ(kilnExecutableGetDevice(nullptr), nullptr);
  int32_t type = -1, id = -1;
  kilnDeviceGetMemory(nullptr, &type, &id);
  kilnDeviceGetMemory(nullptr, nullptr, nullptr);
  EXPECT_EQ(type | id, 0);
  kilnCompileRequestInit(nullptr);
  kilnLaunchOptionsInit(nullptr);
  kilnKeyOfBytes(nullptr, 1, nullptr);
  EXPECT_EQ(kilnFunctionLaunch(nullptr, nullptr, 0, nullptr, nullptr, nullptr), KILN_LAUNCH_FAILED);
  KilnError *error = nullptr;
  EXPECT_EQ(kilnFunctionLaunch(nullptr, nullptr, 0, nullptr, nullptr, &error), KILN_LAUNCH_FAILED);
  EXPECT_THAT(messageOf(error), HasSubstr("kilnFunctionLaunch"));
}

TEST(CAPI, ACopyOfNoKindIsAnError) {
  KilnDevice *device = nullptr;
  ASSERT_EQ(messageOf(kilnDeviceOpen("cpu", &device)), "");
  int from = 1, to = 2;
  for (int kind : {-1, 3, 17})
    EXPECT_THAT(messageOf(kilnDeviceCopy(device, &to, &from, 4, KilnCopyKind(kind), nullptr)),
                HasSubstr("expected a kind of 0 to 2"));
  EXPECT_EQ(to, 2);
}

TEST(CAPI, ARequestThatWasNotInitialisedIsAnError) {
  KilnCompileRequest request = requestOf(copySource);
  request.struct_size = 8;
  KilnArtifact *artifact = nullptr;
  EXPECT_THAT(messageOf(kilnCompile(&request, &artifact)), HasSubstr("kilnCompileRequestInit"));
  request = requestOf(copySource);
  request.opt_level = 7;
  EXPECT_THAT(messageOf(kilnCompile(&request, &artifact)), HasSubstr("0 to 3, got 7"));
}

TEST(CAPI, CompilesAndKeepsWhatWasAskedFor) {
  KilnCompileRequest request = requestOf(copySource);
  const char *stages[] = {"tile", "asm"};
  request.keep_stages = stages;
  request.num_keep_stages = 2;
  Owned<KilnArtifact> artifact = compile(request);
  ASSERT_TRUE(artifact);
  EXPECT_THAT(text(kilnArtifactGetMetadata(artifact.get())),
              AllOf(HasSubstr("\"kernel\":\"copy\""), HasSubstr("\"target\":\"cpu\""),
                    HasSubstr("\"compiler\":\"" + text(kilnCompilerId()))));
  EXPECT_THAT(sectionOf(artifact.get(), "ir:tile"), HasSubstr("tile.kernel @copy"));
  EXPECT_NE(sectionOf(artifact.get(), "binary"), "");
  KilnString section;
  EXPECT_THAT(messageOf(kilnArtifactGetSection(artifact.get(), "nonsense", &section)),
              AllOf(HasSubstr("'copy'"), HasSubstr("'ir:tile'")));

  KilnBuffer *bytes = nullptr;
  ASSERT_EQ(kilnArtifactSerialize(artifact.get(), &bytes), nullptr);
  Owned<KilnBuffer> owned(bytes);
  KilnArtifact *again = nullptr;
  KilnString all = kilnBufferGet(bytes);
  ASSERT_EQ(kilnArtifactDeserialize(all.data, all.size, &again), nullptr);
  Owned<KilnArtifact> ownedAgain(again);
  EXPECT_EQ(sectionOf(again, "binary"), sectionOf(artifact.get(), "binary"));
  EXPECT_EQ(codeOf(kilnArtifactDeserialize(all.data, all.size - 1, &again)), KILN_ERROR_CORRUPT);
}

static void count(const KilnDiagnostic *diagnostic, void *user_data) {
  *static_cast<std::string *>(user_data) += text(diagnostic->text) + "\n";
}

TEST(CAPI, WrongSourcesGiveDiagnosticsWithPlaces) {
  std::string source = copySource, seen;
  source.replace(source.find("tensor<128xf32>, !tile"), 15, "tensor<128xf16>");
  KilnCompileRequest request = requestOf(source);
  request.diagnostic = count;
  request.user_data = &seen;
  KilnArtifact *artifact = nullptr;
  Owned<KilnError> error(kilnCompile(&request, &artifact));
  ASSERT_TRUE(error);
  EXPECT_EQ(kilnErrorGetCode(error.get()), KILN_ERROR_COMPILE);
  ASSERT_GE(kilnErrorGetNumDiagnostics(error.get()), 1u);
  KilnDiagnostic diagnostic = kilnErrorGetDiagnostic(error.get(), 0);
  EXPECT_EQ(diagnostic.severity, KILN_SEVERITY_ERROR);
  EXPECT_EQ(diagnostic.parent, -1);
  EXPECT_EQ(text(diagnostic.file), "test.mlir");
  EXPECT_EQ(diagnostic.line, 12u);
  EXPECT_GT(diagnostic.column, 0u);
  EXPECT_EQ(seen.find(text(diagnostic.text)), 0u);
  EXPECT_EQ(text(kilnErrorGetDiagnostic(error.get(), 1000).text), "");
}

TEST(CAPI, SourcesOverTheirLimitsAreRefused) {
  KilnArtifact *artifact = nullptr;
  KilnCompileRequest request = requestOf(copySource);
  request.max_source_bytes = 100;
  EXPECT_THAT(messageOf(kilnCompile(&request, &artifact)),
              AllOf(HasSubstr("test.mlir"), HasSubstr("at most 100 bytes")));
  std::string deep(100000, '(');
  request = requestOf(deep);
  Owned<KilnError> error(kilnCompile(&request, &artifact));
  EXPECT_EQ(kilnErrorGetCode(error.get()), KILN_ERROR_REFUSED);
  EXPECT_THAT(text(kilnErrorGetMessage(error.get())), HasSubstr("test.mlir:1:201: "));
  std::string digits = "\n  " + std::string(100000, '7');
  request = requestOf(digits);
  EXPECT_THAT(messageOf(kilnCompile(&request, &artifact)),
              HasSubstr("test.mlir:2:3: expected a number of at most 1000 digits, got 100000"));
  // Brackets in strings and comments are text, arrows close nothing.
  std::string fine = "// " + deep + "\nmodule attributes {test.a = \"" + deep + "\\\"" + deep +
                     "\"} {" + copySource + "}\n";
  request = requestOf(fine);
  request.kernel = "copy";
  EXPECT_TRUE(compile(request));
  // The parser recurses for each operator of an affine expression, without any bracket.
  std::string chain = "module attributes {test.a = affine_map<(d0) -> (";
  for (int i = 0; i < 200000; ++i)
    chain += "- ";
  chain += "d0)>} {}";
  request = requestOf(chain);
  EXPECT_THAT(messageOf(kilnCompile(&request, &artifact)), HasSubstr("1000 operators"));
}

//===- Keys and the cache -------------------------------------------------------------------===//

static std::string keyOf(const KilnCompileRequest &request) {
  KilnKey key;
  EXPECT_EQ(messageOf(kilnCompileRequestKey(&request, &key)), "");
  return std::string(reinterpret_cast<const char *>(key.bytes), sizeof(key.bytes));
}

TEST(CAPI, EveryFieldThatMattersChangesTheKey) {
  std::string source = copySource, other = source + " ";
  KilnCompileRequest base = requestOf(source);
  std::string key = keyOf(base);
  EXPECT_EQ(keyOf(base), key);
  std::vector<std::string> keys{key};
  auto changed = [&](auto change) {
    KilnCompileRequest request = base;
    change(request);
    keys.push_back(keyOf(request));
  };
  const char *stages[] = {"tile"};
  changed([&](auto &r) { r.source = other.data(), r.source_size = other.size(); });
  changed([&](auto &r) { r.kernel = "copy"; });
  changed([&](auto &r) { r.source_name = "elsewhere.mlir"; });
  changed([&](auto &r) { r.opt_level = 2; });
  changed([&](auto &r) { r.fast_math = 1; });
  changed([&](auto &r) { r.vendor_math = 1; });
  changed([&](auto &r) { r.options = "a=b"; });
  changed([&](auto &r) { r.target = "other"; });
  changed([&](auto &r) { r.keep_stages = stages, r.num_keep_stages = 1; });
  for (size_t i = 0; i < keys.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      EXPECT_NE(keys[i], keys[j]) << i << " and " << j;
  KilnCompileRequest isolated = base;
  isolated.isolation = KILN_ISOLATION_WORKER;
  isolated.max_depth = 7;
  EXPECT_EQ(keyOf(isolated), key) << "how it is compiled is not what it compiles to";
}

TEST(CAPI, GetOrCompile) {
  TemporaryDirectory temporary;
  std::string source = copySource;
  KilnCompileRequest request = requestOf(source);
  for (int expected : {0, 2}) {
    KilnCache *opened = nullptr;
    ASSERT_EQ(messageOf(kilnCacheOpen((temporary / "cache").c_str(), 0, &opened)), "");
    Owned<KilnCache> cache(opened);
    for (int expectedHere : {expected, 1}) {
      KilnArtifact *artifact = nullptr;
      int32_t hit = -1;
      ASSERT_EQ(messageOf(kilnCacheGetOrCompile(opened, nullptr, &request, &artifact, &hit)), "");
      Owned<KilnArtifact> owned(artifact);
      EXPECT_EQ(hit, expectedHere);
      EXPECT_NE(sectionOf(artifact, "binary"), "");
    }
    KilnBuffer *json = nullptr;
    ASSERT_EQ(messageOf(kilnCacheList(opened, &json)), "");
    EXPECT_THAT(text(kilnBufferGet(Owned<KilnBuffer>(json).get())),
                AllOf(HasSubstr("\"kernel\":\"copy\""), HasSubstr("\"kind\":\"artifact\"")));
    ASSERT_EQ(messageOf(kilnCacheDescribe(opened, &json)), "");
    EXPECT_THAT(text(kilnBufferGet(Owned<KilnBuffer>(json).get())),
                AllOf(HasSubstr("\"entries\":1"), HasSubstr("\"notice\":null")));
    KilnBuffer *notice = nullptr;
    ASSERT_EQ(messageOf(kilnCacheNotice(opened, &notice)), "");
    EXPECT_EQ(text(kilnBufferGet(Owned<KilnBuffer>(notice).get())), "");
  }
}

TEST(CAPI, AFailedCompileIsNotKept) {
  KilnCache *opened = nullptr;
  ASSERT_EQ(messageOf(kilnCacheOpen("", 0, &opened)), "");
  Owned<KilnCache> cache(opened);
  std::string nonsense = "nonsense";
  KilnCompileRequest request = requestOf(nonsense);
  KilnArtifact *artifact = nullptr;
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(codeOf(kilnCacheGetOrCompile(opened, nullptr, &request, &artifact, nullptr)),
              KILN_ERROR_COMPILE);
}
