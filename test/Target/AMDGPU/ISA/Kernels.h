// Kernels in their final code, small enough to reason about: what the tests of the checks take
// apart.
#ifndef KILN_TEST_TARGET_AMDGPU_ISA_KERNELS_H
#define KILN_TEST_TARGET_AMDGPU_ISA_KERNELS_H

#include "kiln/Target/AMDGPU/ISA.h"
#include "kiln/Target/AMDGPU/Replay.h"
#include "kiln/Target/AMDGPU/Waits.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"
#include <string>

namespace kiln::testing {

/// A kernel's text around its instructions, as LLVM prints it.
inline std::string inKernel(const std::string &body, const std::string &chip = "gfx942",
                            unsigned threads = 256, const std::string &protocol = "") {
  std::string escaped;
  llvm::raw_string_ostream(escaped).write_escaped(protocol);
  std::string declared = "\t.section .kiln.protocol,\"\",@progbits\n\t.asciz \"" + escaped + "\"\n";
  return (protocol.empty() ? "" : declared) + "\t.amdgcn_target \"amdgcn-amd-amdhsa--" + chip +
         "\"\n\t.text\n\t.type\tk,@function\nk:\n" + body +
         "\ts_endpgm\n\t.amdhsa_kernel k\n\t.amdhsa_next_free_vgpr 64\n"
         "\t.amdhsa_next_free_sgpr 64\n" +
         (chip.substr(0, 4) == "gfx9" ? "\t.amdhsa_accum_offset 64\n" : "") +
         "\t.end_amdhsa_kernel\n"
         "\t.amdgpu_metadata\n---\namdhsa.kernels:\n  - .agpr_count:     8\n    .args:\n"
         "      - .offset:         0\n        .size:           8\n"
         "    .group_segment_fixed_size: 65536\n    .max_flat_workgroup_size: " +
         std::to_string(threads) +
         "\n    .name:           k\n    .private_segment_fixed_size: 0\n"
         "    .symbol:         k.kd\n    .vgpr_count:     40\n    .vgpr_spill_count: 0\n"
         "    .wavefront_size: " +
         (chip.size() == 7 ? "32" : "64") + "\n...\n\t.end_amdgpu_metadata\n";
}

/// What is wrong, a line each.
inline std::string textOf(const std::vector<amdgcn::WaitProblem> &problems) {
  std::string all;
  for (const amdgcn::WaitProblem &problem : problems)
    all += problem.text + "\n";
  return all;
}

/// A text with the first of such places replaced.
inline std::string replaced(std::string text, const std::string &from, const std::string &to) {
  size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

inline amdgcn::KernelCode parseKernel(const std::string &text) {
  auto kernels = llvm::cantFail(amdgcn::parseISA(text));
  return kernels.front();
}

/// What the runs of a kernel find, one that they come to the end of.
inline std::string run(const std::string &body, const std::string &chip = "gfx942",
                       unsigned threads = 256) {
  amdgcn::ReplayResult result = amdgcn::replay(parseKernel(inKernel(body, chip, threads)));
  EXPECT_GT(result.runs, 0u);
  std::string all = textOf(result.problems);
  // What is right is come to, and to its end.
  EXPECT_EQ(result.cutShort, 0u);
  if (all.empty())
    EXPECT_EQ(result.missed, 0u);
  return all;
}

/// A tile goes from global memory by registers to LDS and on to matrix instructions, the next one
/// already under way.
inline constexpr char kThroughRegisters[] = R"(
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_and_b32_e32 v0, 0xff, v0
  v_lshlrev_b32_e32 v1, 4, v0
  v_mov_b32_e32 v2, 0
  s_waitcnt lgkmcnt(0)
  global_load_dwordx4 v[4:7], v1, s[4:5]
  global_load_dwordx4 v[8:11], v1, s[6:7]
.LBB0_1:
  s_barrier
  s_waitcnt vmcnt(1)
  ds_write_b128 v1, v[4:7]
  s_waitcnt vmcnt(0)
  ds_write_b128 v1, v[8:11] offset:4096
  s_waitcnt lgkmcnt(0)
  s_barrier
  global_load_dwordx4 v[4:7], v1, s[4:5]
  global_load_dwordx4 v[8:11], v1, s[6:7]
  ds_read_b128 v[12:15], v1
  ds_read_b128 v[16:19], v1 offset:4096
  s_waitcnt lgkmcnt(1)
  v_add_f32_e32 v2, v2, v12
  s_waitcnt lgkmcnt(0)
  v_mfma_f32_32x32x8_f16 a[0:15], v[12:13], v[16:17], a[0:15]
  s_add_i32 s8, s8, -1
  s_cmp_lg_u32 s8, 0
  s_cbranch_scc1 .LBB0_1
  s_waitcnt vmcnt(0)
  global_store_dword v1, v2, s[4:5]
)";

/// A ring of three slots of 4096 bytes that loads fill directly, two of them in flight. Slots are
/// unrolled, so that each access says which it means.
inline constexpr char kRing[] = R"(
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_and_b32_e32 v0, 0xff, v0
  v_lshlrev_b32_e32 v1, 4, v0
  v_mov_b32_e32 v2, 0
  s_waitcnt lgkmcnt(0)
  s_mov_b32 m0, 0
  s_nop 0
  buffer_load_dwordx4 v1, s[4:7], 0 offen lds
  s_mov_b32 m0, 0x1000
  s_nop 0
  buffer_load_dwordx4 v1, s[4:7], 0 offen lds
.LBB0_1:
  s_waitcnt vmcnt(1)
  s_barrier
  s_mov_b32 m0, 0x2000
  s_nop 0
  buffer_load_dwordx4 v1, s[4:7], 0 offen lds
  ds_read_b128 v[12:15], v1
  s_waitcnt lgkmcnt(0)
  v_add_f32_e32 v2, v2, v12
  s_waitcnt vmcnt(1)
  s_barrier
  s_mov_b32 m0, 0
  s_nop 0
  buffer_load_dwordx4 v1, s[4:7], 0 offen lds
  ds_read_b128 v[12:15], v1 offset:4096
  s_waitcnt lgkmcnt(0)
  v_add_f32_e32 v2, v2, v12
  s_waitcnt vmcnt(1)
  s_barrier
  s_mov_b32 m0, 0x1000
  s_nop 0
  buffer_load_dwordx4 v1, s[4:7], 0 offen lds
  ds_read_b128 v[12:15], v1 offset:8192
  s_waitcnt lgkmcnt(0)
  v_add_f32_e32 v2, v2, v12
  s_add_i32 s8, s8, -1
  s_cmp_lg_u32 s8, 0
  s_cbranch_scc1 .LBB0_1
  s_waitcnt vmcnt(0)
  global_store_dword v1, v2, s[4:5]
)";

/// A ring of two slots of 4096 bytes, run by two groups of two waves of which the second is a
/// barrier behind: while one reads and fills, the other computes.
inline constexpr char kSkewedProtocol[] = R"({"kernel": "k", "roles": [{"first": 0,
  "warps": 2, "copies": 2, "skew": 1, "registers": 0, "trips": [4]}], "rings": [{"depth": 2,
  "own": true, "buffers": [{"at": 0, "bytes": 4096}]}], "counters": [], "barriers": [],
  "fences": []})";
inline constexpr char kSkewed[] = R"(
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_and_b32_e32 v0, 0xff, v0
  v_lshlrev_b32_e32 v1, 4, v0
  v_readfirstlane_b32 s9, v0
  s_lshr_b32 s9, s9, 7
  v_mov_b32_e32 v2, 0
  s_waitcnt lgkmcnt(0)
  s_mov_b32 m0, 0
  s_nop 0
  buffer_load_dwordx4 v1, s[4:7], 0 offen lds
  s_waitcnt vmcnt(0)
  s_barrier
  s_cmp_eq_u32 s9, 0
  s_cbranch_scc1 .LBB0_1
  s_barrier
.LBB0_1:
  s_mov_b32 m0, 0x1000
  s_nop 0
  buffer_load_dwordx4 v1, s[4:7], 0 offen lds
  ds_read_b128 v[12:15], v1
  s_waitcnt vmcnt(0) lgkmcnt(0)
  s_barrier
  v_add_f32_e32 v2, v2, v12
  s_barrier
  s_mov_b32 m0, 0
  s_nop 0
  buffer_load_dwordx4 v1, s[4:7], 0 offen lds
  ds_read_b128 v[12:15], v1 offset:4096
  s_waitcnt vmcnt(0) lgkmcnt(0)
  s_barrier
  v_add_f32_e32 v2, v2, v12
  s_barrier
  s_add_i32 s8, s8, -1
  s_cmp_lg_u32 s8, 0
  s_cbranch_scc1 .LBB0_1
  s_cmp_lg_u32 s9, 0
  s_cbranch_scc1 .LBB0_2
  s_barrier
.LBB0_2:
  s_waitcnt vmcnt(0)
  global_store_dword v1, v2, s[4:5]
)";

/// The first kernel in the words of the last generation: counters apart, and split barriers.
inline constexpr char kSplitCounters[] = R"(
  s_load_b128 s[4:7], s[0:1], 0x0
  v_and_b32_e32 v0, 0xff, v0
  v_lshlrev_b32_e32 v1, 4, v0
  v_mov_b32_e32 v2, 0
  s_wait_kmcnt 0x0
  global_load_b128 v[4:7], v1, s[4:5]
  global_load_b128 v[8:11], v1, s[6:7]
.LBB0_1:
  s_barrier_signal -1
  s_barrier_wait -1
  s_wait_loadcnt 0x1
  ds_store_b128 v1, v[4:7]
  s_wait_loadcnt 0x0
  ds_store_b128 v1, v[8:11] offset:4096
  s_wait_dscnt 0x0
  s_barrier_signal -1
  s_barrier_wait -1
  global_load_b128 v[4:7], v1, s[4:5]
  global_load_b128 v[8:11], v1, s[6:7]
  ds_load_b128 v[12:15], v1
  ds_load_b128 v[16:19], v1 offset:4096
  s_wait_dscnt 0x1
  v_add_f32_e32 v2, v2, v12
  s_wait_dscnt 0x0
  v_wmma_f32_16x16x16_f16 v[20:27], v[12:15], v[16:19], v[20:27]
  s_add_co_i32 s8, s8, -1
  s_cmp_lg_u32 s8, 0
  s_cbranch_scc1 .LBB0_1
  s_wait_loadcnt 0x0
  global_store_b32 v1, v2, s[4:5]
)";

} // namespace kiln::testing

#endif // KILN_TEST_TARGET_AMDGPU_ISA_KERNELS_H
