// The check of waits where waves meet others at words in LDS that count arrivals.
#include "Kernels.h"
#include "kiln/Target/AMDGPU/Waits.h"
#include "gmock/gmock.h"

using namespace kiln::amdgcn;
using namespace kiln::testing;
using ::testing::HasSubstr;

static std::string check(const std::string &body) {
  std::string all;
  for (const WaitProblem &problem : checkWaits(parseKernel(inKernel(body, "gfx942", 256))))
    all += problem.text + "\n";
  return all;
}

static std::string replaced(std::string text, const std::string &from, const std::string &to) {
  size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

/// A wave waits for what it tells of, and looks before it goes on.
TEST(Arrivals, WavesMeetAtAWord) {
  std::string write = "\tv_mov_b32_e32 v1, 0x100\n\tds_write_b32 v1, v5\n";
  std::string wait = "\ts_waitcnt lgkmcnt(0)\n", arrival = "\tds_inc_u32 v2, v3\n";
  std::string sleep = "\ts_sleep 1\n", read = "\tds_read_b32 v6, v1\n";
  std::string body = write + wait +
                     "\ts_and_saveexec_b64 s[4:5], s[6:7]\n\ts_cbranch_execz .LBB0_1\n" + arrival +
                     ".LBB0_1:\n\ts_or_b64 exec, exec, s[4:5]\n.LBB0_2:\n\tds_read_b32 v4, v2\n" +
                     wait + "\tv_readfirstlane_b32 s8, v4\n\ts_cmp_gt_u32 s8, 3\n" +
                     "\ts_cbranch_scc1 .LBB0_3\n" + sleep + "\ts_branch .LBB0_2\n.LBB0_3:\n" + read;
  EXPECT_EQ(check(body), "");
  EXPECT_THAT(check(replaced(body, wait, "")), HasSubstr("before an arrival tells of it"));
  EXPECT_THAT(check(replaced(body, arrival, "")), HasSubstr("a barrier between 'ds_write_b32'"));
  EXPECT_THAT(check(replaced(body, sleep, "")), HasSubstr("a barrier between 'ds_write_b32'"));
  // What came to LDS past the registers, too.
  std::string load = "\ts_mov_b32 m0, 0x100\n\tbuffer_load_dword v0, s[12:15], 0 offen lds\n";
  std::string copied = replaced(body, write, "\tv_mov_b32_e32 v1, 0x100\n" + load);
  EXPECT_THAT(check(copied), HasSubstr("before an arrival tells of it"));
  EXPECT_EQ(check(replaced(copied, wait, "\ts_waitcnt vmcnt(0)\n")), "");
}
