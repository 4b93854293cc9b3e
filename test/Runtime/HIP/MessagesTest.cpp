// Kernels that print, assert or never end, on the library that records its calls.
#include "HIPTest.h"

using namespace kiln;
using namespace kiln::testing;

namespace {
class HIPMessagesTest : public HIPTest {
protected:
  ~HIPMessagesTest() override {
    for (const char *name :
         {"KILN_FAKE_MESSAGES", "KILN_FAKE_LATE", "KILN_FAKE_BUSY", "KILN_FAKE_CAPTURE",
          "KILN_FAKE_FAIL", "KILN_FAKE_RESULT", "KILN_LAUNCH_BLOCKING"})
      ::unsetenv(name);
  }
  /// A kernel that prints a tensor of two and asserts.
  Artifact talker(const std::string &kernel = "k") {
    return artifact("code", R"(,{"kind":"messages"}],"file":"k.py","line":3,"messages":[
      {"kind":"real","text":"x","shape":[2]},
      {"kind":"assert","text":"x < n","file":"k.py","line":7,"column":3}])",
                    kernel);
  }
  Failure launch(Executable &executable, KilnStream stream = nullptr) {
    KilnLaunchOptions options = gridOf(1);
    options.stream = stream;
    return failureOf(launchExecutable(executable, integer(1), &options));
  }
  static constexpr const char *failing = "kernel 'k': assertion failed: x < n at k.py:7:3 in "
                                         "program (5, 0, 0)";
};
} // namespace

TEST_F(HIPMessagesTest, LinesAreWrittenWhenTheKernelHasEnded) {
  Device &device = *llvm::cantFail(openDevice("hip:0"));
  auto executable = llvm::cantFail(device.load(talker()));
  ::setenv("KILN_FAKE_MESSAGES", "1 1 0 0 0 1 13830554455654793216 1 0 0 0 0 4609434218613702656",
           1);
  ::setenv("KILN_FAKE_LATE", "1", 1);
  ::testing::internal::CaptureStdout();
  EXPECT_EQ(launch(*executable).text, "");
  EXPECT_EQ(launch(*executable).text, "");
  std::string early = ::testing::internal::GetCapturedStdout();
  ::testing::internal::CaptureStdout();
  EXPECT_EQ(failureOf(device.synchronize(nullptr)).text, "");
  std::string lines = ::testing::internal::GetCapturedStdout();
  EXPECT_EQ(early, "");
  // Both launches wrote before either was read: the stand-in's functions wait for somebody to ask.
  EXPECT_EQ(lines, "(0, 0, 0) [0] x: 1.5\n(0, 0, 0) [1] x: -1\n"
                   "(0, 0, 0) [0] x: 1.5\n(0, 0, 0) [1] x: -1\n");
  EXPECT_THAT(calls(), HasSubstr("hipHostMalloc 1048576 flags 3\n"));
}

TEST_F(HIPMessagesTest, AFailedAssertionIsToldAndTheDeviceGoesOn) {
  Device &device = *llvm::cantFail(openDevice("hip:0"));
  auto executable = llvm::cantFail(device.load(talker()));
  ::setenv("KILN_FAKE_MESSAGES", "1 2 5 0 0 0 0", 1);
  EXPECT_EQ(launch(*executable).text, "");
  Failure failure = failureOf(device.synchronize(nullptr));
  EXPECT_EQ(failure.code, KILN_ERROR_ASSERT);
  EXPECT_EQ(failure.text, failing);
  EXPECT_EQ(failureOf(device.synchronize(nullptr)).text, "") << "it is told once";
  // Who waits by other means hears of it at the next launch, of whatever kernel.
  EXPECT_EQ(launch(*executable).text, "");
  ::unsetenv("KILN_FAKE_MESSAGES");
  auto other = llvm::cantFail(device.load(artifact("code")));
  calls();
  EXPECT_EQ(launch(*other).text, failing);
  EXPECT_EQ(calls().find("hipModuleLaunchKernel"), std::string::npos);
  EXPECT_EQ(launch(*other).text, "");
  EXPECT_EQ(failureOf(device.synchronizeFor(nullptr, 1000)).text, "");
}

/// A fault, or a trap where no program may end alone.
TEST_F(HIPMessagesTest, LastWordsStandBesideAFault) {
  auto texts = [&](const char *which) {
    Device &device = *llvm::cantFail(openDevice(which));
    auto executable = llvm::cantFail(device.load(talker()));
    ::setenv("KILN_FAKE_MESSAGES", "1 2 5 0 0 0 0", 1);
    ::setenv("KILN_FAKE_LATE", "1", 1);
    EXPECT_EQ(launch(*executable).text, "");
    ::setenv("KILN_FAKE_FAIL", "hipStreamSynchronize", 1);
    ::setenv("KILN_FAKE_RESULT", "719", 1);
    std::string first = failureOf(device.synchronize(nullptr)).text;
    ::unsetenv("KILN_FAKE_FAIL");
    return first + "\n" + launch(*executable).text;
  };
  // Devices that are lost stay so: in a process of its own.
  int pipes[2];
  ASSERT_EQ(::pipe(pipes), 0);
  pid_t child = ::fork();
  if (child == 0) {
    std::string said = texts("hip:1");
    ::_exit(::write(pipes[1], said.data(), said.size()) < 0);
  }
  ::close(pipes[1]);
  std::string said(4096, 0);
  ssize_t size = ::read(pipes[0], said.data(), said.size());
  said.resize(size < 0 ? 0 : size);
  ::waitpid(child, nullptr, 0);
  EXPECT_THAT(said, AllOf(HasSubstr("kernel 'k' (k.py:3) failed on device 'hip:1': "
                                    "hipStreamSynchronize failed"),
                          HasSubstr(std::string("; before that, ") + failing + "\n"),
                          HasSubstr("device 'hip:1' is lost, because kernel 'k' (k.py:3)")));
}

TEST_F(HIPMessagesTest, StreamsHaveTheirOwn) {
  Device &device = *llvm::cantFail(openDevice("hip:0"));
  auto executable = llvm::cantFail(device.load(talker()));
  KilnStream stream = llvm::cantFail(device.createStream());
  calls();
  EXPECT_EQ(launch(*executable, stream).text, "");
  EXPECT_EQ(launch(*executable, stream).text, "");
  std::string said = calls();
  EXPECT_NE(said.find("hipHostMalloc"), std::string::npos);
  EXPECT_EQ(said.find("hipHostMalloc"), said.rfind("hipHostMalloc")) << "one for both launches";
  llvm::cantFail(device.destroyStream(stream));
  EXPECT_THAT(calls(), HasSubstr("hipStreamSynchronize\nhipHostFree\n"));
  // What a graph does each time it runs is recorded; its memory is never freed.
  ::setenv("KILN_FAKE_CAPTURE", "0x42", 1);
  EXPECT_EQ(launch(*executable, reinterpret_cast<void *>(0x42)).text, "");
  EXPECT_THAT(calls(), AllOf(HasSubstr("hipHostMalloc"), HasSubstr("hipLaunchHostFunc")));
}

TEST_F(HIPMessagesTest, BlockingLaunchesFailThemselves) {
  pid_t child = ::fork();
  if (child == 0) {
    ::setenv("KILN_LAUNCH_BLOCKING", "1", 1);
    ::setenv("KILN_FAKE_MESSAGES", "1 2 5 0 0 0 0", 1);
    ::setenv("KILN_FAKE_LATE", "1", 1);
    // Opened by no test before, so that it reads the variable.
    Device *device = llvm::cantFail(openDevice("hip:1"));
    auto executable = llvm::cantFail(device->load(talker()));
    ::_exit(launch(*executable).text == failing ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

TEST_F(HIPMessagesTest, AKernelThatDoesNotEndIsNamed) {
  Device &device = *llvm::cantFail(openDevice("hip:0"));
  auto executable =
      llvm::cantFail(device.load(artifact("code", R"(],"file":"slow.py","line":7)", "slow")));
  EXPECT_EQ(launch(*executable).text, "");
  ::setenv("KILN_FAKE_BUSY", "1", 1);
  Failure failure = failureOf(device.synchronizeFor(nullptr, 5));
  EXPECT_EQ(failure.code, KILN_ERROR_TIMEOUT);
  EXPECT_EQ(failure.text, "kernel 'slow' (slow.py:7) did not end on 'hip:0' within 5 ms");
  ::unsetenv("KILN_FAKE_BUSY");
  EXPECT_EQ(failureOf(device.synchronizeFor(nullptr, 1000)).text, "");
  EXPECT_EQ(launch(*executable).text, "") << "the process goes on";
}
