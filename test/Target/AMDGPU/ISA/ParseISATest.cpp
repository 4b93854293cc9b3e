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
  } cases[] = {
      {"global_load_dwordx4 v[4:7], v1, s[4:5] offset:16", Kind::LoadGlobal, 16, true},
      {"global_load_d16_b16 v4, v[2:3], off", Kind::LoadGlobal, 2, true},
      {"buffer_load_ushort v4, v1, s[4:7], 0 offen", Kind::LoadGlobal, 2, true},
      {"buffer_load_dword v1, s[4:7], 0 offen lds", Kind::LoadToLDS, 4, false},
      {"global_load_lds_dwordx4 v[2:3], off", Kind::LoadToLDS, 16, false},
      {"buffer_store_dwordx2 v[4:5], v1, s[4:7], 0 offen", Kind::StoreGlobal, 8, false},
      {"global_atomic_add_f32 v4, v1, v2, s[4:5] sc0", Kind::AtomicGlobal, 4, true},
      {"global_atomic_add_f32 v1, v2, s[4:5]", Kind::AtomicGlobal, 4, false},
      {"ds_read2_b64 v[4:7], v1 offset0:1 offset1:3", Kind::ReadLDS, 16, true},
      {"ds_load_u16_d16_hi v4, v1 offset:2", Kind::ReadLDS, 2, true},
      {"ds_read_b64_tr_b16 v[4:5], v1", Kind::ReadLDS, 8, true},
      {"ds_write_b96 v1, v[4:6]", Kind::WriteLDS, 12, false},
      {"ds_add_u32 v1, v2", Kind::AtomicLDS, 4, false},
      {"ds_bpermute_b32 v4, v1, v2", Kind::PermuteLanes, 4, true},
      {"s_load_dwordx16 s[8:23], s[0:1], 0x0", Kind::LoadScalar, 64, true},
      {"v_mfma_f32_32x32x16_bf16 a[0:15], v[0:3], v[4:7], a[0:15]", Kind::Matrix, 0, false},
      {"s_barrier", Kind::Barrier, 0, false},
      {"v_add_u32_e32 v1, 4, v2", Kind::Other, 4, false}};
  for (auto &expected : cases) {
    Instruction got = parseOne(expected.line);
    EXPECT_EQ(int(got.kind), int(expected.kind)) << expected.line;
    if (expected.kind != Kind::Other && expected.kind != Kind::Matrix)
      EXPECT_EQ(got.bytes, expected.bytes) << expected.line;
    EXPECT_EQ(got.result.has_value(), expected.hasResult) << expected.line;
  }
  EXPECT_EQ(parseOne("ds_write_b128 v1, v[8:11] offset:4096").offset, 4096u);
  Instruction mixed = parseOne("v_fma_f32 v4, -v5, |v6|, s[2:3]");
  ASSERT_EQ(mixed.registers.size(), 4u);
  EXPECT_EQ(mixed.registers[3].last, 3u);
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
  EXPECT_EQ(counts("s_waitcnt_vscnt null, 0x1", "gfx1100"), "- 1 - - ");
  EXPECT_EQ(counts("s_wait_loadcnt_dscnt 0x203", "gfx1201"), "2 - 3 - ");
  EXPECT_EQ(counts("s_wait_kmcnt 0x0", "gfx1201"), "- - - 0 ");
  EXPECT_EQ(counts("s_wait_alu depctr_va_vcc(0)", "gfx1201"), "- - - - ");
}

TEST(ParseISA, WhatIsNotKnownIsAnError) {
  auto errorOf = [](const std::string &line) {
    return llvm::toString(parseISA(inKernel("\t" + line + "\n")).takeError());
  };
  EXPECT_THAT(errorOf("s_waitcnt zcnt(0)"), HasSubstr("line 5: expected a known counter"));
  EXPECT_THAT(errorOf("s_wait_nothing 0x0"), HasSubstr("expected a known wait"));
  EXPECT_THAT(errorOf("s_setpc_b64 s[4:5]"), HasSubstr("expected no jump to an address"));
  EXPECT_THAT(errorOf("s_setpc_b64 s[30:31]"), HasSubstr("expected no return from kernel 'k'"));
  EXPECT_THAT(errorOf("s_branch .LBB7_7"), HasSubstr("no label '.LBB7_7' in 'k'"));
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
