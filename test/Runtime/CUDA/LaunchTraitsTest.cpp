// Clusters, cooperative and overlapping launches, priorities: what the driver is told.
#include "CUDATest.h"

using namespace kiln;
using namespace kiln::testing;

TEST_F(CUDATest, Clusters) {
  KilnLaunchOptions options = gridOf(32);
  EXPECT_EQ(run(artifact("code", R"(],"cluster":[2,1,1])"), &options).text, "");
  EXPECT_THAT(calls(), HasSubstr("32x1x1 of 128 attribute 4: 2x1x1\n"));
  EXPECT_EQ(run(artifact("code", R"(],"cluster":[16,1,1])"), &options).text, "");
  EXPECT_THAT(calls(), HasSubstr("cuFuncSetAttribute 14=1"));
  options = gridOf(33);
  EXPECT_THAT(run(artifact("code", R"(],"cluster":[2,1,1])"), &options).text,
              AllOf(HasSubstr("kernel 'k'"), HasSubstr("whole clusters of 2 x 1 x 1"),
                    HasSubstr("got 33 x 1 x 1")));
  EXPECT_THAT(calls(), Not(HasSubstr("cuLaunch")));
}

/// Of a persistent kernel the grid is that of the tiles, and clusters of programs lie behind one
/// another along x: as many as are wanted, or as the multiprocessors hold.
TEST_F(CUDATest, ClustersTakeClustersOfTiles) {
  auto launched = [&](const char *how, int64_t x, int64_t y) {
    KilnLaunchOptions options = gridOf(x, y);
    Failure failure =
        run(artifact("code", R"(],"own_cluster":true,)" + std::string(how)), &options);
    return failure.text.empty() ? calls() : failure.text;
  };
  EXPECT_THAT(launched(R"("programs":12,"cluster":[2,2,1])", 8, 4), HasSubstr("Ex 6x2x1 of 128"));
  EXPECT_THAT(launched(R"("programs":12,"cluster":[2,2,1])", 4, 2), HasSubstr("Ex 4x2x1 of 128"));
  EXPECT_THAT(launched(R"("programs":12,"cluster":[1,2,1])", 3, 40), HasSubstr("Ex 6x2x1 of 128"));
  EXPECT_THAT(launched(R"("programs":12,"cluster":[2,2,1])", 8, 3),
              HasSubstr("whole clusters of 2 x 2 x 1 programs, got 8 x 3 x 1"));
  KilnLaunchOptions options = gridOf(8, 4);
  options.cluster[0] = 4;
  EXPECT_THAT(
      run(artifact("code", R"(],"own_cluster":true,"cluster":[2,1,1])"), &options).text,
      HasSubstr("expected the clusters that the kernel is compiled for, of 2 programs along "
                "axis 0, got 4"));
}

TEST_F(CUDATest, OptionsOfOneLaunch) {
  KilnLaunchOptions options = gridOf(32, 4);
  options.cluster[1] = 4;
  options.cooperative = 1;
  options.has_priority = 1;
  options.priority = -3;
  EXPECT_EQ(run(artifact("code", "]"), &options).text, "");
  EXPECT_THAT(calls(), HasSubstr("cuLaunchKernelEx 32x4x1 of 128 attribute 4: 1x4x1 "
                                 "attribute 2: 1x0x0 attribute 8: -3x0x0\n"));
  // A caller who knows nothing of them has a shorter structure; what lies behind it is not read.
  options.struct_size = offsetof(KilnLaunchOptions, cluster);
  EXPECT_EQ(run(artifact("code", "]"), &options).text, "");
  EXPECT_THAT(calls(), AllOf(HasSubstr("cuLaunchKernel 32x4x1"), Not(HasSubstr("KernelEx"))));
  options = gridOf(32);
  options.cluster[0] = -2;
  EXPECT_THAT(run(artifact("code", "]"), &options).text,
              HasSubstr("clusters of extents from 1 to 1024, got -2"));
}

TEST_F(CUDATest, OverlapNeedsAKernelThatWaits) {
  KilnLaunchOptions options = gridOf(8);
  EXPECT_EQ(run(artifact("code", R"(],"overlap":true)"), &options).text, "");
  EXPECT_THAT(calls(), HasSubstr("8x1x1 of 128 attribute 6: 1x0x0\n"));
  options.overlap = 1;
  Failure failure = run(artifact("code", "]"), &options);
  EXPECT_EQ(failure.code, KILN_ERROR_INVALID_ARGUMENT);
  EXPECT_THAT(failure.text, HasSubstr("a kernel that is compiled to overlap what precedes it"));
}

TEST_F(CUDATest, CooperativeLaunchesThatDoNotFit) {
  KilnLaunchOptions options = gridOf(4000);
  EXPECT_THAT(run(artifact("code", R"(],"cooperative":true)"), &options).text,
              AllOf(HasSubstr("kernel 'k': expected a cooperative launch of programs that run all "
                              "at once, 16 on each multiprocessor, got 4000"),
                    HasSubstr("cuLaunchKernelEx failed")));
}

TEST_F(CUDATest, MetadataOfClustersIsNotTrusted) {
  for (const char *cluster : {"[0,1,1]", "[1,-1,1]", "[1,1,4611686018427387904]"}) {
    auto loaded = device().load(artifact("code", R"(],"cluster":)" + std::string(cluster)));
    ASSERT_FALSE(bool(loaded));
    EXPECT_THAT(failureOf(loaded.takeError()).text, HasSubstr("a negative size or count"));
  }
}

/// Devices that cannot do it say so, and name what was asked for.
TEST_F(CUDATest, TheHostRefusesTraits) {
  auto executable = llvm::cantFail(device("cpu").load(countArtifact("nogrid")));
  int64_t out[4] = {};
  auto reason = [&](auto set) {
    KilnLaunchOptions options = gridOf(4);
    set(options);
    return failureOf(launchExecutable(*executable, {pointer(out), integer(4)}, &options));
  };
  Failure failure = reason([](KilnLaunchOptions &o) { o.cluster[0] = 2; });
  EXPECT_EQ(failure.code, KILN_ERROR_UNSUPPORTED);
  EXPECT_THAT(failure.text, HasSubstr("expected a device that has clusters, got 'cpu'"));
  EXPECT_THAT(reason([](KilnLaunchOptions &o) { o.cooperative = 1; }).text,
              HasSubstr("cooperative launches, got 'cpu'"));
  EXPECT_THAT(reason([](KilnLaunchOptions &o) { o.overlap = 1; }).text,
              HasSubstr("launches that overlap, got 'cpu'"));
  EXPECT_THAT(reason([](KilnLaunchOptions &o) { o.has_priority = 1; }).text,
              HasSubstr("launches with a priority, got 'cpu'"));
  EXPECT_EQ(reason([](KilnLaunchOptions &o) { o.cluster[0] = 1; }).text, "");
}
