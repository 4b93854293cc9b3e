// Waits that could let one more access run on, and those that look so and are none.
#include "Kernels.h"
#include "kiln/Target/AMDGPU/Waits.h"
#include "gmock/gmock.h"

using namespace kiln::amdgcn;
using namespace kiln::testing;
using ::testing::HasSubstr;

static std::string findStrong(const std::string &body) {
  return textOf(findStrongWaits(parseKernel(inKernel(body))));
}

/// Who waits for a store in front of a barrier tells others of it, which the proof knows nothing
/// of.
TEST(StrongWaits, StoresAreWaitedForInFrontOfBarriers) {
  std::string body = ".LBB0_1:\n  global_store_dword v1, v2, s[4:5]\n  s_waitcnt vmcnt(0)\n"
                     "  s_barrier\n  s_add_i32 s8, s8, -1\n  s_cmp_lg_u32 s8, 0\n"
                     "  s_cbranch_scc1 .LBB0_1\n";
  EXPECT_EQ(findStrong(body), "");
  EXPECT_THAT(findStrong(replaced(body, "  s_barrier\n", "")),
              HasSubstr("expected a wait for fewer loads: one more may be outstanding"));
  EXPECT_THAT(findStrong(replaced(body, "global_store_dword v1, v2", "global_load_dword v2, v1")),
              HasSubstr("expected a wait for fewer loads: one more may be outstanding"));
}

/// What is moved behind the wait of a fence, in front of its barrier.
TEST(StrongWaits, FencesWaitForAllOfLDS) {
  std::string body = ".LBB0_1:\n  ds_write_b32 v1, v2\n  s_waitcnt lgkmcnt(0)\n"
                     "  global_load_dword v3, v1, s[4:5]\n  s_barrier\n  s_waitcnt vmcnt(0)\n"
                     "  v_mov_b32_e32 v4, v3\n  s_add_i32 s8, s8, -1\n  s_cmp_lg_u32 s8, 0\n"
                     "  s_cbranch_scc1 .LBB0_1\n";
  EXPECT_EQ(findStrong(body), "");
  EXPECT_THAT(findStrong(replaced(body, "  s_barrier\n", "")), HasSubstr("fewer LDS accesses"));
}

/// LLVM waits for all of a run of registers that it fills again part by part.
TEST(StrongWaits, ThoseOfSpilledRegistersAreLeftOut) {
  std::string text = inKernel(".LBB0_1:\n  global_load_dword v2, v1, s[4:5]\n  s_waitcnt vmcnt(0)\n"
                              "  s_add_i32 s8, s8, -1\n  s_cmp_lg_u32 s8, 0\n"
                              "  s_cbranch_scc1 .LBB0_1\n");
  EXPECT_EQ(findStrongWaits(parseKernel(text)).size(), 1u);
  text = replaced(text, ".vgpr_spill_count: 0", ".vgpr_spill_count: 4");
  EXPECT_EQ(findStrongWaits(parseKernel(text)).size(), 0u);
}
