// What the run of a block's waves computes with parts of registers, with numbers
// of other lanes, and with what it reads.
#include "Kernels.h"
#include "gmock/gmock.h"

using namespace kiln::amdgcn;
using namespace kiln::testing;
using ::testing::HasSubstr;

TEST(Replay, PartsOfRegistersAreComputedWith) {
  auto runWith = [](const std::string &place, const std::string &chip) {
    bool isNew = chip != "gfx942";
    std::string wait = chip == "gfx1201" ? "  s_wait_dscnt 0x0\n" : "  s_waitcnt lgkmcnt(0)\n";
    return run("  v_lshlrev_b32_e32 v1, 2, v0\n  v_or_b32_e32 v4, 0x120000, v0\n" + place +
                   (isNew ? "  ds_store_b32 v1, v0\n" : "  ds_write_b32 v1, v0\n") + wait +
                   (isNew ? "  ds_load_b32 v3, v2\n" : "  ds_read_b32 v3, v2\n") + wait,
               chip);
  };
  EXPECT_EQ(runWith("  v_lshlrev_b16_e32 v2, 2, v4\n", "gfx942"), "");
  EXPECT_EQ(runWith("  v_mul_lo_u16_e32 v2, 4, v4\n", "gfx942"), "");
  EXPECT_EQ(runWith("  v_mov_b32_e32 v5, 2\n  v_lshlrev_b32_sdwa v2, v5, v4 dst_sel:DWORD "
                    "dst_unused:UNUSED_PAD src0_sel:DWORD src1_sel:BYTE_0\n",
                    "gfx942"),
            "");
  // Later chips keep the other half.
  EXPECT_EQ(runWith("  v_mov_b32_e32 v2, 0\n  v_lshlrev_b16 v2, 2, v4\n", "gfx1201"), "");
  EXPECT_NE(runWith("  v_mov_b32_e32 v2, v4\n  v_lshlrev_b16 v2, 2, v4\n", "gfx1201"), "");
  EXPECT_EQ(runWith("  v_mov_b32_e32 v2, 0\n  v_mov_b16_e32 v2.l, v1.l\n", "gfx1100"), "");
  EXPECT_NE(runWith("  v_mov_b32_e32 v2, 0\n  v_mov_b16_e32 v2.h, v1.l\n", "gfx1100"), "");
}

/// Of a register that holds an address one half may be written, and then that half alone is known.
TEST(Replay, HalvesAreKnownApart) {
  auto runWith = [](const std::string &half) {
    return run("  s_getpc_b64 s[6:7]\n  v_mov_b32_e32 v4, s6\n  v_mov_b16_e32 v4.h, 0\n"
               "  v_lshlrev_b32_e32 v2, 2, v0\n  v_mov_b32_e32 v5, 0\n  v_mov_b16_e32 v5.l, " +
                   half + "\n  v_or_b32_e32 v2, v2, v5\n  ds_store_b32 v2, v0\n",
               "gfx1100");
  };
  EXPECT_EQ(runWith("v4.h"), "");
  EXPECT_THAT(runWith("v4.l"), HasSubstr("follows from numbers that are known, got one by "
                                         "'s_getpc_b64'"));
}

/// Each thread of 256 reads the word that it wrote if v4 is what it should be, v7; else one that
/// another wave has written.
static std::string readIfEqual(const std::string &body, const std::string &chip) {
  bool isNew = chip != "gfx942" && chip != "gfx950";
  std::string wait = chip == "gfx1201" ? "  s_wait_dscnt 0x0\n" : "  s_waitcnt lgkmcnt(0)\n";
  return run("  v_lshlrev_b32_e32 v1, 2, v0\n" + body +
                 "  v_xor_b32_e32 v8, v4, v7\n  v_min_u32_e32 v8, 1, v8\n"
                 "  v_lshlrev_b32_e32 v8, 8, v8\n  v_xor_b32_e32 v2, v1, v8\n" +
                 (isNew ? "  ds_store_b32 v1, v0\n" : "  ds_write_b32 v1, v0\n") + wait +
                 (isNew ? "  ds_load_b32 v3, v2\n" : "  ds_read_b32 v3, v2\n") + wait,
             chip);
}

TEST(Replay, NumbersMoveBetweenRowsOfLanes) {
  struct {
    const char *chip, *permute, *expected;
    bool isRight = true;
  } cases[] = {
      // Odd rows of the first register are even ones of the second.
      {"gfx950", "v_permlane16_swap_b32_e32 v4, v5", "v_and_b32_e32 v7, 0xef, v0"},
      {"gfx950", "v_permlane16_swap_b32_e32 v5, v4", "v_or_b32_e32 v7, 16, v0"},
      {"gfx950", "v_permlane16_swap_b32_e32 v5, v4", "v_mov_b32_e32 v7, v0", false},
      {"gfx950", "v_permlane32_swap_b32_e32 v4, v5", "v_and_b32_e32 v7, 0xdf, v0"},
      {"gfx950", "v_permlane32_swap_b32_e32 v5, v4", "v_or_b32_e32 v7, 32, v0"},
      {"gfx1100", "v_permlane16_b32 v4, v5, s20, s21", "v_xor_b32_e32 v7, 15, v0"},
      {"gfx1100", "v_permlane16_b32 v4, v5, s20, s21", "v_mov_b32_e32 v7, v0", false},
      {"gfx1201", "v_permlanex16_b32 v4, v5, s20, s21 op_sel:[1,0]", "v_xor_b32_e32 v7, 31, v0"},
      {"gfx1201", "v_permlane16_var_b32 v4, v5, v6", "v_xor_b32_e32 v7, 5, v0"},
      {"gfx1201", "v_permlanex16_var_b32 v4, v5, v6", "v_xor_b32_e32 v7, 21, v0"},
      {"gfx1100", "v_permlane64_b32 v4, v5", "v_mov_b32_e32 v7, v0"}};
  for (auto [chip, permute, expected, isRight] : cases) {
    std::string found = readIfEqual("  v_mov_b32_e32 v4, v0\n  v_mov_b32_e32 v5, v0\n"
                                    "  v_xor_b32_e32 v6, 5, v0\n  s_mov_b32 s20, 0x89abcdef\n"
                                    "  s_mov_b32 s21, 0x1234567\n  " +
                                        std::string(permute) + "\n  " + expected + "\n",
                                    chip);
    EXPECT_EQ(found.empty(), isRight) << permute << ", " << expected << "\n" << found;
  }
}

/// Lanes that are off give nothing unless they are asked to, and are given nothing.
TEST(Replay, RowsTakeFromLanesThatAreOn) {
  auto permute = [](const std::string &modifiers, const std::string &expected) {
    return readIfEqual("  v_mov_b32_e32 v4, 0x80\n  v_mov_b32_e32 v5, v0\n"
                       "  v_mov_b32_e32 v7, 0x80\n  s_mov_b32 s20, 0x89abcdef\n"
                       "  s_mov_b32 s21, 0x1234567\n  s_mov_b32 exec_lo, 0xff\n"
                       "  v_permlane16_b32 v4, v5, s20, s21" +
                           modifiers + "\n  " + expected + "\n  s_mov_b32 exec_lo, -1\n",
                       "gfx1100");
  };
  EXPECT_EQ(permute("", ""), "");
  EXPECT_EQ(permute(" op_sel:[0,1]", "v_mov_b32_e32 v7, 0"), "");
  EXPECT_EQ(permute(" op_sel:[1,0]", "v_xor_b32_e32 v7, 15, v0"), "");
}

/// The least and the greatest of numbers that are drawn go by which they are.
TEST(Replay, MinimaAndMaximaAreOfSets) {
  auto compare = [](const std::string &first, const std::string &second) {
    return readIfEqual("  s_load_dwordx2 s[4:5], s[0:1], 0x0\n  s_waitcnt lgkmcnt(0)\n"
                       "  global_load_dwordx2 v[10:11], v1, s[4:5]\n  s_waitcnt vmcnt(0)\n  " +
                           first + "\n  " + second + "\n",
                       "gfx950");
  };
  EXPECT_EQ(compare("v_maximum3_f32 v4, v10, v11, v11", "v_maximum3_f32 v7, v11, v10, v10"), "");
  EXPECT_EQ(compare("v_max3_f32 v4, v10, v11, v10", "v_max_f32_e32 v7, v11, v10"), "");
  EXPECT_NE(compare("v_maximum3_f32 v4, v10, v11, v11", "v_minimum3_f32 v7, v11, v10, v10"), "");
  EXPECT_NE(compare("v_maximum3_f32 v4, v10, v11, v11", "v_maximum3_f32 v7, v10, v10, v10"), "");
}

/// Operands that come from other lanes, in each form that an instruction has for that.
TEST(Replay, PatternsOfLanesAreRead) {
  auto swap = [](const std::string &permute, const std::string &expected,
                 const std::string &chip = "gfx1201") {
    return readIfEqual("  v_mov_b32_e32 v5, v0\n  v_mov_b32_e32 v6, 2\n  v_mov_b32_e32 v4, 7\n  " +
                           permute + " row_mask:0xf bank_mask:0xf\n  " + expected + "\n",
                       chip);
  };
  const std::string other = "v_xor_b32_e32 v7, 1, v0";
  EXPECT_EQ(swap("v_mov_b32_dpp v4, v5 row_xmask:1", other), "");
  EXPECT_NE(swap("v_mov_b32_dpp v4, v5 row_xmask:3", other), "");
  EXPECT_EQ(swap("v_mov_b32_dpp v4, v5 quad_perm:[1,0,3,2]", other, "gfx942"), "");
  EXPECT_EQ(swap("v_xor_b32_dpp v4, v5, v6 row_xmask:1", "v_xor_b32_e32 v7, 3, v0"), "");
  EXPECT_EQ(
      swap("v_add_nc_u32_e64_dpp v4, v5, v6 row_xmask:1", other + "\n  v_add_nc_u32_e32 v7, 2, v7"),
      "");
  // Of a mask that a register has, and with nothing that stays.
  std::string mask = "s_mov_b32 vcc_lo, -1\n  v_cndmask_b32_dpp v4, v6, v5, vcc_lo row_xmask:1";
  EXPECT_EQ(swap(mask, "v_mov_b32_e32 v7, v0"), "");
  // Rows that take no part keep what stood there.
  std::string none = "v_mov_b32_dpp v4, v5 row_xmask:1 row_mask:0x0 bank_mask:0xf\n  v_mov_b32_dpp "
                     "v9, v5 row_xmask:1";
  EXPECT_EQ(swap(none, "v_mov_b32_e32 v7, 7"), "");
}

/// A butterfly gives all lanes of a row the greatest of what they have loaded.
TEST(Replay, LanesOfARowHaveOneMaximum) {
  auto reduce = [](const std::string &word, const std::string &lanes) {
    std::string body = "  s_load_b64 s[4:5], s[0:1], 0x0\n  s_wait_kmcnt 0x0\n"
                       "  global_load_b32 v4, v1, s[4:5]\n  s_wait_loadcnt 0x0\n";
    for (char lane : lanes)
      body += "  " + word + " v4, v4, v4 row_xmask:" + lane + " row_mask:0xf bank_mask:0xf\n";
    return readIfEqual(body + "  v_mov_b32_dpp v7, v4 row_share:0 row_mask:0xf bank_mask:0xf\n",
                       "gfx1201");
  };
  for (const char *word : {"v_maximum_f32_e64_dpp", "v_max_num_f32_dpp", "v_max_u32_dpp"}) {
    EXPECT_EQ(reduce(word, "1248"), "") << word;
    EXPECT_NE(reduce(word, "124"), "") << word;
  }
}

/// Who looks again and again at what others write sees it change; who works in between does not.
TEST(Replay, WhatIsReadAgainStaysTheSame) {
  std::string body = "  s_load_dwordx2 s[4:5], s[0:1], 0x0\n  s_waitcnt lgkmcnt(0)\n"
                     "  v_mov_b32_e32 v9, 0\n  global_load_dword v7, v9, s[4:5]\n"
                     "  s_waitcnt vmcnt(0)\n  s_mov_b32 s8, 8\n.LBB0_1:\n"
                     "  global_load_dword v4, v9, s[4:5]\n  s_waitcnt vmcnt(0)\n"
                     "  ds_write_b32 v1, v0 offset:4096\n  s_add_i32 s8, s8, -1\n"
                     "  s_cmp_lg_u32 s8, 0\n  s_cbranch_scc1 .LBB0_1\n";
  EXPECT_EQ(readIfEqual(body, "gfx942"), "");
  EXPECT_NE(readIfEqual(replaced(body, "  ds_write_b32 v1, v0 offset:4096\n", ""), "gfx942"), "");
}
