// The check of waits where waves have roles: they meet others at words in LDS that count arrivals,
// and each takes one path.
#include "Kernels.h"
#include "kiln/Target/AMDGPU/Waits.h"
#include "gmock/gmock.h"

using namespace kiln::amdgcn;
using namespace kiln::testing;
using ::testing::HasSubstr;

static std::string check(const std::string &body, const std::string &chip = "gfx942") {
  return textOf(checkWaits(parseKernel(inKernel(body, chip, 256))));
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

/// Which waves come by tells how far into LDS they reach.
TEST(Roles, WavesAreNumberedWithin) {
  std::string others = "\ts_cbranch_scc0 .LBB0_1\n";
  std::string body = "\tv_lshrrev_b32_e32 v2, 6, v0\n\tv_readfirstlane_b32 s8, v2\n"
                     "\tv_mov_b32_e32 v3, 0x1000\n\ts_cmp_gt_u32 s8, 1\n" +
                     others +
                     "\ts_add_i32 s9, s8, -2\n\ts_lshl_b32 s9, s9, 8\n"
                     "\tv_mov_b32_e32 v1, s9\n\tds_write_b32 v1, v5\n\tds_read_b32 v6, v3\n"
                     "\ts_waitcnt lgkmcnt(0)\n.LBB0_1:\n";
  EXPECT_EQ(check(body), "");
  EXPECT_THAT(check(replaced(body, others, "")), HasSubstr("any byte"));
  EXPECT_THAT(check(replaced(body, "scc0", "scc1")), HasSubstr("any byte"));
  EXPECT_THAT(check(replaced(body, "0x1000", "0x100")), HasSubstr("bytes 0 to 259"));
  // Each comparison as it is, and as it is not.
  struct {
    const char *comparison;
    bool ifHolds, ifNot;
  } cases[] = {{"s_cmp_ge_u32 s8, 2", true, false}, {"s_cmp_lt_u32 s8, 2", false, true},
               {"s_cmp_le_u32 s8, 1", false, true}, {"s_cmp_eq_u32 s8, 3", true, false},
               {"s_cmp_lg_u32 s8, 3", false, true}, {"s_cmpk_gt_u32 s8, 0x1", true, false}};
  for (auto [comparison, ifHolds, ifNot] : cases) {
    std::string other = replaced(body, "s_cmp_gt_u32 s8, 1", comparison);
    EXPECT_EQ(check(other).empty(), ifHolds) << comparison;
    EXPECT_EQ(check(replaced(other, "scc0", "scc1")).empty(), ifNot) << comparison;
  }
  // What is compared no longer stands there.
  EXPECT_THAT(check(replaced(body, others, "\ts_mov_b32 s8, s10\n" + others)), HasSubstr("any"));
  EXPECT_THAT(check(replaced(body, others, "\ts_lshl_b32 s11, s10, 1\n" + others)),
              HasSubstr("any"));
}

/// LLVM joins the paths of roles and parts them again by a constant.
TEST(Roles, PathsStayApart) {
  std::string leave = "\ts_mov_b64 s[4:5], 0\n";
  std::string body = "\ts_mov_b64 s[4:5], -1\n\ts_cbranch_scc0 .LBB0_1\n\tds_write_b32 v1, v5\n"
                     "\ts_waitcnt lgkmcnt(0)\n" +
                     leave +
                     ".LBB0_1:\n\ts_andn2_b64 vcc, exec, s[4:5]\n\ts_cbranch_vccnz .LBB0_2\n"
                     "\tds_read_b32 v6, v1\n\ts_waitcnt lgkmcnt(0)\n.LBB0_2:\n";
  EXPECT_EQ(check(body), "");
  EXPECT_THAT(check(replaced(body, leave, "")), HasSubstr("a barrier between"));
  EXPECT_THAT(check(replaced(body, leave, "\ts_mov_b64 s[4:5], s[8:9]\n")),
              HasSubstr("a barrier between"));
  std::string turned = replaced(body, "andn2", "and");
  EXPECT_THAT(check(turned), HasSubstr("a barrier between"));
  EXPECT_EQ(check(replaced(turned, "vccnz", "vccz")), "");
  // On gfx12 a wait for the mask stands in between.
  std::string wide = "\ts_mov_b32 s4, -1\n\ts_cbranch_scc0 .LBB0_1\n\tds_store_b32 v1, v5\n"
                     "\ts_wait_dscnt 0x0\n\ts_mov_b32 s4, 0\n.LBB0_1:\n"
                     "\ts_wait_alu depctr_sa_sdst(0)\n\ts_and_not1_b32 vcc_lo, exec_lo, s4\n"
                     "\ts_wait_alu depctr_sa_sdst(0)\n\ts_cbranch_vccnz .LBB0_2\n"
                     "\tds_load_b32 v6, v1\n\ts_wait_dscnt 0x0\n.LBB0_2:\n";
  EXPECT_EQ(check(wide, "gfx1201"), "");
  EXPECT_THAT(check(replaced(wide, "s4, 0", "s4, -1"), "gfx1201"), HasSubstr("a barrier between"));
}

/// The slot of a ring that is counted: it goes round in the trips of a loop, by what the scalar
/// unit compares and chooses, and so it stays below what lies behind the ring.
TEST(Slots, GoRound) {
  std::string compare = "\ts_cmp_eq_u32 s4, 6\n", choose = "\ts_cselect_b32 s4, 0, s4\n";
  std::string body = "\tv_mov_b32_e32 v3, 0x6000\n\ts_mov_b32 s4, 0\n.LBB0_1:\n"
                     "\tds_read_b32 v6, v3\n\ts_lshl_b32 s5, s4, 12\n\tv_mov_b32_e32 v1, s5\n"
                     "\tds_write_b32 v1, v5\n\ts_waitcnt lgkmcnt(0)\n\ts_add_i32 s4, s4, 1\n" +
                     compare + choose +
                     "\ts_add_i32 s8, s8, -1\n\ts_cmp_lg_u32 s8, 0\n\ts_cbranch_scc1 .LBB0_1\n";
  EXPECT_EQ(check(body), "");
  EXPECT_THAT(check(replaced(body, compare, "\ts_cmp_eq_u32 s4, 7\n")), HasSubstr("24576 to"));
  EXPECT_THAT(check(replaced(body, compare, "\ts_cmp_eq_u32 s9, 6\n")), HasSubstr("24576 to"));
  EXPECT_THAT(check(replaced(body, choose, "")), HasSubstr("24576 to"));
  std::string other = replaced(body, compare, "\ts_cmp_lg_u32 s4, 6\n");
  EXPECT_EQ(check(replaced(other, choose, "\ts_cselect_b32 s4, s4, 0\n")), "");
  EXPECT_THAT(check(replaced(body, choose, "\ts_mov_b32 s4, s10\n" + choose)),
              HasSubstr("24576 to"));
  EXPECT_EQ(check(replaced(body, compare + choose, "\ts_and_b32 s4, s4, 3\n")), "");
  // The condition, put by as a mask, and asked for again.
  std::string put = "\ts_cselect_b64 s[6:7], -1, 0\n";
  std::string ask = "\ts_and_b64 s[6:7], s[6:7], exec\n";
  std::string again = replaced(body, choose, put + "\ts_cmp_eq_u32 s9, 0\n" + ask + choose);
  EXPECT_EQ(check(again), "");
  EXPECT_THAT(check(replaced(again, ask, "")), HasSubstr("24576 to"));
  EXPECT_THAT(check(replaced(again, ask, "\ts_mov_b64 s[6:7], s[10:11]\n" + ask)),
              HasSubstr("24576 to"));
  EXPECT_THAT(check(replaced(again, put, "\ts_cselect_b64 s[6:7], -1, 1\n")),
              HasSubstr("24576 to"));
  EXPECT_EQ(check(replaced(replaced(again, "-1, 0", "0, -1"), "0, s4", "s4, 0")), "");
  EXPECT_EQ(check(replaced(replaced(again, "0, s4", "s4, 0"), ask,
                           "\ts_andn2_b64 s[6:7], exec, s[6:7]\n")),
            "");
  // One that is no slot there lies on no path.
  std::string past = replaced(body, "\tds_read_b32",
                              "\ts_cmp_gt_u32 s4, 5\n\ts_cbranch_scc1 "
                              ".LBB0_2\n\tds_read_b32") +
                     ".LBB0_2:\n\tv_mov_b32_e32 v7, v6\n";
  EXPECT_EQ(check(past), "");
}
