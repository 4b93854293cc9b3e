// Kernels on the host: grids over threads, scratch and hidden memory, prints and asserts.
#include "../Support/Kernels.h"
#include "kiln/Runtime/Launch/Function.h"
#include "gmock/gmock.h"
#include <set>
#include <sstream>

using namespace kiln;
using namespace kiln::testing;
using ::testing::HasSubstr;

static Device &host() { return *llvm::cantFail(openDevice("cpu")); }
static ExecutablePtr load(const Artifact &artifact) {
  return llvm::cantFail(host().load(artifact));
}
static Failure launch(Executable &executable, std::vector<KilnArg> args,
                      const KilnLaunchOptions &options) {
  return failureOf(launchExecutable(executable, args, &options));
}

TEST(HostDevice, IsAlwaysThere) {
  EXPECT_EQ(&host(), &host());
  EXPECT_EQ(llvm::cantFail(deviceOfMemory({1, 0})), &host());
  EXPECT_EQ(llvm::cantFail(deviceOfMemory({0, 0})), &host());
  llvm::json::Object described = describeDevice(host());
  EXPECT_EQ(described.getString("name"), llvm::StringRef("cpu"));
  EXPECT_NE(host().identity, "");
  EXPECT_FALSE(bool(llvm::expectedToOptional(openDevice("cpu:3"))));
}

TEST(HostDevice, UnknownNamesAreErrors) {
  auto device = openDevice("abacus:0");
  Failure failure = failureOf(device.takeError());
  EXPECT_EQ(failure.code, KILN_ERROR_NOT_FOUND);
  EXPECT_THAT(failure.text, HasSubstr("'abacus:0'"));
  EXPECT_THAT(failure.text, HasSubstr("'cpu'"));
}

TEST(HostDevice, AnEmulatedDeviceNeedsAChip) {
  auto device = openDevice("emu");
  Failure failure = failureOf(device.takeError());
  EXPECT_EQ(failure.code, KILN_ERROR_NOT_FOUND);
  EXPECT_THAT(failure.text, HasSubstr("expected a chip to emulate"));
}

TEST(HostDevice, EveryProgramRunsOnce) {
  ExecutablePtr executable = load(countArtifact("nogrid"));
  for (auto grid : {std::array<int64_t, 3>{1, 1, 1}, {7, 1, 1}, {5, 3, 2}, {1000, 4, 1}}) {
    int64_t programs = grid[0] * grid[1] * grid[2];
    std::vector<int64_t> out(programs);
    Failure failure = launch(*executable, {pointer(out.data()), integer(programs)},
                             gridOf(grid[0], grid[1], grid[2]));
    EXPECT_EQ(failure.text, "");
    for (int64_t count : out)
      EXPECT_EQ(count, 1 + grid[1] * 1000);
  }
}

TEST(HostDevice, EmptyGridsLaunchNothing) {
  ExecutablePtr executable = load(countArtifact("nogrid"));
  int64_t out = 0;
  EXPECT_EQ(launch(*executable, {pointer(&out), integer(1)}, gridOf(0, 5, 5)).text, "");
  EXPECT_EQ(launch(*executable, {pointer(&out), integer(1)}, gridOf(5, 5, 0)).text, "");
  EXPECT_EQ(out, 0);
}

TEST(HostDevice, WrongGridsAreErrors) {
  ExecutablePtr executable = load(countArtifact("nogrid"));
  int64_t out = 0;
  std::vector<KilnArg> args{pointer(&out), integer(1)};
  EXPECT_THAT(launch(*executable, args, gridOf(-1)).text, HasSubstr("'nogrid'"));
  int64_t large = int64_t(1) << 40;
  EXPECT_THAT(launch(*executable, args, gridOf(large, large, 1)).text, HasSubstr("2^63"));
  KilnLaunchOptions none{};
  EXPECT_THAT(launch(*executable, args, none).text, HasSubstr("expected a grid"));
}

TEST(HostDevice, ACancelledLaunchIsAnErrorAndTheNextOneRuns) {
  ExecutablePtr executable = load(countArtifact("nogrid"));
  int64_t out[4] = {};
  std::vector<KilnArg> args{pointer(out), integer(4)};
  KilnLaunchOptions options = gridOf(int64_t(1) << 50);
  int asked = 0;
  options.user_data = &asked;
  options.cancelled = [](void *asked) -> int32_t { return ++*static_cast<int *>(asked) == 2; };
  Failure failure = launch(*executable, args, options);
  EXPECT_EQ(failure.code, KILN_ERROR_CANCELLED);
  EXPECT_EQ(failure.text, "kernel 'nogrid': the launch was cancelled");
  EXPECT_EQ(asked, 2);
  for (int64_t &count : out) {
    EXPECT_GT(count, 0);
    count = 0;
  }
  options = gridOf(4000);
  options.user_data = nullptr;
  options.cancelled = [](void *) -> int32_t { return 0; };
  EXPECT_EQ(launch(*executable, args, options).text, "");
  for (int64_t count : out)
    EXPECT_EQ(count, 1000 * 1001);
}

TEST(HostDevice, OptionsOfAnOlderLibraryHaveNoCallback) {
  ExecutablePtr executable = load(countArtifact("nogrid"));
  int64_t out = 0;
  KilnLaunchOptions options = gridOf(100);
  options.struct_size = offsetof(KilnLaunchOptions, cancelled);
  options.cancelled = [](void *) -> int32_t { std::abort(); };
  EXPECT_EQ(launch(*executable, {pointer(&out), integer(1)}, options).text, "");
  EXPECT_EQ(out, 100 * 1001);
}

TEST(HostDevice, ScratchIsEachThreadsOwn) {
  constexpr int64_t bytes = 5000, programs = 400;
  ExecutablePtr executable = load(countArtifact("scratch", R"(,"scratch_bytes":5000)"));
  std::vector<int64_t> out(programs);
  EXPECT_EQ(launch(*executable, {pointer(out.data()), integer(bytes)}, gridOf(programs)).text, "");
  for (int64_t i = 0; i < programs; ++i)
    EXPECT_EQ(out[i], (i & 255) * bytes);
}

TEST(HostDevice, TooMuchScratchIsAnError) {
  ExecutablePtr executable =
      load(countArtifact("nogrid", R"(,"scratch_bytes":4611686018427387904)"));
  int64_t out = 0;
  Failure failure = launch(*executable, {pointer(&out), integer(1)}, gridOf(4));
  EXPECT_EQ(failure.code, KILN_ERROR_OUT_OF_MEMORY);
  EXPECT_THAT(failure.text, HasSubstr("kernel 'nogrid'"));
}

TEST(HostDevice, WorkspacesAndCountersAreGiven) {
  ExecutablePtr executable = load(kernelArtifact("slow", R"({"has_grid":false,
    "arguments":[{"name":"out","kind":"pointer","type":"i64"}],
    "abi":[{"kind":"pointer","arg":0},{"kind":"workspace","bytes":64,"bytes_per_program":8},
           {"kind":"counter","bytes":4}]})"));
  for (int64_t programs : {1, 10, 5000, 3}) {
    int64_t out = 0;
    EXPECT_EQ(launch(*executable, {pointer(&out)}, gridOf(programs)).text, "");
    EXPECT_EQ(out, programs * (programs - 1) / 2);
  }
}

TEST(HostDevice, PrintsWholeLines) {
  ExecutablePtr executable = load(kernelArtifact("print", R"({"arguments":[],"abi":[]})"));
  ::testing::internal::CaptureStdout();
  Failure failure = launch(*executable, {}, gridOf(500));
  std::string text = ::testing::internal::GetCapturedStdout();
  EXPECT_EQ(failure.text, "");
  std::istringstream lines(text);
  std::set<std::string> seen;
  std::string dots, expected;
  for (int i = 0; i < 20; ++i)
    dots += " .";
  for (std::string line; std::getline(lines, line);)
    EXPECT_TRUE(seen.insert(line).second);
  EXPECT_EQ(seen.size(), 500u);
  for (int i = 0; i < 500; ++i)
    EXPECT_TRUE(seen.count("program " + std::to_string(i) + dots + " 0.5 18446744073709551615"));
}

TEST(HostDevice, AFailedAssertIsAnErrorWithItsPlace) {
  ExecutablePtr executable = load(kernelArtifact("fail", R"({
    "arguments":[{"name":"n","kind":"scalar","type":"i64"}],"abi":[{"kind":"scalar","arg":0}]})"));
  Failure failure = launch(*executable, {integer(23)}, gridOf(4, 3, 2));
  EXPECT_EQ(failure.code, KILN_ERROR_ASSERT);
  EXPECT_EQ(failure.text,
            "kernel 'fail': assertion failed: x < n at k.py:7:3 in program (3, 2, 1)");
  EXPECT_EQ(launch(*executable, {integer(24)}, gridOf(4, 3, 2)).text, "");
}

TEST(HostDevice, OutOfMemoryIsAnError) {
  auto memory = host().allocate(uint64_t(1) << 62);
  ASSERT_FALSE(bool(memory));
  EXPECT_EQ(failureOf(memory.takeError()).code, KILN_ERROR_OUT_OF_MEMORY);
  void *some = llvm::cantFail(host().allocate(1000));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(some) % 256, 0u);
  llvm::cantFail(host().free(some));
  EXPECT_EQ(llvm::cantFail(host().allocate(0)), nullptr);
}

TEST(HostDevice, OutOfMemoryOfAnEmulatedDeviceIsAnError) {
  Device &device = *llvm::cantFail(openDevice("emu:sm_90a"));
  for (uint64_t size : {uint64_t(1) << 62, ~uint64_t(0)}) {
    auto memory = device.allocate(size);
    ASSERT_FALSE(bool(memory));
    EXPECT_EQ(failureOf(memory.takeError()).code, KILN_ERROR_OUT_OF_MEMORY);
  }
}

//===- Artifacts that do not fit ------------------------------------------------------------===//

static Failure loadFailure(const Artifact &artifact) {
  auto executable = host().load(artifact);
  return executable ? Failure{} : failureOf(executable.takeError());
}

TEST(HostDevice, RefusesArtifactsItCannotRun) {
  auto of = [](const std::string &kernel, const std::string &metadata) {
    return loadFailure(kernelArtifact(kernel, metadata));
  };
  EXPECT_THAT(of("add", R"({"target":"other","arguments":[],"abi":[]})").text,
              HasSubstr("expected an artifact for target 'cpu', got one for 'other'"));
  EXPECT_THAT(of("add", R"({"abi":[]})").text, HasSubstr("expected 'kernel'"));
  EXPECT_THAT(of("add", R"({"arguments":[],"abi":[{"kind":"pointer","arg":0}]})").text,
              HasSubstr("of 0 arguments"));
  EXPECT_THAT(of("add", R"({"arguments":[],"abi":[{"kind":"tensor_map","arg":0}]})").text,
              HasSubstr("a tensor map of argument 0, which is no view"));
  EXPECT_THAT(of("add", R"({"arguments":[{"name":"x","kind":"view","type":"f32","shape":[null],
                            "strides":[1]}],"abi":[{"kind":"extent","arg":0,"dim":1}]})")
                  .text,
              HasSubstr("'x' has no dimension 1"));
  EXPECT_THAT(of("nogrid", R"({"has_grid":true,"arguments":[],"abi":[]})").text,
              HasSubstr("does not define 'kiln_grid'"));
  Artifact bare = Artifact::create(llvm::json::Object{{"kernel", "k"},
                                                      {"target", "cpu"},
                                                      {"arguments", llvm::json::Array()},
                                                      {"abi", llvm::json::Array()}},
                                   {});
  EXPECT_THAT(loadFailure(bare).text, HasSubstr("no section 'binary'"));
}
