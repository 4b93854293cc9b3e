// Callers of older and of newer headers, and the codes that Base.h promises.
#include "Support.h"
#include <cstring>
#include <random>
#include <vector>

using namespace kiln::testing;
using ::testing::AllOf;
using ::testing::HasSubstr;

namespace {
/// A structure as the headers of another version have it: of `size` bytes, of which those behind
/// ours are `tail`.
template <typename T>
class OfVersion {
public:
  OfVersion(const T &ours, size_t size, uint8_t tail = 0) : words((size + 15) / 8, 0) {
    auto *bytes = reinterpret_cast<uint8_t *>(words.data());
    if (size > sizeof(T))
      std::memset(bytes + sizeof(T), tail, size - sizeof(T));
    std::memcpy(bytes, &ours, std::min(size, sizeof(T)));
    std::memcpy(bytes + offsetof(T, struct_size), &size, sizeof(size));
  }
  const T *get() const { return reinterpret_cast<const T *>(words.data()); }

private:
  std::vector<uint64_t> words;
};

KilnErrorCode codeOfCompile(const KilnCompileRequest &request) {
  KilnArtifact *artifact = nullptr;
  KilnErrorCode code = codeOf(kilnCompile(&request, &artifact));
  kilnArtifactDestroy(artifact);
  return code;
}
} // namespace

TEST(CAPIVersions, RequestsOfNewerCallersCompileIfTheyAskForNothingNew) {
  KilnCompileRequest request = requestOf(copySource);
  KilnKey ours, theirs;
  ASSERT_EQ(kilnCompileRequestKey(&request, &ours), nullptr);
  for (size_t more : {1, 8, 64, 1000}) {
    OfVersion<KilnCompileRequest> newer(request, sizeof(request) + more);
    KilnArtifact *artifact = nullptr;
    EXPECT_EQ(messageOf(kilnCompile(newer.get(), &artifact)), "") << more;
    kilnArtifactDestroy(artifact);
    EXPECT_EQ(messageOf(kilnCompileRequestKey(newer.get(), &theirs)), "");
    EXPECT_EQ(std::memcmp(&ours, &theirs, sizeof(ours)), 0);
    OfVersion<KilnCompileRequest> asking(request, sizeof(request) + more, 1);
    Owned<KilnError> error(kilnCompile(asking.get(), &artifact));
    EXPECT_EQ(kilnErrorGetCode(error.get()), KILN_ERROR_INVALID_ARGUMENT);
    EXPECT_THAT(text(kilnErrorGetMessage(error.get())),
                AllOf(HasSubstr("expected zeros behind the"), HasSubstr("a newer library")));
  }
}

TEST(CAPIVersions, SizesThatNoVersionHasAreErrors) {
  KilnCompileRequest request = requestOf(copySource);
  for (size_t size : {size_t(0), size_t(8), sizeof(request) - 8, size_t(1) << 20, ~size_t(0)}) {
    request.struct_size = size;
    EXPECT_EQ(codeOfCompile(request), KILN_ERROR_INVALID_ARGUMENT) << size;
  }
}

/// Any size and any bytes behind the structure: accepted or refused, and never read beyond it (the
/// sanitizers and the allocator's guards would tell).
TEST(CAPIVersions, RandomSizes) {
  std::random_device seed;
  std::mt19937 random(seed());
  KilnCompileRequest request = requestOf(copySource);
  request.isolation = KILN_ISOLATION_NONE;
  KilnLaunchOptions options;
  kilnLaunchOptionsInit(&options);
  KilnFunction *function = nullptr;
  ASSERT_EQ(kilnFunctionCreate("f", nullptr, 0, &function), nullptr);
  for (int i = 0; i < 300; ++i) {
    size_t size = sizeof(size_t) + random() % 400;
    uint8_t tail = random() % 2;
    OfVersion<KilnCompileRequest> other(request, size, tail);
    KilnKey key;
    bool isRight = size >= sizeof(request) && (size == sizeof(request) || !tail);
    EXPECT_EQ(codeOf(kilnCompileRequestKey(other.get(), &key)),
              isRight ? KILN_OK : KILN_ERROR_INVALID_ARGUMENT)
        << size << " " << int(tail);
    OfVersion<KilnLaunchOptions> launch(options, size, tail);
    KilnString missed{};
    KilnError *error = nullptr;
    KilnLaunchStatus status =
        kilnFunctionLaunch(function, nullptr, 0, launch.get(), &missed, &error);
    isRight = size >= offsetof(KilnLaunchOptions, cancelled) &&
              (size <= sizeof(KilnLaunchOptions) || !tail);
    EXPECT_EQ(status, isRight ? KILN_LAUNCH_MISS : KILN_LAUNCH_FAILED) << size << " " << int(tail);
    EXPECT_EQ(codeOf(error), isRight ? KILN_OK : KILN_ERROR_INVALID_ARGUMENT);
  }
  kilnFunctionDestroy(function);
}

TEST(CAPIVersions, UnknownNamesGiveTheCodesOfTheirKind) {
  for (KilnIsolation isolation : {KILN_ISOLATION_NONE, KILN_ISOLATION_WORKER}) {
    KilnCompileRequest request = requestOf(copySource);
    request.isolation = isolation;
    request.target = "nonsense";
    EXPECT_EQ(codeOfCompile(request), KILN_ERROR_INVALID_ARGUMENT);
    request.target = "cpu:nonsense";
    EXPECT_EQ(codeOfCompile(request), KILN_ERROR_INVALID_ARGUMENT);
    request.target = "cpu";
    request.kernel = "nonsense";
    EXPECT_EQ(codeOfCompile(request), KILN_ERROR_NOT_FOUND);
    request.kernel = nullptr;
    request.options = "nonsense=1";
    EXPECT_EQ(codeOfCompile(request), KILN_ERROR_INVALID_ARGUMENT);
    for (const char *twice : {"from=tile from=layout", "stop-after=tile stop-after=llvm"}) {
      request.options = twice;
      EXPECT_EQ(codeOfCompile(request), KILN_ERROR_INVALID_ARGUMENT) << twice;
    }
    request.options = nullptr;
    for (const char *target : {",", "cpu,", ",cpu:x86-64-v2", "cpu:x86-64-v2,cpu:x86-64-v2"}) {
      request.target = target;
      EXPECT_EQ(codeOfCompile(request), KILN_ERROR_INVALID_ARGUMENT) << target;
    }
    request.target = "cpu";
    request.fast_math = 2;
    EXPECT_EQ(codeOfCompile(request), KILN_ERROR_INVALID_ARGUMENT);
    request.fast_math = 0;
    const char *stage = "nonsense";
    request.keep_stages = &stage;
    request.num_keep_stages = 1;
    EXPECT_EQ(codeOfCompile(request), KILN_ERROR_INVALID_ARGUMENT);
    request.num_keep_stages = 0;
    request.max_source_bytes = 10;
    EXPECT_EQ(codeOfCompile(request), KILN_ERROR_REFUSED);
  }
  KilnDevice *device = nullptr;
  for (const char *name : {"nonsense:0", "emu:nonsense", "emu:", "emu:cpu", "cpu:3"})
    EXPECT_EQ(codeOf(kilnDeviceOpen(name, &device)), KILN_ERROR_NOT_FOUND) << name;
  KilnBuffer *identity = nullptr;
  for (const char *name : {"nonsense", "emu:nonsense", "cpu,nonsense", ","})
    EXPECT_EQ(codeOf(kilnTargetIdentity(name, &identity)), KILN_ERROR_NOT_FOUND) << name;
  for (const char *name : {"", "cpu"}) {
    ASSERT_EQ(codeOf(kilnTargetIdentity(name, &identity)), KILN_OK) << name;
    kilnBufferDestroy(identity);
  }
}
