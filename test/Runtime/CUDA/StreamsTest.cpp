// Capture into graphs, waiting for a time, several devices and peers.
#include "CUDATest.h"

using namespace kiln;
using namespace kiln::testing;

//===- Capture ------------------------------------------------------------------------------===//

TEST_F(CUDATest, LaunchesAreCaptured) {
  Setting capture("KILN_FAKE_CAPTURE", "0x42");
  KilnLaunchOptions options = gridOf(4);
  options.stream = reinterpret_cast<void *>(0x42);
  // Loading is no part of the graph, and the driver is told so.
  EXPECT_EQ(run(artifact("code", "]"), &options).text, "");
  EXPECT_THAT(calls(), AllOf(HasSubstr("cuModuleLoadDataEx"), HasSubstr("stream 0x42")));
  Failure failure = failureOf(device().synchronize(options.stream));
  EXPECT_EQ(failure.code, KILN_ERROR_INVALID_ARGUMENT);
  EXPECT_THAT(failure.text, HasSubstr("being captured into a graph"));
  EXPECT_THAT(calls(), Not(HasSubstr("cuStreamSynchronize"))) << "it would spoil the capture";
  EXPECT_THAT(failureOf(device().synchronizeFor(options.stream, 5)).text,
              HasSubstr("being captured into a graph"));
}

TEST_F(CUDATest, GraphsHaveWorkspacesOfTheirOwn) {
  Artifact hidden = artifact("code", R"(,{"kind":"workspace","bytes":0,"bytes_per_program":100},
                                        {"kind":"counter","bytes":4}])");
  auto executable = llvm::cantFail(device().load(hidden));
  std::vector<KilnArg> args{pointer(address), integer(1)};
  KilnStream stream = reinterpret_cast<void *>(0x43);
  auto launch = [&](int64_t programs) {
    KilnLaunchOptions options = gridOf(programs);
    options.stream = stream;
    calls();
    return failureOf(launchExecutable(*executable, args, &options)).text;
  };
  EXPECT_EQ(launch(10), "");
  {
    Setting capture("KILN_FAKE_CAPTURE", "0x43");
    EXPECT_EQ(launch(10), "");
    EXPECT_THAT(calls(), AllOf(HasSubstr("cuMemAlloc 1000"), HasSubstr("cuMemAlloc 4"),
                               HasSubstr("cuMemsetD8 4"), Not(HasSubstr("cuMemFree"))));
    // Launches of one capture follow each other; one that needs more leaves the graph what it has.
    EXPECT_EQ(launch(10), "");
    EXPECT_THAT(calls(), AllOf(Not(HasSubstr("cuMemAlloc")), Not(HasSubstr("cuMemset"))));
    EXPECT_EQ(launch(20), "");
    EXPECT_THAT(calls(), AllOf(HasSubstr("cuMemAlloc 2000"), Not(HasSubstr("cuMemFree")),
                               Not(HasSubstr("Synchronize"))));
  }
  EXPECT_EQ(launch(10), "");
  EXPECT_THAT(calls(), Not(HasSubstr("cuMemAlloc"))) << "the stream's own is still there";
  calls();
  llvm::cantFail(device().destroyStream(stream));
  std::string said = calls();
  EXPECT_EQ(said.find("cuMemFree", said.rfind("cuMemFree") + 1), std::string::npos);
  size_t frees = 0;
  for (size_t at = 0; (at = said.find("cuMemFree", at)) != std::string::npos; ++at)
    ++frees;
  EXPECT_EQ(frees, 2u) << "the stream's two, none of the graph's";
}

//===- Time ---------------------------------------------------------------------------------===//

TEST_F(CUDATest, WaitingEnds) {
  KilnLaunchOptions options = gridOf(1);
  EXPECT_EQ(run(artifact("code", R"(],"file":"slow.py","line":7)", "slow"), &options).text, "");
  EXPECT_EQ(failureOf(device().synchronizeFor(nullptr, 1000)).text, "");
  EXPECT_EQ(run(artifact("code", R"(],"file":"slow.py","line":7)", "slow"), &options).text, "");
  Setting busy("KILN_FAKE_BUSY", "1");
  Failure failure = failureOf(device().synchronizeFor(nullptr, 5));
  EXPECT_EQ(failure.code, KILN_ERROR_TIMEOUT);
  EXPECT_EQ(failure.text, "kernel 'slow' (slow.py:7) did not end on 'cuda:0' within 5 ms");
}

//===- Several devices ----------------------------------------------------------------------===//

TEST_F(CUDATest, EachDeviceHasItsOwnContext) {
  Device &second = device("cuda:1");
  EXPECT_EQ(llvm::cantFail(deviceOfMemory({2, 1})), &second);
  calls();
  auto executable = llvm::cantFail(second.load(artifact("code", "]")));
  EXPECT_THAT(calls(), HasSubstr("cuCtxPushCurrent 1\ncuModuleLoadDataEx"));
  KilnLaunchOptions options = gridOf(3);
  std::vector<KilnArg> args{pointer(address), integer(1)};
  EXPECT_EQ(failureOf(launchExecutable(*executable, args, &options)).text, "");
  EXPECT_THAT(calls(), AllOf(HasSubstr("cuCtxPushCurrent 1\ncuLaunchKernel 3x1x1"),
                             HasSubstr("cuCtxPopCurrent")));
  options.device = reinterpret_cast<KilnDevice *>(&device());
  EXPECT_THAT(failureOf(launchExecutable(*executable, args, &options)).text,
              HasSubstr("expected the executable's device 'cuda:1'"));
  EXPECT_THAT(llvm::toString(openDevice("cuda:2").takeError()), HasSubstr("a number below 2"));
}

TEST_F(CUDATest, MemoryOfAPeerIsReachedWhenAskedFor) {
  Device &first = device(), &second = device("cuda:1");
  KilnParameter parameters[] = {{"x", KILN_ARG_TENSOR, KILN_NONE, -1, 0},
                                {"y", KILN_ARG_TENSOR, KILN_NONE, -1, 0}};
  auto function = llvm::cantFail(Function::create("mixed", parameters));
  int64_t shape[] = {4};
  auto keyWith = [&] {
    KilnArg x = tensor(address, KILN_F32, shape, 1, nullptr, 2), y = x;
    y.value.tensor.device_id = 1;
    auto key = function->key({x, y}, nullptr);
    return key ? std::string() : failureOf(key.takeError()).text;
  };
  EXPECT_THAT(keyWith(), HasSubstr("argument 'y': expected a tensor that device 'cuda:0' can "
                                   "reach, got one on 'cuda:1'"));
  EXPECT_TRUE(llvm::cantFail(first.canAccessPeer(second)));
  EXPECT_FALSE(llvm::cantFail(first.canAccessPeer(device("cpu"))));
  EXPECT_FALSE(llvm::cantFail(device("cpu").canAccessPeer(first)));
  calls();
  EXPECT_EQ(failureOf(first.enablePeerAccess(second)).text, "");
  EXPECT_THAT(calls(), HasSubstr("cuCtxEnablePeerAccess 1"));
  EXPECT_EQ(keyWith(), "");
  EXPECT_FALSE(second.reaches(first.memory)) << "it goes one way";
  EXPECT_EQ(failureOf(first.enablePeerAccess(second)).text, "") << "that it is enabled is no error";
  EXPECT_EQ(failureOf(first.enablePeerAccess(first)).text, "");
  Failure failure = failureOf(first.enablePeerAccess(device("cpu")));
  EXPECT_EQ(failure.code, KILN_ERROR_UNSUPPORTED);
  EXPECT_THAT(failure.text, HasSubstr("'cuda:0' cannot reach the memory of 'cpu'"));
  EXPECT_EQ(failureOf(device("cpu").enablePeerAccess(first)).code, KILN_ERROR_UNSUPPORTED);
}

/// Code goes when nobody launches it any more and the device is done with it; a graph keeps it.
TEST_F(CUDATest, CodeGoesAfterItsLastLaunchUnlessAGraphHoldsIt) {
  std::vector<KilnParameter> parameters{{"p", KILN_ARG_POINTER, KILN_I64, -1, KILN_FACTS_DEFAULT},
                                        {"n", KILN_ARG_INTEGER, KILN_I64, -1, KILN_FACTS_DEFAULT}};
  auto function = llvm::cantFail(Function::create("k", parameters));
  std::vector<KilnArg> args{pointer(address), integer(130)};
  auto launch = [&](uint64_t variant, KilnStream stream) {
    KilnLaunchOptions options = gridOf(1);
    options.variant = variant;
    options.stream = stream;
    options.device = reinterpret_cast<KilnDevice *>(&device());
    std::string key = llvm::cantFail(function->key(args, &options));
    llvm::cantFail(function->insert(key, llvm::cantFail(device().load(artifact("code", "]")))));
    llvm::StringRef missed;
    llvm::Error error = llvm::Error::success();
    EXPECT_EQ(function->launch(args, &options, missed, error), KILN_LAUNCH_OK);
    llvm::cantFail(std::move(error));
  };
  Function::setMost(1);
  launch(1, nullptr);
  calls();
  launch(2, reinterpret_cast<void *>(0x42));
  EXPECT_THAT(calls(), AllOf(HasSubstr("cuCtxSynchronize"), HasSubstr("cuModuleUnload")));
  {
    Setting capture("KILN_FAKE_CAPTURE", "0x42");
    launch(3, reinterpret_cast<void *>(0x42));
  }
  calls();
  launch(4, nullptr);
  EXPECT_THAT(calls(), Not(HasSubstr("cuModuleUnload")));
  {
    Setting fail("KILN_FAKE_FAIL", "cuCtxSynchronize");
    calls();
    launch(5, nullptr);
    EXPECT_THAT(calls(), Not(HasSubstr("cuModuleUnload"))) << "the device is not done with it";
  }
  launch(6, nullptr);
  EXPECT_THAT(calls(), HasSubstr("cuModuleUnload"));
  Function::setMost(0);
}
