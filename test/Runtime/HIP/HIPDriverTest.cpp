// The HIP driver against a stand-in that records its calls; and without any library.
#include "HIPTest.h"
#include <dlfcn.h>

using namespace kiln;
using namespace kiln::testing;

// This comes first: it wants a process in which no driver is open.
TEST_F(HIPTest, AbsentLibrariesAreNamed) {
  EXPECT_THAT(reasonInChild("KILN_HIP_LIBRARY", "libnosuch.so"),
              AllOf(HasSubstr("no driver library"), HasSubstr("looked for 'libnosuch.so'")));
  EXPECT_THAT(reasonInChild("KILN_HIP_LIBRARY", "libm.so.6"), HasSubstr("too old: it lacks"));
  EXPECT_THAT(reasonInChild("KILN_FAKE_VERSION", "40200000"), HasSubstr("5.0 or later, got 4.2"));
}

TEST_F(HIPTest, AMachineWithoutADeviceIsToldSo) {
  for (const char *result : {"100", "101"})
    EXPECT_THAT(reasonInChild("KILN_FAKE_INIT", result),
                AllOf(HasSubstr("has no device: hipInit failed"), HasSubstr("listed: the driver")));
  EXPECT_THAT(reasonInChild("KILN_FAKE_INIT", "3"), HasSubstr("does not start: hipInit failed"));
}

/// The runtime that Debian ships, where it is installed.
TEST_F(HIPTest, TheRealLibrary) {
  const char *real = "libamdhip64.so.5";
  void *library = ::dlopen(real, RTLD_NOW | RTLD_LOCAL);
  if (!library)
    GTEST_SKIP() << real << ", of the package libamdhip64-5, is not installed";
  std::string reason = reasonInChild("KILN_HIP_LIBRARY", real);
  if (reason.find("opened") == 0)
    GTEST_SKIP() << "this machine has such a device";
  EXPECT_THAT(reason, AllOf(HasSubstr("the driver in 'libamdhip64.so.5' has no device"),
                            HasSubstr("hipError"), HasSubstr("listed: the driver in")));
}

TEST_F(HIPTest, DescribesTheDevices) {
  Device &device = *llvm::cantFail(openDevice("hip:1"));
  EXPECT_EQ(device.target, "amdgpu:gfx942");
  EXPECT_EQ(device.description(), "Fake Instinct, gfx942, 192 GiB");
  EXPECT_EQ(llvm::cantFail(deviceOfMemory({10, 1})), &device);
  EXPECT_THAT(llvm::toString(openDevice("hip:2").takeError()), HasSubstr("a number below 2"));
}

TEST_F(HIPTest, LoadsAndLaunchesOnItsOwnDevice) {
  Device &device = *llvm::cantFail(openDevice("hip:1"));
  calls();
  auto executable = llvm::cantFail(device.load(artifact("code static 2000")));
  KilnLaunchOptions options = gridOf(7, 2, 1);
  EXPECT_EQ(failureOf(launchExecutable(*executable, integer(-1), &options)).text, "");
  EXPECT_THAT(calls(), AllOf(HasSubstr("hipSetDevice 1\nhipModuleLoadData\n"),
                             HasSubstr("hipModuleGetFunction k\nhipSetDevice 0\n"),
                             HasSubstr("7x2x1 of 256x1x1 shared 0 args 4294967295")));
}

TEST_F(HIPTest, LaunchesBesidePlainOnes) {
  Device &device = *llvm::cantFail(openDevice("hip:0"));
  auto executable = llvm::cantFail(device.load(artifact("code")));
  KilnLaunchOptions options = gridOf(8);
  options.cooperative = 1;
  calls();
  EXPECT_EQ(failureOf(launchExecutable(*executable, integer(1), &options)).text, "");
  EXPECT_THAT(calls(), HasSubstr("hipModuleLaunchCooperativeKernel 8x1x1 of 256x1x1 shared 0\n"));
  options.cluster[0] = 2;
  Failure failure = failureOf(launchExecutable(*executable, integer(1), &options));
  EXPECT_EQ(failure.code, KILN_ERROR_UNSUPPORTED);
  EXPECT_THAT(failure.text, HasSubstr("expected a device that has clusters, got 'hip:0'"));
  options = gridOf(8);
  options.has_priority = 1;
  EXPECT_THAT(failureOf(launchExecutable(*executable, integer(1), &options)).text,
              HasSubstr("launches with a priority, got 'hip:0'"));
}

/// The library adds what a launch asks for to what the code object states.
TEST_F(HIPTest, LocalMemoryIsAskedForOnce) {
  Device &device = *llvm::cantFail(openDevice("hip:0"));
  for (int bytes : {0, 16, 32768, 32769, 40000, 65536}) {
    std::string size = std::to_string(bytes);
    auto executable =
        llvm::cantFail(device.load(artifact("code static " + size, R"(],"shared_bytes":)" + size)));
    KilnLaunchOptions options = gridOf(8);
    EXPECT_EQ(failureOf(launchExecutable(*executable, integer(1), &options)).text, "") << bytes;
    options.cooperative = 1;
    EXPECT_EQ(failureOf(launchExecutable(*executable, integer(1), &options)).text, "") << bytes;
  }
  auto large = device.load(artifact("code static 65537", R"(],"shared_bytes":65537)"));
  EXPECT_THAT(failureOf(large.takeError()).text, HasSubstr("at most 65536 bytes of shared memory"));
}

/// A grid is counted in threads, and an axis of it in 32 bits.
TEST_F(HIPTest, GridsOfTooManyThreadsAreErrors) {
  Device &device = *llvm::cantFail(openDevice("hip:0"));
  auto executable = llvm::cantFail(device.load(artifact("code")));
  KilnLaunchOptions options = gridOf((1 << 24) - 1);
  EXPECT_EQ(failureOf(launchExecutable(*executable, integer(1), &options)).text, "");
  for (int64_t programs : {int64_t(1) << 24, int64_t(0x7fffffff)}) {
    options.grid[0] = programs;
    Failure failure = failureOf(launchExecutable(*executable, integer(1), &options));
    EXPECT_EQ(failure.code, KILN_ERROR_INVALID_ARGUMENT);
    EXPECT_THAT(failure.text,
                AllOf(HasSubstr("kernel 'k': expected at most 16777215 programs along axis 0 on "
                                "'hip:0', got " +
                                std::to_string(programs))));
  }
}

TEST_F(HIPTest, CooperativeLaunchesThatDoNotFit) {
  Device &device = *llvm::cantFail(openDevice("hip:0"));
  auto executable =
      llvm::cantFail(device.load(artifact("code static 30000", R"(],"shared_bytes":30000)")));
  KilnLaunchOptions options = gridOf(2 * 304);
  options.cooperative = 1;
  EXPECT_EQ(failureOf(launchExecutable(*executable, integer(1), &options)).text, "");
  options.grid[0] += 1;
  EXPECT_THAT(failureOf(launchExecutable(*executable, integer(1), &options)).text,
              HasSubstr("run all at once, 2 on each multiprocessor, got 609"));
}

TEST_F(HIPTest, Capture) {
  Device &device = *llvm::cantFail(openDevice("hip:0"));
  ::setenv("KILN_FAKE_CAPTURE", "0x42", 1);
  KilnLaunchOptions options = gridOf(2);
  options.stream = reinterpret_cast<void *>(0x42);
  auto executable = llvm::cantFail(device.load(artifact("code")));
  EXPECT_EQ(failureOf(launchExecutable(*executable, integer(1), &options)).text, "");
  EXPECT_THAT(failureOf(device.synchronize(options.stream)).text,
              HasSubstr("being captured into a graph"));
  void *memory = llvm::cantFail(device.allocate(16));
  ::unsetenv("KILN_FAKE_CAPTURE");
  llvm::cantFail(device.free(memory));
  EXPECT_EQ(failureOf(device.synchronize(options.stream)).text, "");
}

TEST_F(HIPTest, PeersAndFailures) {
  Device &device = *llvm::cantFail(openDevice("hip:0")),
         &peer = *llvm::cantFail(openDevice("hip:1"));
  EXPECT_FALSE(peer.reaches(device.memory));
  calls();
  EXPECT_EQ(failureOf(peer.enablePeerAccess(device)).text, "");
  EXPECT_THAT(calls(), HasSubstr("hipDeviceEnablePeerAccess 0 from 1"));
  EXPECT_TRUE(peer.reaches(device.memory));
  // This comes last on the device: nothing brings it back.
  auto executable = llvm::cantFail(peer.load(artifact("code")));
  KilnLaunchOptions options = gridOf(2);
  EXPECT_EQ(failureOf(launchExecutable(*executable, integer(1), &options)).text, "");
  ::setenv("KILN_FAKE_FAIL", "hipStreamSynchronize", 1);
  ::setenv("KILN_FAKE_RESULT", "719", 1);
  EXPECT_THAT(failureOf(peer.synchronize(nullptr)).text,
              HasSubstr("kernel 'k' failed on device 'hip:1': hipStreamSynchronize failed"));
  ::unsetenv("KILN_FAKE_FAIL");
  EXPECT_THAT(failureOf(launchExecutable(*executable, integer(1), &options)).text,
              HasSubstr("device 'hip:1' is lost, because kernel 'k' failed"));
  Failure failure = failureOf(peer.reset());
  EXPECT_EQ(failure.code, KILN_ERROR_UNSUPPORTED);
  EXPECT_THAT(failure.text,
              AllOf(HasSubstr("cannot reset device 'hip:1'"), HasSubstr("start a new process")));
  EXPECT_EQ(failureOf(device.synchronize(nullptr)).text, "") << "the other goes on";
}

TEST_F(HIPTest, MemoryAndFailures) {
  Device &device = *llvm::cantFail(openDevice("hip:0"));
  std::string text = "bytes", back(5, ' ');
  void *memory = llvm::cantFail(device.allocate(5));
  llvm::cantFail(device.copy(memory, text.data(), 5, KILN_COPY_TO_DEVICE, nullptr));
  llvm::cantFail(device.copy(back.data(), memory, 5, KILN_COPY_FROM_DEVICE, nullptr));
  EXPECT_EQ(back, text);
  EXPECT_THAT(calls(), AllOf(HasSubstr("5 kind 1"), HasSubstr("5 kind 2")));
  llvm::cantFail(device.free(memory));
  auto large = device.allocate(uint64_t(1) << 50);
  EXPECT_EQ(failureOf(large.takeError()).code, KILN_ERROR_OUT_OF_MEMORY);
  auto bad = device.load(artifact("bad"));
  EXPECT_THAT(failureOf(bad.takeError()).text,
              AllOf(HasSubstr("'k'"), HasSubstr("hipModuleLoadData failed: hipErrorFake")));
}
