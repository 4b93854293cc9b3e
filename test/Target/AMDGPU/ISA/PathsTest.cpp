// What is known on a path, followed for itself.
#include "Kernels.h"
#include "kiln/Target/AMDGPU/Waits.h"
#include "gmock/gmock.h"

using namespace kiln::amdgcn;
using namespace kiln::testing;
using ::testing::HasSubstr;

static std::string check(const std::string &body) {
  return textOf(checkWaits(parseKernel(inKernel(body))));
}

/// A wait may stand in front of a branch by a constant of the path.
TEST(Paths, GoOnBehindWaits) {
  std::string body = "  v_lshlrev_b32_e32 v1, 2, v0\n  v_xor_b32_e32 v2, 0x100, v1\n"
                     "  ds_write_b32 v1, v0\n  s_cmp_eq_u32 s20, 0\n"
                     "  s_cbranch_scc1 .LBB0_1\n  s_mov_b64 s[4:5], 0\n"
                     "  s_branch .LBB0_2\n.LBB0_1:\n  s_waitcnt lgkmcnt(0)\n  s_barrier\n"
                     "  s_mov_b64 s[4:5], -1\n.LBB0_2:\n  s_waitcnt lgkmcnt(0)\n"
                     "  s_and_b64 vcc, exec, s[4:5]\n  s_cbranch_vccz .LBB0_3\n"
                     "  ds_read_b32 v3, v2\n.LBB0_3:\n";
  EXPECT_EQ(check(body), "");
  EXPECT_THAT(check(replaced(body, "s_mov_b64 s[4:5], 0", "s_mov_b64 s[4:5], -1")),
              HasSubstr("expected a barrier between"));
}

/// What was put by in a lane's own memory is as large as it was.
TEST(Paths, PlacesAreKeptInScratch) {
  std::string body = "  v_lshlrev_b32_e32 v2, 2, v0\n  v_xor_b32_e32 v3, 0x100, v2\n"
                     "  scratch_store_dwordx2 off, v[2:3], off offset:8\n"
                     "  v_mov_b32_e32 v3, v9\n  scratch_load_dword v5, off, off offset:12\n"
                     "  ds_write_b32 v2, v0 offset:1024\n  s_waitcnt vmcnt(0)\n"
                     "  ds_read_b32 v4, v5\n";
  EXPECT_EQ(check(body), "");
  EXPECT_THAT(check(replaced(body, "v4, v5\n", "v4, v5 offset:4\n")), HasSubstr("4 to 1027"));
  EXPECT_THAT(check(replaced(body, "offset:12", "offset:16")), HasSubstr("any byte"));
  // Where a register says which word, it may be any.
  EXPECT_THAT(
      check(replaced(body, "  v_mov_b32_e32 v3, v9\n", "  scratch_store_dword v9, v2, off\n")),
      HasSubstr("any byte"));
}
