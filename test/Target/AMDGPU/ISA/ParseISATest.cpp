// Reading assembly text, and the figures of it.
#include "Kernels.h"
#include "kiln/Target/AMDGPU/CodeFigures.h"
#include "gmock/gmock.h"

using namespace kiln::amdgcn;
using namespace kiln::testing;
using ::testing::HasSubstr;

static Instruction parseOne(const std::string &line, const std::string &chip = "gfx942") {
  return parseKernel(inKernel("\t" + line + "\n", chip)).code.front();
}

TEST(ParseISA, Accesses) {
  struct {
    const char *line;
    Kind kind;
    unsigned bytes;
    bool hasResult;
    const char *chip = "gfx942";
  } cases[] = {
      {"global_load_dwordx4 v[4:7], v1, s[4:5] offset:16", Kind::LoadGlobal, 16, true},
      {"global_load_d16_b16 v4, v[2:3], off", Kind::LoadGlobal, 2, true, "gfx1201"},
      {"buffer_load_ushort v4, v1, s[4:7], 0 offen", Kind::LoadGlobal, 2, true},
      {"buffer_load_dword v1, s[4:7], 0 offen lds", Kind::LoadToLDS, 4, false},
      {"buffer_load_ubyte v1, s[4:7], 0 offen lds", Kind::LoadToLDS, 1, false},
      {"global_load_lds_dwordx4 v[2:3], off", Kind::LoadToLDS, 16, false, "gfx950"},
      {"buffer_store_dwordx2 v[4:5], v1, s[4:7], 0 offen", Kind::StoreGlobal, 8, false},
      {"global_atomic_add_f32 v4, v1, v2, s[4:5] sc0", Kind::AtomicGlobal, 4, true},
      {"global_atomic_add_f32 v1, v2, s[4:5]", Kind::AtomicGlobal, 4, false},
      {"global_atomic_add_x2 v1, v[2:3], s[4:5]", Kind::AtomicGlobal, 8, false},
      {"global_atomic_pk_add_f16 v1, v2, s[4:5]", Kind::AtomicGlobal, 4, false},
      {"scratch_load_dword v5, off, s4", Kind::LoadGlobal, 4, true},
      {"flat_load_dword v5, v[2:3]", Kind::Flat, 4, true},
      {"flat_load_b32 v5, v[2:3]", Kind::Flat, 4, true, "gfx1201"},
      {"ds_read2_b64 v[4:7], v1 offset0:1 offset1:3", Kind::ReadLDS, 16, true},
      {"ds_write2_b64 v1, v[4:5], v[6:7] offset1:3", Kind::WriteLDS, 16, false},
      {"ds_load_u16_d16_hi v4, v1 offset:2", Kind::ReadLDS, 2, true, "gfx1201"},
      {"ds_read_b64_tr_b16 v[4:5], v1", Kind::ReadLDS, 8, true, "gfx950"},
      {"ds_read_b96_tr_b6 v[4:6], v1", Kind::ReadLDS, 12, true, "gfx950"},
      {"ds_write_b96 v1, v[4:6]", Kind::WriteLDS, 12, false},
      {"ds_add_u32 v1, v2", Kind::AtomicLDS, 4, false},
      {"ds_cmpst_b32 v1, v2, v3", Kind::AtomicLDS, 4, false},
      {"ds_add_rtn_u64 v[4:5], v1, v[2:3]", Kind::AtomicLDS, 8, true},
      // What counts how often it was called gives a number back, though its name does not say so.
      {"ds_append v3", Kind::AtomicLDS, 4, true},
      {"ds_bpermute_b32 v4, v1, v2", Kind::PermuteLanes, 0, true},
      {"ds_swizzle_b32 v4, v1 offset:0x41f", Kind::PermuteLanes, 0, true},
      {"ds_nop", Kind::Other, 0, false},
      {"s_load_dwordx16 s[8:23], s[0:1], 0x0", Kind::LoadScalar, 64, true},
      {"s_load_b96 s[8:10], s[0:1], 0x0", Kind::LoadScalar, 12, true, "gfx1201"},
      {"s_memtime s[8:9]", Kind::LoadScalar, 0, true},
      {"s_sendmsg_rtn_b64 s[2:3], sendmsg(MSG_RTN_GET_REALTIME)", Kind::LoadScalar, 0, true,
       "gfx1201"},
      // A message that nobody answers, and care for caches, leave nothing to wait for.
      {"s_sendmsg sendmsg(MSG_INTERRUPT)", Kind::Other, 0, false},
      {"s_dcache_wb", Kind::Other, 0, false},
      {"buffer_inv sc1", Kind::Other, 0, false},
      {"buffer_wbl2 sc1", Kind::Other, 0, false},
      // But on gfx12 it is counted.
      {"global_inv scope:SCOPE_DEV", Kind::LoadGlobal, 0, false, "gfx1201"},
      {"global_wb scope:SCOPE_DEV", Kind::StoreGlobal, 0, false, "gfx1201"},
      {"v_mfma_f32_32x32x16_bf16 a[0:15], v[0:3], v[4:7], a[0:15]", Kind::Matrix, 0, false,
       "gfx950"},
      {"v_smfmac_f32_16x16x32_f16 v[0:3], v[0:1], v[4:7], v9", Kind::Matrix, 0, false},
      {"v_wmma_f32_16x16x16_f16 v[20:27], v[12:15], v[16:19], v[20:27]", Kind::Matrix, 0, false,
       "gfx1201"},
      {"v_swmmac_f32_16x16x32_f16 v[20:27], v[12:15], v[0:7], v28", Kind::Matrix, 0, false,
       "gfx1201"},
      {"v_accvgpr_read_b32 v1, a2", Kind::Other, 0, false},
      {"s_barrier", Kind::Barrier, 0, false},
      {"s_barrier_signal -1", Kind::BarrierSignal, 0, false, "gfx1201"},
      {"s_barrier_signal_isfirst -1", Kind::BarrierSignal, 0, false, "gfx1201"},
      {"s_barrier_wait -1", Kind::BarrierWait, 0, false, "gfx1201"},
      {"v_add_u32_e32 v1, 4, v2", Kind::Other, 0, false}};
  for (auto &expected : cases) {
    Instruction got = parseOne(expected.line, expected.chip);
    EXPECT_EQ(int(got.kind), int(expected.kind)) << expected.line;
    EXPECT_EQ(got.bytes, expected.bytes) << expected.line;
    EXPECT_EQ(got.result.has_value(), expected.hasResult) << expected.line;
  }
  EXPECT_EQ(parseOne("ds_write_b128 v1, v[8:11] offset:4096").offsets.front(), 4096u);
  EXPECT_EQ(parseOne("ds_write2_b64 v1, v[4:5], v[6:7] offset1:3").offsets.size(), 2u);
  EXPECT_TRUE(parseOne("scratch_load_dword v5, off, s4").isScratch);
  EXPECT_TRUE(parseOne("v_mov_b32_dpp v1, v2 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf")
                  .permutesLanes);
}

/// A list of registers as text: "v4-7 s2-3".
static std::string spell(llvm::ArrayRef<Registers> list) {
  std::string all;
  for (const Registers &each : list) {
    // Which lanes run is an operand of every vector instruction.
    if (each.file == 's' && each.first == 126)
      continue;
    all += (all.empty() ? "" : " ") + std::string(1, each.file) + std::to_string(each.first);
    if (each.last != each.first)
      all += "-" + std::to_string(each.last);
  }
  return all;
}

/// Registers are known whether the text names them or not.
TEST(ParseISA, Registers) {
  struct {
    const char *line, *reads, *writes;
    const char *chip = "gfx942";
  } cases[] = {
      {"v_fma_f32 v4, -v5, |v6|, s2", "v5 v6 s2", "v4"},
      {"v_mfma_f32_32x32x8_bf16 a[0:15], v[0:1], v[4:5], a[0:15]", "v0-1 v4-5 a0-15", "a0-15"},
      // vcc is 106 and 107, m0 124 or 125.
      {"v_add_co_u32_e32 v1, vcc, 4, v2", "v2", "v1 s106-107"},
      {"v_mad_u64_u32 v[2:3], s[4:5], v1, v2, v[4:5]", "v1 v2 v4-5", "v2-3 s4-5"},
      {"v_cmp_eq_u32_e32 vcc, v1, v2", "v1 v2", "s106-107"},
      {"v_div_fmas_f32 v1, v2, v3, v4", "v2 v3 v4 s106-107", "v1"},
      {"v_swap_b32 v1, v2", "v2 v1", "v1 v2"},
      {"s_cmp_eq_u32 s2, s3", "s2 s3", ""},
      {"s_cbranch_vccnz .LBB0_1", "s106-107", ""},
      {"s_mov_b32 m0, s3", "s3", "s124"},
      {"s_mov_b32 m0, s3", "s3", "s125", "gfx1201"},
      {"buffer_load_dword v1, s[4:7], 0 offen lds", "v1 s4-7 s124", ""},
      // What stays of the register is not read.
      {"ds_read_u16_d16_hi v4, v1 offset:2", "v1", "v4"},
      {"v_fmac_f32_e32 v1, v2, v3", "v2 v3 v1", "v1"},
      {"v_dual_mov_b32 v1, 0 :: v_dual_cndmask_b32 v2, s4, v3", "s4 v3 s106-107", "v1 v2",
       "gfx1201"},
  };
  for (auto &expected : cases) {
    Instruction got = parseOne(std::string(expected.line) + "\n.LBB0_1:", expected.chip);
    EXPECT_EQ(spell(got.reads), expected.reads) << expected.line;
    EXPECT_EQ(spell(got.writes), expected.writes) << expected.line;
  }
  EXPECT_TRUE(parseOne("ds_read_u16_d16_hi v4, v1").keepsHalf);
  EXPECT_TRUE(parseOne("global_load_d16_u8 v4, v[2:3], off", "gfx1100").keepsHalf);
  EXPECT_TRUE(parseOne("global_load_d16_hi_u8 v4, v[2:3], off", "gfx1100").keepsHalf);
  EXPECT_FALSE(parseOne("ds_read_u16 v4, v1").keepsHalf);
}

TEST(ParseISA, Waits) {
  auto counts = [](const std::string &line, const char *chip) {
    Instruction wait = parseOne(line, chip);
    std::string all;
    for (auto &count : wait.waits)
      all += count ? std::to_string(*count) + " " : "- ";
    return all;
  };
  EXPECT_EQ(counts("s_waitcnt vmcnt(3) lgkmcnt(2)", "gfx942"), "3 - 2 2 ");
  EXPECT_EQ(counts("s_waitcnt vmcnt(0) expcnt(0)", "gfx942"), "0 - - - ");
  EXPECT_EQ(counts("s_waitcnt vmcnt(63) lgkmcnt(14)", "gfx942"), "- - 14 14 ");
  EXPECT_EQ(counts("s_waitcnt vmcnt(20) lgkmcnt(60)", "gfx1100"), "20 - 60 60 ");
  // The same as a number, as hand-written code may have it.
  EXPECT_EQ(counts("s_waitcnt 0x0273", "gfx942"), "3 - 2 2 ");
  EXPECT_EQ(counts("s_waitcnt_vscnt null, 0x1", "gfx1100"), "- 1 - - ");
  EXPECT_EQ(counts("s_wait_loadcnt_dscnt 0x203", "gfx1201"), "2 - 3 - ");
  EXPECT_EQ(counts("s_wait_kmcnt 0x0", "gfx1201"), "- - - 0 ");
  EXPECT_EQ(counts("s_wait_alu depctr_va_vcc(0)", "gfx1201"), "- - - - ");
}

TEST(ParseISA, WhatIsNotKnownIsAnError) {
  auto errorOf = [](const std::string &line) {
    return llvm::toString(parseISA(inKernel("\t" + line + "\n")).takeError());
  };
  EXPECT_THAT(errorOf("s_waitcnt zcnt(0)"),
              HasSubstr("line 5: invalid counter name zcnt in 's_waitcnt zcnt(0)'"));
  EXPECT_THAT(errorOf("s_wait_nothing 0x0"), HasSubstr("line 5: invalid instruction"));
  EXPECT_THAT(errorOf("ds_load_b32 v1, v2"), HasSubstr("not supported on this GPU"));
  EXPECT_THAT(errorOf("s_call_b64 s[30:31], k"), HasSubstr("expected no jump to an address"));
  EXPECT_THAT(errorOf("s_setpc_b64 s[4:5]"), HasSubstr("expected no jump to an address"));
  EXPECT_THAT(errorOf("s_setpc_b64 s[30:31]"), HasSubstr("expected no return from kernel 'k'"));
  std::string apart = inKernel("\tglobal_load_async_to_lds_b32 v1, v[2:3], off\n", "gfx1250");
  EXPECT_THAT(llvm::toString(parseISA(apart).takeError()),
              HasSubstr("expected an access that a known counter counts"));
  EXPECT_THAT(llvm::toString(parseISA(inKernel("", "gfx9999")).takeError()),
              HasSubstr("expected a chip that LLVM knows, got 'gfx9999'"));
  EXPECT_THAT(errorOf("s_branch .LBB7_7"), HasSubstr("no label '.LBB7_7' in 'k'"));
}

/// The address of an instruction, and how far behind it a label lies.
TEST(ParseISA, FarBranchesGoToTheirLabels) {
  const std::string sequence = "\ts_getpc_b64 s[4:5]\n.Lpost_getpc0:\n"
                               "\ts_add_u32 s4, s4, (.LBB0_1-.Lpost_getpc0)&4294967295\n"
                               "\ts_addc_u32 s5, s5, (.LBB0_1-.Lpost_getpc0)>>32\n";
  const std::string far = sequence + "\ts_setpc_b64 s[4:5]\n", label = ".LBB0_1:\n\ts_nop 1\n";
  auto readAll = [](const std::string &body) { return parseISA(inKernel(body)); };
  auto getTarget = [&](const std::string &body) {
    auto kernels = readAll(body);
    EXPECT_TRUE(bool(kernels)) << llvm::toString(kernels.takeError());
    for (const Instruction &each : kernels->front().code)
      if (each.kind == Kind::Branch && !each.fallsThrough)
        return int(each.target.value());
    return -1;
  };
  EXPECT_EQ(getTarget(far + "\ts_nop 0\n" + label), 5);
  EXPECT_EQ(getTarget("\ts_nop 0\n" + label + "\ts_nop 0\n" + far), 1);
  // Where a function would return to, too.
  std::string other = far + label;
  for (auto [from, to] : {std::pair("s[4:5]", "s[30:31]"), {"s4, s4", "s30, s30"}})
    while (other.find(from) != std::string::npos)
      other.replace(other.find(from), std::string(from).size(), to);
  other.replace(other.find("s5, s5"), 6, "s31, s31");
  EXPECT_EQ(getTarget(other), 4);
  for (auto [from, to] : {std::pair("(.LBB0_1-.Lpost_getpc0)>>", "(.LBB0_2-.Lpost_getpc0)>>"),
                          {"\ts_add_u32", ".LBB0_3:\n\ts_add_u32"},
                          {"\ts_setpc_b64", "\ts_mov_b32 s4, 0\n\ts_setpc_b64"},
                          {"\ts_addc_u32", "\ts_cmp_eq_u32 s6, 0\n\ts_addc_u32"},
                          {"s_setpc_b64 s[4:5]", "s_setpc_b64 s[6:7]"}}) {
    std::string body = ".LBB0_2:\n\ts_nop 0\n" + far + label;
    body.replace(body.find(from), std::string(from).size(), to);
    EXPECT_THAT(llvm::toString(readAll(body).takeError()),
                HasSubstr("expected no jump to an address"))
        << to;
  }
}

TEST(ParseISA, InnerLoops) {
  KernelCode kernel = parseKernel(inKernel("\ts_nop 0\n.LBB0_1:\n\ts_nop 1\n.LBB0_2:\n\ts_nop 2\n"
                                           "\ts_cbranch_scc1 .LBB0_2\n\ts_cbranch_scc0 .LBB0_1\n"));
  auto loops = kernel.getInnerLoops();
  ASSERT_EQ(loops.size(), 1u);
  EXPECT_EQ(loops.front(), (std::vector<unsigned>{2, 3}));
  // Going back to a common end is no loop.
  EXPECT_TRUE(parseKernel(inKernel("\ts_branch .LBB0_2\n.LBB0_1:\n\ts_endpgm\n.LBB0_2:\n"
                                   "\ts_cbranch_scc1 .LBB0_1\n"))
                  .getInnerLoops()
                  .empty());
}

TEST(ParseISA, Figures) {
  llvm::json::Object figures = describeCode(parseKernel(inKernel(kThroughRegisters)));
  EXPECT_EQ(figures.getInteger("vgprs"), 40);
  EXPECT_EQ(figures.getInteger("accumulators"), 8);
  EXPECT_EQ(figures.getInteger("scratch_bytes"), 0);
  EXPECT_EQ(figures.getObject("global_loads")->getInteger("16"), 4);
  const llvm::json::Object &loop = *figures.getArray("inner_loops")->front().getAsObject();
  EXPECT_EQ(loop.getInteger("barriers"), 2);
  EXPECT_EQ(loop.getObject("lds_reads")->getInteger("16"), 2);
  EXPECT_EQ(loop.getObject("matrix")->getInteger("v_mfma_f32_32x32x8_f16"), 1);
  EXPECT_EQ(loop.getArray("waits")->size(), 5u);
  EXPECT_EQ(loop.getArray("waits")->front(), llvm::json::Value("load 1"));
}
