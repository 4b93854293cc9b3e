// The CUDA driver against a stand-in that records its calls; and without any library.
#include "CUDATest.h"

using namespace kiln;
using namespace kiln::testing;

// These come first: they want a process in which no driver is open.
TEST_F(CUDATest, AbsentLibrariesAreNamed) {
  std::string reason = reasonInChild("KILN_CUDA_LIBRARY", "libnosuch.so.1");
  EXPECT_THAT(reason,
              AllOf(HasSubstr("looked for 'libnosuch.so.1'"), HasSubstr("listed: no driver"),
                    HasSubstr("cannot open shared object file")));
  EXPECT_THAT(reasonInChild("KILN_CUDA_LIBRARY", "libm.so.6"),
              AllOf(HasSubstr("too old: it lacks"), HasSubstr("'cuInit'")));
  EXPECT_THAT(reasonInChild("KILN_FAKE_VERSION", "11040"), HasSubstr("11.8 or later, got 11.4"));
  EXPECT_THAT(reasonInChild("KILN_FAKE_FAIL", "cuInit"),
              HasSubstr("cuInit failed: CUDA_ERROR_FAKE (the fake said so)"));
  EXPECT_THAT(reasonInChild("KILN_FAKE_DEVICES", "0"),
              AllOf(HasSubstr("expected a number below 0"), HasSubstr("has no device")));
}

TEST_F(CUDATest, OldLibrariesRunWhatTellsNothing) {
  std::string said = saidInChild("KILN_CUDA_LIBRARY", KILN_FAKE_CUDA_OLD, [&](std::ostream &out) {
    KilnLaunchOptions options = gridOf(1);
    out << "plain: " << run(artifact("code", "]"), &options).text << "\n";
    out << run(artifact("code", R"(,{"kind":"messages"}],"messages":[])"), &options).text;
  });
  EXPECT_THAT(said, AllOf(HasSubstr("plain: \n"), HasSubstr("'cuMemHostAlloc', 'cuMemFreeHost' and "
                                                            "'cuLaunchHostFunc', since the kernel "
                                                            "prints or asserts")));
}

TEST_F(CUDATest, DescribesTheDevice) {
  llvm::json::Object described = describeDevice(device());
  EXPECT_EQ(described.getString("target"), llvm::StringRef("nvptx:sm_90a"));
  EXPECT_THAT(device().identity, AllOf(HasSubstr("sm_90a"), HasSubstr("12040")));
  EXPECT_EQ(described.getString("description"), llvm::StringRef("Fake, sm_90a, 80 GiB"));
  EXPECT_EQ(llvm::cantFail(deviceOfMemory({2, 0})), &device());
  EXPECT_TRUE(device().reaches({3, 0}) && device().reaches({13, 0}));
  EXPECT_FALSE(device().reaches({1, 0}) || device().reaches({2, 1}));
  const llvm::json::Object *properties = described.getObject("properties");
  EXPECT_EQ(properties->getBoolean("clusters"), true);
  EXPECT_EQ(properties->getBoolean("cooperative"), true);
}

TEST_F(CUDATest, LoadsAndLaunches) {
  calls();
  EXPECT_EQ(run(artifact("code", R"(],"has_grid":true,"shared_bytes":1000)")).text, "");
  std::string said = calls();
  EXPECT_THAT(said, HasSubstr("cuModuleLoadDataEx code\ncuModuleGetFunction k\n"));
  // The grid comes from the host's code: ceil(slot 1 / 64).
  EXPECT_THAT(said, HasSubstr("cuLaunchKernel 3x1x1 of 128x1x1 shared 1000 stream (nil) "
                              "args 4096 130\n"));
  EXPECT_THAT(said, HasSubstr("cuModuleUnload"));
  EXPECT_THAT(said, Not(HasSubstr("cuFuncSetAttribute")));
  EXPECT_THAT(said, HasSubstr("cuCtxPushCurrent 0"));
}

TEST_F(CUDATest, LargeSharedMemoryIsAskedFor) {
  KilnLaunchOptions options = gridOf(5, 6, 7);
  options.stream = reinterpret_cast<void *>(0x42);
  EXPECT_EQ(run(artifact("code", R"(],"shared_bytes":200000)"), &options).text, "");
  EXPECT_THAT(calls(), AllOf(HasSubstr("cuFuncSetAttribute 8=200000\n"),
                             HasSubstr("5x6x7 of 128x1x1 shared 200000 stream 0x42")));
  EXPECT_THAT(run(artifact("code", R"(],"shared_bytes":300000)"), &options).text,
              AllOf(HasSubstr("'k'"), HasSubstr("at most 232448"), HasSubstr("got 300000")));
}

/// All that a block may have, with what the code states for itself.
TEST_F(CUDATest, SharedMemoryThatTheCodeStatesCounts) {
  KilnLaunchOptions options = gridOf(2);
  for (int bytes : {48 * 1024, 48 * 1024 + 1, 232448})
    EXPECT_EQ(run(artifact("code", R"(],"shared_bytes":)" + std::to_string(bytes)), &options).text,
              "");
  EXPECT_THAT(run(artifact("code static 64", R"(],"shared_bytes":232448)"), &options).text,
              HasSubstr("kernel 'k'"));
}

TEST_F(CUDATest, BlocksOfMoreThreadsThanTheCodeAllowsAreErrors) {
  KilnLaunchOptions options = gridOf(2);
  EXPECT_EQ(run(artifact("code threads 128", "]"), &options).text, "");
  EXPECT_THAT(run(artifact("code threads 64", "]"), &options).text,
              HasSubstr("expected at most 64 threads of a block, got 128"));
}

// A grid is cut to the multiprocessors (the stand-in has 100), and stretched to them only where
// programs run parts of tiles.
TEST_F(CUDATest, PersistentGrids) {
  KilnLaunchOptions options = gridOf(1000);
  auto launch = [&](int64_t tiles, const std::string &metadata) {
    options.grid[0] = tiles;
    EXPECT_EQ(run(artifact("code", "]," + metadata), &options).text, "");
    return calls();
  };
  EXPECT_THAT(launch(1000, R"("persistent_per_core":2)"), HasSubstr("cuLaunchKernel 200x1x1"));
  EXPECT_THAT(launch(7, R"("persistent_per_core":2)"), HasSubstr("cuLaunchKernel 7x1x1"));
  EXPECT_THAT(launch(1000, R"("persistent_per_core":1,"cluster":[8,1,1])"),
              HasSubstr("cuLaunchKernelEx 96x1x1"));
  // No more than run the tiles in as few rounds: 91 of at most 100 run 910 in ten.
  std::string even = R"("even_programs":true,)";
  EXPECT_THAT(launch(910, even + R"("persistent_per_core":1)"), HasSubstr("cuLaunchKernel 91x1x1"));
  EXPECT_THAT(launch(910, even + R"("programs":132)"), HasSubstr("cuLaunchKernel 130x1x1"));
  EXPECT_THAT(launch(90, even + R"("persistent_per_core":1)"), HasSubstr("cuLaunchKernel 90x1x1"));
  // 84 run 920 in eleven, or 88, which are whole clusters.
  EXPECT_THAT(launch(920, even + R"("programs":88,"cluster":[8,1,1])"),
              HasSubstr("cuLaunchKernelEx 88x1x1"));
  EXPECT_THAT(launch(640, even + R"("programs":96,"cluster":[8,1,1])"),
              HasSubstr("cuLaunchKernelEx 96x1x1"));
  // How many programs the code leaves room for is no such number.
  EXPECT_THAT(launch(1000, R"("programs_per_core":2)"), HasSubstr("cuLaunchKernel 1000x1x1"));
  // Of a fixed number of programs; hidden memory is for all tiles, and the stream's own.
  options.stream = reinterpret_cast<void *>(0x51);
  EXPECT_EQ(run(artifact("code", R"(,{"kind":"workspace","bytes_per_program":8}],"programs":12)"),
                &options)
                .text,
            "");
  EXPECT_THAT(calls(), AllOf(HasSubstr("cuMemAlloc 8000"), HasSubstr("cuLaunchKernel 12x1x1")));
  // Hidden memory is then for those that are launched.
  options.grid[0] = 7;
  EXPECT_EQ(run(artifact("code", R"(,{"kind":"workspace","bytes_per_program":90}],
                                   "persistent_per_core":2,"streams":true)"),
                &options)
                .text,
            "");
  EXPECT_THAT(calls(), AllOf(HasSubstr("cuMemAlloc 18000"), HasSubstr("cuLaunchKernel 200x1x1")));
}

namespace {
/// One view of two dimensions whose rows are dynamic, and a map of tiles of 128 by 64.
class TensorMapTest : public CUDATest {
protected:
  TensorMapTest() { ::setenv("KILN_FAKE_MAP", "3", 1); }
  ~TensorMapTest() override { ::unsetenv("KILN_FAKE_MAP"); }
  Artifact artifact(const std::string &type = "bf16", const std::string &more = "") {
    llvm::json::Value value = llvm::cantFail(llvm::json::parse(
        R"({"target":"nvptx:sm_90a","kernel":"k","arguments":[{"name":"a","kind":"view","type":")" +
        type + R"(","shape":[null,512],"strides":[null,1]}],
        "abi":[{"kind":"pointer","arg":0},{"kind":"extent","arg":0,"dim":0},
               {"kind":"stride","arg":0,"dim":0},{"kind":"tensor_map","arg":0,)" +
        (more.empty() ? R"("box":[128,64],"swizzle":128)" : more) + "}]}"));
    return Artifact::create(std::move(*value.getAsObject()), {{"asm", "code"}});
  }
  Failure run(Executable &executable, uint64_t at, int64_t rows, int64_t stride) {
    int64_t shape[] = {rows, 512}, strides[] = {stride, 1};
    KilnLaunchOptions options = gridOf(1);
    KilnArg arg = tensor(reinterpret_cast<void *>(at), KILN_BF16, shape, 2, strides, 2);
    return failureOf(launchExecutable(executable, {arg}, &options));
  }
  ExecutablePtr load(const Artifact &what) { return llvm::cantFail(device().load(what)); }
};
} // namespace

TEST_F(TensorMapTest, IsMadeOfTheViewAndKept) {
  ExecutablePtr executable = load(artifact());
  calls();
  EXPECT_EQ(run(*executable, 0x10000, 300, 520).text, "");
  // Innermost first: 512 columns in tiles of 64, 300 rows in tiles of 128, 1040 bytes apart.
  EXPECT_THAT(calls(), AllOf(HasSubstr("cuTensorMapEncodeTiled aligned 1"),
                             HasSubstr("map type 9 at 0x10000 512/64 by 0 300/128 by 1040 "
                                       "swizzle 3 padding 0 aligned 1")));
  EXPECT_EQ(run(*executable, 0x10000, 300, 520).text, "");
  EXPECT_THAT(calls(), AllOf(Not(HasSubstr("Encode")), HasSubstr("300/128 by 1040")));
  // Another address, extent or stride is another map; the first one is still known after.
  EXPECT_EQ(run(*executable, 0x20000, 300, 520).text, "");
  EXPECT_THAT(calls(), AllOf(HasSubstr("Encode"), HasSubstr("at 0x20000")));
  EXPECT_EQ(run(*executable, 0x10000, 301, 520).text, "");
  EXPECT_THAT(calls(), AllOf(HasSubstr("Encode"), HasSubstr("301/128")));
  EXPECT_EQ(run(*executable, 0x10000, 300, 528).text, "");
  EXPECT_THAT(calls(), AllOf(HasSubstr("Encode"), HasSubstr("by 1056")));
  EXPECT_EQ(run(*executable, 0x10000, 300, 520).text, "");
  EXPECT_THAT(calls(), AllOf(Not(HasSubstr("Encode")), HasSubstr("300/128 by 1040")));
  // However many come, what is handed over is right.
  for (int round = 0; round < 2; ++round)
    for (int rows = 1; rows < 40; ++rows) {
      EXPECT_EQ(run(*executable, 0x10000, rows, 520).text, "");
      EXPECT_THAT(calls(), HasSubstr(" " + std::to_string(rows) + "/128"));
    }
}

TEST_F(TensorMapTest, WhatCannotBeMappedIsNamed) {
  ExecutablePtr executable = load(artifact());
  EXPECT_THAT(run(*executable, 0x10008, 300, 520).text,
              AllOf(HasSubstr("kernel 'k': argument 'a'"),
                    HasSubstr("multiple of 16 bytes for a tensor map, got 0x10008")));
  EXPECT_THAT(run(*executable, 0x10000, 300, 514).text,
              HasSubstr("multiple of 16 bytes along dimension 0 for a tensor map, got 514"));
  EXPECT_THAT(run(*executable, 0x10000, (int64_t(1) << 32) + 1, 520).text,
              HasSubstr("at most 2^32"));
  calls();
  // One row steps nowhere; no row needs no map.
  EXPECT_EQ(run(*executable, 0x10000, 1, 513).text, "");
  EXPECT_THAT(calls(), HasSubstr("1/128 by 16"));
  EXPECT_EQ(run(*executable, 0x10000, 0, 520).text, "");
  EXPECT_THAT(calls(), Not(HasSubstr("Encode")));
  ::setenv("KILN_FAKE_FAIL", "cuTensorMapEncodeTiled", 1);
  EXPECT_THAT(run(*executable, 0x30000, 300, 520).text,
              AllOf(HasSubstr("argument 'a': cuTensorMapEncodeTiled failed")));
  ::unsetenv("KILN_FAKE_FAIL");
}

TEST_F(TensorMapTest, MetadataIsNotTrusted) {
  auto reason = [&](const std::string &more) {
    auto loaded = device().load(artifact("bf16", more));
    return loaded ? std::string() : failureOf(loaded.takeError()).text;
  };
  EXPECT_THAT(reason(R"("box":[128])"), HasSubstr("no box of extents from 1 to 256"));
  EXPECT_THAT(reason(R"("box":[128,512])"), HasSubstr("no box of extents from 1 to 256"));
  EXPECT_THAT(reason(R"("swizzle":0)"), HasSubstr("no box of extents from 1 to 256"));
  for (const char *dims : {"[0]", "[0,0]", "[0,2]", "[-1,0]", "[0,1,1]", R"(["0",1])"})
    EXPECT_THAT(reason(R"("box":[128,64],"dims":)" + std::string(dims)),
                HasSubstr("does not name each of its dimensions once"));
  ExecutablePtr odd = load(artifact("bf16", R"("box":[1,64],"type":"i4")"));
  EXPECT_THAT(run(*odd, 0x10000, 300, 520).text, HasSubstr("a tensor map can hold, got i4"));
}

// A kernel leaves its counters as it finds them, so they are cleared where they are made.
TEST_F(CUDATest, HiddenMemoryIsKept) {
  KilnLaunchOptions options = gridOf(10);
  Artifact hidden = artifact("code", R"(,{"kind":"workspace","bytes":0,"bytes_per_program":100},
                                        {"kind":"counter","bytes":4}])");
  auto executable = llvm::cantFail(device().load(hidden));
  std::vector<KilnArg> args{pointer(address), integer(1)};
  calls();
  EXPECT_EQ(failureOf(launchExecutable(*executable, args, &options)).text, "");
  EXPECT_THAT(calls(), AllOf(HasSubstr("cuMemAlloc 1000"), HasSubstr("cuMemAlloc 4"),
                             HasSubstr("cuMemsetD8 4")));
  EXPECT_EQ(failureOf(launchExecutable(*executable, args, &options)).text, "");
  EXPECT_THAT(calls(), AllOf(Not(HasSubstr("cuMemAlloc")), Not(HasSubstr("cuMemset"))));
  options.grid[0] = 11;
  EXPECT_EQ(failureOf(launchExecutable(*executable, args, &options)).text, "");
  EXPECT_THAT(calls(), HasSubstr("cuStreamSynchronize\ncuMemFree\ncuMemAlloc 1100\n"));
}

// What one kernel has for a workspace is no counter of another's, whose first launch finds zeros.
TEST_F(CUDATest, CountersLieApartFromWorkspaces) {
  KilnLaunchOptions options = gridOf(10);
  options.stream = reinterpret_cast<void *>(0x52);
  auto load = [&](const std::string &kind) {
    return llvm::cantFail(
        device().load(artifact("code", R"(,{"kind":")" + kind + R"(","bytes":64}])")));
  };
  ExecutablePtr first = load("workspace"), second = load("counter");
  std::vector<KilnArg> args{pointer(address), integer(1)};
  EXPECT_EQ(failureOf(launchExecutable(*first, args, &options)).text, "");
  calls();
  EXPECT_EQ(failureOf(launchExecutable(*second, args, &options)).text, "");
  EXPECT_THAT(calls(), AllOf(HasSubstr("cuMemAlloc 64"), HasSubstr("cuMemsetD8 64")));
}

TEST_F(CUDATest, AKernelMayRunOnItsOwnGridAlone) {
  KilnLaunchOptions options = gridOf(10);
  EXPECT_THAT(run(artifact("code", R"(],"own_grid":true)"), &options).text,
              HasSubstr("a grid of its own that it does not have"));
}

// A block runs several programs, and learns how many there are.
TEST_F(CUDATest, BlocksOfSeveralPrograms) {
  auto load = [&](const std::string &more) { return device().load(artifact("code", more)); };
  auto executable = llvm::cantFail(load(R"(,{"kind":"grid_extent"}],"programs_per_block":8)"));
  std::vector<KilnArg> args{pointer(address), integer(1)};
  for (auto [programs, blocks] : {std::pair(1, 1), std::pair(8, 1), std::pair(9, 2)}) {
    KilnLaunchOptions options = gridOf(programs, 3);
    calls();
    EXPECT_EQ(failureOf(launchExecutable(*executable, args, &options)).text, "");
    EXPECT_THAT(calls(), HasSubstr("cuLaunchKernel " + std::to_string(blocks) + "x3x1"));
  }
  auto wrong = load(R"(],"programs_per_block":8)");
  EXPECT_THAT(failureOf(wrong.takeError()).text,
              HasSubstr("several programs a block without a parameter that counts them"));
}

TEST_F(CUDATest, GridsOverTheLimitAreErrors) {
  KilnLaunchOptions options = gridOf(1, 65536);
  EXPECT_THAT(run(artifact("code", "]"), &options).text,
              HasSubstr("at most 65535 programs along axis 1 on 'cuda:0', got 65536"));
}

TEST_F(CUDATest, TheLoadersOwnWordsAreShown) {
  EXPECT_THAT(run(artifact("bad code", "]")).text,
              AllOf(HasSubstr("cannot load kernel 'k' on 'cuda:0'"),
                    HasSubstr("ptxas: line 1: what is this")));
  EXPECT_THAT(run(artifact("code", "]", "absent")).text, HasSubstr("cuModuleGetFunction failed"));
  EXPECT_THAT(calls(), HasSubstr("cuModuleUnload"));
}

TEST_F(CUDATest, ADriverThatIsOlderThanTheTextIsNamed) {
  Setting fail("KILN_FAKE_FAIL", "cuModuleLoadDataEx"), result("KILN_FAKE_RESULT", "222");
  EXPECT_THAT(run(artifact(".version 8.6\n.target sm_90a\n", "]")).text,
              AllOf(HasSubstr("cannot load kernel 'k' on 'cuda:0'"),
                    HasSubstr("expected a driver that reads PTX 8.6, got an older one"),
                    HasSubstr("KILN_ASSEMBLER"), HasSubstr("CUDA_ERROR_UNSUPPORTED_PTX_VERSION")));
}

TEST_F(CUDATest, FailuresOfLaunchesNameTheKernel) {
  ::setenv("KILN_FAKE_FAIL", "cuLaunchKernel", 1);
  KilnLaunchOptions options = gridOf(1);
  Failure failure = run(artifact("code", "]"), &options);
  ::unsetenv("KILN_FAKE_FAIL");
  EXPECT_EQ(failure.code, KILN_ERROR_DEVICE);
  EXPECT_THAT(failure.text, AllOf(HasSubstr("kernel 'k'"), HasSubstr("cuLaunchKernel failed")));
}

TEST_F(CUDATest, MemoryAndStreams) {
  std::string text = "some bytes to carry", back(text.size(), ' ');
  void *a = llvm::cantFail(device().allocate(text.size()));
  void *b = llvm::cantFail(device().allocate(text.size()));
  KilnStream stream = llvm::cantFail(device().createStream());
  llvm::cantFail(device().copy(a, text.data(), text.size(), KILN_COPY_TO_DEVICE, stream));
  llvm::cantFail(device().copy(b, a, text.size(), KILN_COPY_ON_DEVICE, stream));
  llvm::cantFail(device().copy(back.data(), b, text.size(), KILN_COPY_FROM_DEVICE, stream));
  llvm::cantFail(device().synchronize(stream));
  EXPECT_EQ(back, text);
  llvm::cantFail(device().destroyStream(stream));
  llvm::cantFail(device().free(a));
  llvm::cantFail(device().free(b));
  auto memory = device().allocate(uint64_t(1) << 50);
  Failure failure = failureOf(memory.takeError());
  EXPECT_EQ(failure.code, KILN_ERROR_OUT_OF_MEMORY);
  EXPECT_THAT(failure.text, HasSubstr("1125899906842624 bytes"));
}
