// A kernel that takes its device down: who is named, what goes on, how the device comes back.
#include "CUDATest.h"

using namespace kiln;
using namespace kiln::testing;

namespace {
class RecoveryTest : public CUDATest {
protected:
  ~RecoveryTest() override {
    ::unsetenv("KILN_FAKE_FAIL");
    ::unsetenv("KILN_FAKE_RESULT");
    llvm::consumeError(device().reset());
  }
  /// The next call of that name hears of an illegal address.
  void breakAt(const char *call) {
    ::setenv("KILN_FAKE_FAIL", call, 1);
    ::setenv("KILN_FAKE_RESULT", "700", 1);
  }
  void mend() { ::unsetenv("KILN_FAKE_FAIL"); }
  ExecutablePtr load(const std::string &kernel) {
    return llvm::cantFail(
        device().load(artifact("code", R"(],"file":"user.py","line":12)", kernel)));
  }
  Failure launch(Executable &executable) {
    KilnLaunchOptions options = gridOf(1);
    return failureOf(launchExecutable(executable, {pointer(address), integer(1)}, &options));
  }
};
} // namespace

TEST_F(RecoveryTest, TheKernelIsNamedWhereItIsHeardOf) {
  ExecutablePtr good = load("good"), bad = load("bad");
  EXPECT_EQ(launch(*good).text, "");
  EXPECT_EQ(failureOf(device().synchronize(nullptr)).text, "");
  EXPECT_EQ(launch(*bad).text, "");
  breakAt("cuStreamSynchronize");
  Failure failure = failureOf(device().synchronize(nullptr));
  EXPECT_EQ(failure.code, KILN_ERROR_DEVICE);
  EXPECT_EQ(failure.text, "kernel 'bad' (user.py:12) failed on device 'cuda:0': "
                          "cuStreamSynchronize failed: CUDA_ERROR_ILLEGAL_ADDRESS "
                          "(the fake said so)");
  mend();
  // From now on nothing reaches the driver.
  calls();
  EXPECT_THAT(launch(*good).text,
              AllOf(HasSubstr("kernel 'good': device 'cuda:0' is lost, because kernel 'bad' "
                              "(user.py:12) failed"),
                    HasSubstr("kilnDeviceReset")));
  EXPECT_THAT(failureOf(device().synchronize(nullptr)).text, HasSubstr("is lost, because"));
  auto memory = device().allocate(16);
  EXPECT_THAT(failureOf(memory.takeError()).text, HasSubstr("is lost, because"));
  auto loaded = device().load(artifact("code", "]"));
  EXPECT_THAT(failureOf(loaded.takeError()).text, HasSubstr("is lost, because"));
  EXPECT_EQ(failureOf(device().free(address)).text, "") << "it went with the device";
  EXPECT_EQ(calls(), "");
  // The host and other devices go on.
  int64_t out[1] = {};
  auto host = llvm::cantFail(device("cpu").load(countArtifact("nogrid")));
  KilnLaunchOptions options = gridOf(1);
  EXPECT_EQ(failureOf(launchExecutable(*host, {pointer(out), integer(1)}, &options)).text, "");
  EXPECT_EQ(out[0], 1001);
  EXPECT_EQ(failureOf(device("cuda:1").synchronize(nullptr)).text, "");
}

TEST_F(RecoveryTest, ALaunchMayBeTheFirstToHear) {
  ExecutablePtr a = load("a"), b = load("b");
  EXPECT_EQ(launch(*a).text, "");
  EXPECT_EQ(launch(*b).text, "");
  breakAt("cuLaunchKernel");
  EXPECT_THAT(launch(*a).text,
              HasSubstr("kernel 'a': one of the kernels 'b' (user.py:12), 'a' (user.py:12) failed "
                        "on device 'cuda:0': cuLaunchKernel failed: CUDA_ERROR_ILLEGAL_ADDRESS"));
}

TEST_F(RecoveryTest, OtherFailuresLoseNothing) {
  ExecutablePtr a = load("a");
  breakAt("cuLaunchKernel");
  ::setenv("KILN_FAKE_RESULT", "1", 1);
  EXPECT_THAT(launch(*a).text, HasSubstr("kernel 'a': cuLaunchKernel failed"));
  mend();
  EXPECT_EQ(launch(*a).text, "");
}

TEST_F(RecoveryTest, AResetBringsTheDeviceBack) {
  ExecutablePtr a = load("a");
  EXPECT_EQ(launch(*a).text, "");
  breakAt("cuStreamSynchronize");
  EXPECT_NE(failureOf(device().synchronize(nullptr)).text, "");
  mend();
  calls();
  EXPECT_EQ(failureOf(device().reset()).text, "");
  EXPECT_THAT(calls(), HasSubstr("cuDevicePrimaryCtxRelease 0\ncuDevicePrimaryCtxRetain 0"));
  // Its code went with the context and is loaded again.
  EXPECT_EQ(launch(*a).text, "");
  EXPECT_THAT(calls(), AllOf(HasSubstr("cuModuleLoadDataEx"), HasSubstr("cuLaunchKernel 1x1x1")));
  EXPECT_EQ(launch(*a).text, "");
  EXPECT_THAT(calls(), Not(HasSubstr("cuModuleLoadDataEx")));
}

TEST_F(RecoveryTest, AContextThatOthersHaveIsLeftAlone) {
  ExecutablePtr a = load("a");
  EXPECT_EQ(launch(*a).text, "");
  breakAt("cuStreamSynchronize");
  EXPECT_NE(failureOf(device().synchronize(nullptr)).text, "");
  mend();
  {
    Setting shared("KILN_FAKE_SHARED", "1");
    Failure failure = failureOf(device().reset());
    EXPECT_EQ(failure.code, KILN_ERROR_UNSUPPORTED);
    EXPECT_THAT(failure.text,
                AllOf(HasSubstr("cannot reset device 'cuda:0': another library in this process"),
                      HasSubstr("kernel 'a' (user.py:12) failed")));
    EXPECT_THAT(launch(*a).text, HasSubstr("is lost"));
  }
  EXPECT_EQ(failureOf(device().reset()).text, "");
  EXPECT_EQ(launch(*a).text, "");
}

/// As drivers do once a kernel has accessed what it may not.
TEST_F(RecoveryTest, ADriverMayMakeNoOtherContext) {
  ExecutablePtr a = load("a");
  EXPECT_EQ(launch(*a).text, "");
  breakAt("cuStreamSynchronize");
  EXPECT_NE(failureOf(device().synchronize(nullptr)).text, "");
  breakAt("cuDevicePrimaryCtxRetain");
  Failure failure = failureOf(device().reset());
  EXPECT_EQ(failure.code, KILN_ERROR_DEVICE);
  EXPECT_THAT(failure.text,
              AllOf(HasSubstr("cannot reset device 'cuda:0': the driver makes no new "
                              "context after such a failure (cuDevicePrimaryCtxRetain"
                              " failed: CUDA_ERROR_ILLEGAL_ADDRESS"),
                    HasSubstr("start a new process"), HasSubstr("kernel 'a' (user.py:12) failed")));
  mend();
  EXPECT_THAT(launch(*a).text, HasSubstr("is lost"));
}

TEST_F(RecoveryTest, HostsCannotBeReset) {
  EXPECT_THAT(failureOf(device("cpu").reset()).text, HasSubstr("'cpu' cannot be reset"));
}
