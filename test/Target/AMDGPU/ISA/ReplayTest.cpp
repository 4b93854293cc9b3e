// The order of the waves of a block: kernels that are right run to their end, and whatever is taken
// from what orders them is found, though the proof of all paths does not see it.
#include "kiln/Target/AMDGPU/Replay.h"
#include "Kernels.h"
#include "gmock/gmock.h"

using namespace kiln::amdgcn;
using namespace kiln::testing;
using ::testing::AllOf;
using ::testing::HasSubstr;

/// What the proof of all paths says.
static std::string prove(const std::string &body, const std::string &chip = "gfx942") {
  return textOf(checkWaits(parseKernel(inKernel(body, chip, 256))));
}

/// The text, once, with the n-th of such places replaced.
static std::string replacedAt(std::string text, const std::string &from, unsigned number,
                              const std::string &to) {
  size_t at = text.find(from);
  while (number-- && at != std::string::npos)
    at = text.find(from, at + 1);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

/// Each of 256 threads writes a word and reads that of the next wave.
static const char kHandedOn[] = R"(
  v_lshlrev_b32_e32 v1, 2, v0
  v_add_u32_e32 v2, 0x100, v1
  v_and_b32_e32 v2, 0x3ff, v2
  ds_write_b32 v1, v0
  s_waitcnt lgkmcnt(0)
  s_barrier
  ds_read_b32 v3, v2
  s_waitcnt lgkmcnt(0)
)";

TEST(Replay, ABarrierThatIsMissingIsFound) {
  EXPECT_EQ(run(kHandedOn), "");
  EXPECT_THAT(run(replaced(kHandedOn, "  s_barrier\n", "")),
              AllOf(HasSubstr("of LDS, where nothing is written before")));
  // In the other order of the waves, and where all is written.
  std::string twice = std::string(kHandedOn) + "  s_barrier\n  v_add_u32_e32 v4, 1, v0\n"
                                               "  ds_write_b32 v1, v4\n";
  EXPECT_EQ(run(twice), "");
  EXPECT_THAT(run(replacedAt(twice, "  s_barrier\n", 1, "")),
              AllOf(HasSubstr("writes byte"), HasSubstr("reads by 'ds_read_b32'"),
                    HasSubstr("expected a barrier, or an arrival and a look at it, in between")));
}

TEST(Replay, AWaitThatIsMissingIsFound) {
  EXPECT_THAT(run(replaced(kHandedOn, "  s_waitcnt lgkmcnt(0)\n", "")),
              HasSubstr("expected a wait for that, and a barrier or an arrival behind it, before"));
  EXPECT_THAT(run(replaced(kHandedOn, "lgkmcnt(0)\n  s_barrier", "lgkmcnt(1)\n  s_barrier")),
              HasSubstr("expected a wait for that"));
}

/// Two of four waves fill a ring of two slots, of which each wave has its part, eight times; two
/// take. A word of LDS a slot counts who has filled it from byte 0x1000 on, who has taken from
/// 0x1010 on; an arrival counts two waves in a phase, and a phase more until the word is zero
/// again.
static const char kRoles[] = R"(
  v_lshrrev_b32_e32 v1, 6, v0
  v_and_b32_e32 v2, 63, v0
  v_readfirstlane_b32 s8, v1
  v_mov_b32_e32 v3, 0
  v_mov_b32_e32 v4, 3
  v_cmp_eq_u32_e64 s[16:17], 0, v2
  v_mov_b32_e32 v5, 0x1000
  v_cmp_gt_u32_e32 vcc, 8, v0
  v_lshlrev_b32_e32 v6, 2, v0
  v_add_u32_e32 v6, 0x1000, v6
  s_and_saveexec_b64 s[18:19], vcc
  ds_write_b32 v6, v3
  s_or_b64 exec, exec, s[18:19]
  s_waitcnt lgkmcnt(0)
  s_barrier
  s_mov_b32 s10, 0
  s_and_b32 s9, s8, 1
  v_lshl_add_u32 v7, s9, 6, v2
  v_lshlrev_b32_e32 v7, 2, v7
  s_cmp_gt_u32 s8, 1
  s_cbranch_scc1 .LBB0_10
.LBB0_1:
  s_and_b32 s11, s10, 1
  s_lshl_b32 s12, s11, 3
  v_add_u32_e32 v8, s12, v5
  s_lshr_b32 s13, s10, 1
  s_and_b32 s13, s13, 1
.LBB0_2:
  ds_read_b32 v9, v8 offset:16
  s_waitcnt lgkmcnt(0)
  v_readfirstlane_b32 s14, v9
  s_lshr_b32 s14, s14, 1
  s_cmp_eq_u32 s14, s13
  s_cbranch_scc1 .LBB0_3
  s_sleep 1
  s_branch .LBB0_2
.LBB0_3:
  s_lshl_b32 s15, s11, 10
  v_add_u32_e32 v10, s15, v7
  v_add_u32_e32 v11, s10, v0
  ds_write_b32 v10, v11
  s_waitcnt lgkmcnt(0)
  s_and_saveexec_b64 s[18:19], s[16:17]
  s_cbranch_execz .LBB0_4
  ds_inc_u32 v8, v4
.LBB0_4:
  s_or_b64 exec, exec, s[18:19]
  s_add_i32 s10, s10, 1
  s_cmp_lt_u32 s10, 8
  s_cbranch_scc1 .LBB0_1
  s_branch .LBB0_20
.LBB0_10:
  s_and_b32 s11, s10, 1
  s_lshl_b32 s12, s11, 3
  v_add_u32_e32 v8, s12, v5
  s_lshr_b32 s13, s10, 1
  s_add_i32 s13, s13, 1
  s_and_b32 s13, s13, 1
.LBB0_12:
  ds_read_b32 v9, v8
  s_waitcnt lgkmcnt(0)
  v_readfirstlane_b32 s14, v9
  s_lshr_b32 s14, s14, 1
  s_cmp_eq_u32 s14, s13
  s_cbranch_scc1 .LBB0_13
  s_sleep 1
  s_branch .LBB0_12
.LBB0_13:
  s_lshl_b32 s15, s11, 10
  v_xor_b32_e32 v10, 0x100, v7
  v_add_u32_e32 v10, s15, v10
  ds_read_b32 v11, v10
  s_waitcnt lgkmcnt(0)
  s_and_saveexec_b64 s[18:19], s[16:17]
  s_cbranch_execz .LBB0_14
  ds_inc_u32 v8, v4 offset:16
.LBB0_14:
  s_or_b64 exec, exec, s[18:19]
  s_add_i32 s10, s10, 1
  s_cmp_lt_u32 s10, 8
  s_cbranch_scc1 .LBB0_10
.LBB0_20:
)";

TEST(Replay, ARingBetweenRolesIsFollowedSlotBySlot) {
  EXPECT_EQ(prove(kRoles), "");
  EXPECT_EQ(run(kRoles), "");
  // Each mutant is one that the proof of all paths lets pass.
  const char *stuck = "no wave can go on: ", *unwritten = "where nothing is written before";
  struct {
    const char *from, *to, *expected;
    unsigned number = 0;
  } mutants[] = {
      // Those who fill tell of another slot, those who take, or nobody.
      {"ds_inc_u32 v8, v4\n", "ds_inc_u32 v8, v4 offset:8\n", stuck},
      {"ds_inc_u32 v8, v4 offset:16", "ds_inc_u32 v8, v4 offset:24", unwritten},
      {"  ds_inc_u32 v8, v4\n", "", stuck},
      {"  ds_inc_u32 v8, v4 offset:16\n", "", stuck},
      // Those who fill look at another slot, nobody looks, or for the phase before.
      {"ds_read_b32 v9, v8 offset:16", "ds_read_b32 v9, v8 offset:24", unwritten},
      {"s_cbranch_scc1 .LBB0_3", "s_branch .LBB0_3", stuck},
      {"s_cbranch_scc1 .LBB0_13", "s_branch .LBB0_13", stuck},
      {"s_add_i32 s13, s13, 1", "s_add_i32 s13, s13, 0", stuck},
      // For one of the two who fill.
      {"s_lshr_b32 s14, s14, 1", "s_add_i32 s14, s14, 1\n  s_lshr_b32 s14, s14, 1", unwritten, 1},
  };
  for (const auto &mutant : mutants) {
    std::string body = replacedAt(kRoles, mutant.from, mutant.number, mutant.to);
    EXPECT_EQ(prove(body), "") << mutant.to;
    EXPECT_THAT(run(body), HasSubstr(mutant.expected)) << mutant.to;
  }
  // An arrival in front of what it is to tell of.
  EXPECT_THAT(
      run(replacedAt(kRoles, "  s_waitcnt lgkmcnt(0)\n  s_and_saveexec", 1, "  s_and_saveexec")),
      HasSubstr("wave 0 writes byte 0 of LDS, which wave 3 reads by 'ds_read_b32'"));
}

TEST(Replay, WavesThatWaitForOneAnotherAreNamed) {
  EXPECT_EQ(run(replaced(kRoles, "  ds_inc_u32 v8, v4 offset:16\n", "")),
            "no wave can go on: wave 0 looks in line 34, wave 1 looks in line 34, wave 2 looks in "
            "line 65, wave 3 looks in line 65\n");
  // One half of the waves comes to a barrier that the others have in their way, too, once.
  std::string half = "  v_lshlrev_b32_e32 v1, 2, v0\n  v_readfirstlane_b32 s8, v0\n"
                     "  s_cmp_gt_u32 s8, 127\n"
                     "  s_cbranch_scc1 .LBB0_1\n  ds_write_b32 v1, v0\n.LBB0_0:\n"
                     "  ds_read_b32 v2, v1\n  s_waitcnt lgkmcnt(0)\n  v_readfirstlane_b32 s9, v2\n"
                     "  s_cmp_eq_u32 s9, 7\n  s_cbranch_scc1 .LBB0_1\n  s_sleep 1\n"
                     "  s_branch .LBB0_0\n.LBB0_1:\n  s_barrier\n";
  EXPECT_THAT(run(half), AllOf(HasSubstr("wave 0 looks in line 11"),
                               HasSubstr("wave 3 waits at the barrier of line 19")));
}

/// Two groups of waves, of which the second is a barrier behind.
TEST(Replay, AGroupThatLagsIsFollowed) {
  auto runSkewed = [](const std::string &body) {
    std::string all;
    for (const WaitProblem &problem :
         replay(parseKernel(inKernel(body, "gfx950", 256, kSkewedProtocol))).problems)
      all += problem.text;
    return all;
  };
  // Each wave fills its part of a slot and reads one that the other group fills.
  std::string body = replaced(kSkewed, "  v_mov_b32_e32 v2, 0\n",
                              "  v_mov_b32_e32 v2, 0\n  s_mov_b32 s8, 4\n"
                              "  v_xor_b32_e32 v3, 0x800, v1\n  v_readfirstlane_b32 s10, v0\n"
                              "  s_lshl_b32 s10, s10, 4\n");
  for (std::string from : {"s_mov_b32 m0, 0\n", "s_mov_b32 m0, 0\n"})
    body = replaced(body, from, "s_mov_b32 m0, s10\n");
  body = replaced(body, "s_mov_b32 m0, 0x1000\n", "s_add_i32 m0, s10, 0x1000\n");
  for (std::string from : {"v[12:15], v1\n", "v[12:15], v1 offset"})
    body = replaced(body, from, replaced(from, "v1", "v3"));
  EXPECT_EQ(runSkewed(body), "");
  // Less the one that the second group has in front, nobody lags, and all is right.
  for (unsigned number : {0u, 2u, 3u, 4u})
    EXPECT_NE(runSkewed(replacedAt(body, "  s_barrier\n", number, "")), "") << number;
}

/// Barriers in two halves, and waits by a counter each.
TEST(Replay, HalvesOfBarriersAreMetApart) {
  std::string body = "  v_lshlrev_b32_e32 v1, 2, v0\n  v_xor_b32_e32 v2, 0x80, v1\n"
                     "  ds_store_b32 v1, v0\n  s_wait_dscnt 0x0\n  s_barrier_signal -1\n"
                     "  v_mov_b32_e32 v3, 0\n  s_barrier_wait 0xffff\n"
                     "  ds_load_b32 v3, v2\n  s_wait_dscnt 0x0\n";
  EXPECT_EQ(run(body, "gfx1201"), "");
  EXPECT_THAT(run(replaced(body, "  s_barrier_wait 0xffff\n", ""), "gfx1201"), HasSubstr("of LDS"));
  EXPECT_THAT(run(replaced(body, "  s_wait_dscnt 0x0\n", ""), "gfx1201"),
              HasSubstr("expected a wait for that"));
  EXPECT_THAT(run(replaced(body, "  s_barrier_signal -1\n", ""), "gfx1201"), HasSubstr("of LDS"));
  // Of two in one instruction, too.
  std::string dual = replaced(body, "  v_lshlrev_b32_e32 v1, 2, v0\n",
                              "  v_dual_mov_b32 v4, 0 :: v_dual_lshlrev_b32 v1, 2, v0\n");
  EXPECT_EQ(run(dual, "gfx1201"), "");
}

/// A number goes from one wave to the others by LDS: they all make as many trips.
TEST(Replay, NumbersAreHandedOverByLDS) {
  std::string body = "  v_mov_b32_e32 v1, 0\n  v_mov_b32_e32 v2, 5\n  v_cmp_eq_u32_e32 vcc, 0, v0\n"
                     "  s_and_saveexec_b64 s[4:5], vcc\n  ds_write_b32 v1, v2\n"
                     "  s_or_b64 exec, exec, s[4:5]\n  s_waitcnt lgkmcnt(0)\n  s_barrier\n"
                     "  ds_read_b32 v3, v1\n  s_waitcnt lgkmcnt(0)\n  v_readfirstlane_b32 s8, v3\n"
                     "  v_lshlrev_b32_e32 v4, 2, v0\n.LBB0_1:\n  ds_write_b32 v4, v0 offset:16\n"
                     "  s_waitcnt lgkmcnt(0)\n  s_barrier\n  s_add_i32 s8, s8, -1\n"
                     "  s_cmp_lg_u32 s8, 0\n  s_cbranch_scc1 .LBB0_1\n";
  EXPECT_EQ(run(body), "");
  // Each wave its own.
  EXPECT_THAT(run(replaced(body, "v_readfirstlane_b32 s8, v3\n",
                           "v_readfirstlane_b32 s8, v3\n  v_readfirstlane_b32 s9, v0\n"
                           "  s_lshr_b32 s9, s9, 6\n  s_lshl_b32 s9, s9, 2\n"
                           "  v_mov_b32_e32 v5, s9\n  ds_read_b32 v6, v5\n")),
              HasSubstr("byte 4 of LDS, where nothing is written before"));
}

TEST(Replay, PlacesFollowFromWhatIsKnown) {
  std::string body = "  v_lshlrev_b32_e32 v1, 2, v0\n  v_sad_u32 v2, v1, 0, 0\n"
                     "  ds_write_b32 v1, v0\n  s_waitcnt lgkmcnt(0)\n  s_barrier\n"
                     "  ds_read_b32 v3, v2\n  s_waitcnt lgkmcnt(0)\n";
  EXPECT_EQ(run(body),
            "expected a place in LDS that follows from numbers that are known, got one by "
            "'v_sad_u32' of line 6\n");
  // Data may say where.
  std::string data = "  s_load_dwordx2 s[4:5], s[0:1], 0x0\n  s_waitcnt lgkmcnt(0)\n"
                     "  v_lshlrev_b32_e32 v1, 2, v0\n  global_load_dword v2, v1, s[4:5]\n"
                     "  ds_write_b32 v1, v0\n  s_waitcnt vmcnt(0) lgkmcnt(0)\n  s_barrier\n"
                     "  v_and_b32_e32 v2, 0x3fc, v2\n  ds_read_b32 v3, v2\n"
                     "  s_waitcnt lgkmcnt(0)\n";
  EXPECT_EQ(run(data), "");
  EXPECT_NE(run(replaced(data, "  s_barrier\n", "")), "");
}

/// Each reads the word that it wrote, if the place is computed right: elsewhere nothing is written.
/// What is put by in one lane says nothing of what is put by in another.
TEST(Replay, LanesArePutByApart) {
  std::string body = "  s_getpc_b64 s[4:5]\n  s_mov_b32 s6, 0\n  v_writelane_b32 v9, s4, 0\n"
                     "  v_writelane_b32 v9, s6, 1\n  v_readlane_b32 s7, v9, 1\n"
                     "  s_cmp_eq_u32 s7, 0\n  s_cbranch_scc1 .LBB0_1\n  s_nop 0\n.LBB0_1:\n"
                     "  s_barrier\n";
  EXPECT_EQ(run(body), "");
  KernelCode other = parseKernel(inKernel(replaced(body, "v9, 1", "v9, 0")));
  EXPECT_THAT(textOf(replay(other).problems),
              HasSubstr("expected a branch that follows from numbers that are known"));
}

/// Waves that hold the same may all store it: whoever comes later finds that it is there.
TEST(Replay, WhatIsThereAlreadyIsWrittenByAnybody) {
  std::string body = "  s_load_dwordx2 s[4:5], s[0:1], 0x0\n  s_waitcnt lgkmcnt(0)\n"
                     "  v_and_b32_e32 v1, 63, v0\n  v_lshlrev_b32_e32 v1, 2, v1\n"
                     "  v_lshlrev_b32_e32 v2, 2, v0\n  global_load_dword v4, v1, s[4:5]\n"
                     "  s_waitcnt vmcnt(0)\n  v_mul_f32_e32 v4, 2.0, v4\n  ds_write_b32 v1, v4\n"
                     "  s_waitcnt lgkmcnt(0)\n  s_barrier\n  ds_read_b32 v3, v1\n";
  EXPECT_EQ(run(body), "");
  EXPECT_THAT(run(replaced(body, "v4, v1, s[4:5]", "v4, v2, s[4:5]")),
              HasSubstr("which wave 0 writes by 'ds_write_b32'"));
}

/// A ring of three slots, of which two numbers that are always the same say where: as intervals of
/// bytes they may be any two.
TEST(Replay, PlacesThatMayBeTheSameAreDecided) {
  const std::string next = "  s_add_i32 s9, s9, 1\n  s_cmp_lg_u32 s9, 3\n"
                           "  s_cselect_b32 s9, s9, 0\n";
  const std::string body = "  v_lshlrev_b32_e32 v1, 2, v0\n  v_xor_b32_e32 v2, 0x100, v1\n"
                           "  s_mov_b32 s8, 9\n  s_mov_b32 s9, 0\n  s_mov_b32 s10, 0\n.LBB0_1:\n"
                           "  s_lshl_b32 s11, s9, 10\n  v_add_u32_e32 v3, s11, v1\n"
                           "  ds_write_b32 v3, v0\n  s_waitcnt lgkmcnt(0)\n  s_barrier\n"
                           "  s_lshl_b32 s11, s10, 10\n  v_add_u32_e32 v4, s11, v2\n"
                           "  ds_read_b32 v5, v4\n  s_waitcnt lgkmcnt(0)\n" +
                           next +
                           "  s_add_i32 s10, s10, 1\n  s_cmp_lg_u32 s10, 3\n"
                           "  s_cselect_b32 s10, s10, 0\n  s_add_i32 s8, s8, -1\n"
                           "  s_cmp_lg_u32 s8, 0\n  s_cbranch_scc1 .LBB0_1\n";
  auto decide = [](const std::string &text) {
    KernelCode kernel = parseKernel(inKernel(text));
    std::vector<WaitProblem> disputed = checkWaits(kernel);
    EXPECT_FALSE(disputed.empty());
    for (const WaitProblem &problem : disputed)
      EXPECT_FALSE(problem.earlier.empty()) << problem.text;
    return replay(kernel, disputed);
  };
  ReplayResult result = decide(body);
  EXPECT_TRUE(result.problems.empty());
  EXPECT_TRUE(result.undecided.empty());
  // Of one slot the next trip writes what others may read still.
  result = decide(replaced(replaced(body, "s9, 3\n", "s9, 1\n"), "s10, 3\n", "s10, 1\n"));
  ASSERT_EQ(result.problems.size(), 1u);
  EXPECT_THAT(result.problems.front().text, HasSubstr("expected a barrier"));
  // Where no wave comes by, nothing is decided.
  result = decide(replaced(body, "  ds_read_b32 v5, v4\n",
                           "  s_cmp_eq_u32 s8, 77\n  s_cbranch_scc0 .LBB0_2\n"
                           "  ds_read_b32 v5, v4\n.LBB0_2:\n"));
  EXPECT_TRUE(result.problems.empty());
  ASSERT_EQ(result.undecided.size(), 1u);
  EXPECT_THAT(result.undecided.front().text, HasSubstr("expected a barrier between"));
  // A wait for a register that is missing is no question of places.
  KernelCode kernel =
      parseKernel(inKernel(replaced(body, "ds_read_b32 v5, v4\n  s_waitcnt lgkmcnt(0)\n",
                                    "ds_read_b32 v5, v4\n  v_mov_b32_e32 v6, v5\n")));
  bool isFirm = false;
  for (const WaitProblem &problem : checkWaits(kernel))
    isFirm |= problem.earlier.empty();
  EXPECT_TRUE(isFirm);
}
