// A kernel that prints and asserts, on the driver that records its calls: the same as elsewhere.
#include "CUDATest.h"

using namespace kiln;
using namespace kiln::testing;

TEST_F(CUDATest, MessagesAreReadBehindTheLaunch) {
  Artifact talker = artifact("code", R"(,{"kind":"messages"}],"messages":[
      {"kind":"signed","text":"n"},
      {"kind":"assert","text":"x < n","file":"k.py","line":7,"column":3}])");
  Setting messages("KILN_FAKE_MESSAGES", "2 1 0 0 0 0 42 2 5 0 0 0 0");
  KilnLaunchOptions options = gridOf(1);
  ::testing::internal::CaptureStdout();
  EXPECT_EQ(run(talker, &options).text, "");
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "(0, 0, 0) n: 42\n");
  EXPECT_THAT(calls(), AllOf(HasSubstr("cuMemHostAlloc 1048576 flags 3\n"),
                             HasSubstr("cuLaunchHostFunc\n")));
  Failure failure = failureOf(device().synchronize(nullptr));
  EXPECT_EQ(failure.code, KILN_ERROR_ASSERT);
  EXPECT_EQ(failure.text, "kernel 'k': assertion failed: x < n at k.py:7:3 in program (5, 0, 0)");
  EXPECT_EQ(failureOf(device().synchronize(nullptr)).text, "");
}
