// The check of waits: kernels that are right are proven, and each way to make them wrong is found.
#include "kiln/Target/AMDGPU/Waits.h"
#include "Kernels.h"
#include "gmock/gmock.h"

using namespace kiln::amdgcn;
using namespace kiln::testing;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

static std::string problemsOf(const std::vector<WaitProblem> &problems) {
  std::string all;
  for (const WaitProblem &problem : problems)
    all += std::to_string(problem.at) + ": " + problem.text + "\n";
  return all;
}

static std::string check(const std::string &body, const std::string &chip = "gfx942",
                         unsigned threads = 256) {
  return problemsOf(checkWaits(parseKernel(inKernel(body, chip, threads))));
}

struct Sample {
  const char *name, *body, *chip, *protocol = "";
  KernelCode parse() const { return parseKernel(inKernel(body, chip, 256, protocol)); }
};
static const Sample samples[] = {{"registers", kThroughRegisters, "gfx942"},
                                 {"ring", kRing, "gfx950"},
                                 {"skewed", kSkewed, "gfx950", kSkewedProtocol},
                                 {"split counters", kSplitCounters, "gfx1201"}};

TEST(Waits, WhatIsRightIsProven) {
  for (const Sample &sample : samples) {
    KernelCode kernel = sample.parse();
    EXPECT_EQ(problemsOf(checkWaits(kernel)), "") << sample.name;
    EXPECT_EQ(problemsOf(findStrongWaits(kernel)), "") << sample.name;
  }
}

/// Each wait of each kernel gone, and each of its counts one larger: all are found.
TEST(Waits, EveryWeakerWaitIsFound) {
  unsigned mutants = 0;
  for (const Sample &sample : samples) {
    KernelCode kernel = sample.parse();
    for (unsigned at = 0; at < kernel.code.size(); ++at) {
      if (kernel.code[at].kind != Kind::Wait)
        continue;
      // Before the last store nothing is read any more that was loaded.
      bool isLast = at + 3 == kernel.code.size();
      KernelCode without = kernel, weaker = kernel;
      for (unsigned counter = 0; counter < kNumCounters; ++counter) {
        without.code[at].waits[counter].reset();
        if (weaker.code[at].waits[counter])
          ++*weaker.code[at].waits[counter];
      }
      if (isLast)
        continue;
      for (const KernelCode &mutant : {without, weaker}) {
        EXPECT_THAT(checkWaits(mutant), ::testing::Not(IsEmpty()))
            << sample.name << ", line " << kernel.code[at].line << ": " << kernel.code[at].mnemonic;
        ++mutants;
      }
    }
  }
  EXPECT_GE(mutants, 36u);
}

/// Each barrier gone, and each pushed one access further back or forth.
TEST(Waits, EveryMissingBarrierIsFound) {
  unsigned mutants = 0;
  for (const Sample &sample : samples) {
    KernelCode kernel = sample.parse();
    for (unsigned at = 0; at < kernel.code.size(); ++at) {
      if (kernel.code[at].kind != Kind::Barrier && kernel.code[at].kind != Kind::BarrierSignal)
        continue;
      KernelCode without = kernel;
      without.code[at].kind = Kind::Other;
      EXPECT_THAT(checkWaits(without), ::testing::Not(IsEmpty()))
          << sample.name << ", line " << kernel.code[at].line;
      ++mutants;
    }
  }
  EXPECT_EQ(mutants, 14u);
}

/// A load, a read or a write of LDS that comes a whole step too early or too late.
TEST(Waits, EveryAccessOutOfItsPlaceIsFound) {
  unsigned mutants = 0;
  auto isFound = [&](const std::string &body, const char *chip, const char *what) {
    EXPECT_NE(check(body, chip), "") << what;
    ++mutants;
  };
  std::string ring = kRing;
  // Into the slot that is being read, and that the next step reads.
  for (const char *slot : {"0x2000", "0x1000"})
    isFound(replaced(ring.substr(0, ring.find(".LBB0_1:")) + ".LBB0_1:\n" +
                         replaced(ring.substr(ring.find(".LBB0_1:") + 9),
                                  std::string("m0, ") + slot, "m0, 0x0"),
                     "s_nop 0", "s_nop 1"),
            "gfx950", slot);
  // A slot read before it is waited for.
  isFound(replaced(ring, "v[12:15], v1 offset:4096", "v[12:15], v1 offset:8192"), "gfx950",
          "the slot after next");
  isFound(replaced(ring, "v[12:15], v1\n", "v[12:15], v1 offset:4096\n"), "gfx950",
          "the next slot");
  isFound(replaced(ring, "v[12:15], v1 offset:8192", "v[12:15], v1 offset:1"), "gfx950",
          "across two slots");
  // What is not known of a place is all of LDS.
  isFound(replaced(ring, "s_mov_b32 m0, 0x2000", "s_mov_b32 m0, s9"), "gfx950", "any slot");
  std::string registers = kThroughRegisters;
  isFound(replaced(registers, "ds_write_b128 v1, v[8:11] offset:4096",
                   "ds_write_b128 v1, v[12:15] offset:4096\n\tds_read_b128 v[12:15], v1"),
          "gfx942", "a read beside a write");
  isFound(replaced(registers, "v_add_f32_e32 v2, v2, v12", "v_add_f32_e32 v2, v2, v16"), "gfx942",
          "the later of two results");
  isFound(replaced(registers, "ds_read_b128 v[12:15], v1", "ds_read_b128 v[4:7], v1"), "gfx942",
          "a result over one under way from elsewhere");
  isFound(
      replaced(registers, "s_cmp_lg_u32 s8, 0", "ds_write_b128 v1, v[12:15]\n\ts_cmp_lg_u32 s8, 0"),
      "gfx942", "a write where others read");
  EXPECT_EQ(mutants, 10u);
}

TEST(Waits, StrongerThanNeededIsFound) {
  struct {
    const char *body, *from, *to, *chip;
  } stronger[] = {
      {kThroughRegisters, "s_waitcnt vmcnt(1)", "s_waitcnt vmcnt(0)", "gfx942"},
      {kThroughRegisters, "s_waitcnt lgkmcnt(1)", "s_waitcnt lgkmcnt(0)", "gfx942"},
      {kThroughRegisters, "s_waitcnt lgkmcnt(1)", "s_waitcnt vmcnt(0) lgkmcnt(1)", "gfx942"},
      {kRing, ".LBB0_1:\n  s_waitcnt vmcnt(1)", ".LBB0_1:\n  s_waitcnt vmcnt(0)", "gfx950"},
      {kSplitCounters, "s_wait_loadcnt 0x1", "s_wait_loadcnt 0x0", "gfx1201"},
      {kSplitCounters, "s_wait_dscnt 0x1", "s_wait_dscnt 0x0", "gfx1201"},
      {kSplitCounters, "s_wait_dscnt 0x1", "s_wait_loadcnt_dscnt 0x1", "gfx1201"}};
  for (auto &change : stronger) {
    KernelCode kernel =
        parseKernel(inKernel(replaced(change.body, change.from, change.to), change.chip));
    EXPECT_EQ(problemsOf(checkWaits(kernel)), "") << change.to;
    EXPECT_THAT(problemsOf(findStrongWaits(kernel)), HasSubstr("one more may be outstanding"))
        << change.to;
  }
}

/// A wait costs nothing where nothing is outstanding.
TEST(Waits, NothingToWaitForIsNoWait) {
  std::string product = "  v_mfma_f32_32x32x8_f16 a[0:15], v[12:13], v[16:17], a[0:15]\n";
  std::string again = replaced(kThroughRegisters, product, product + "  s_waitcnt lgkmcnt(0)\n");
  EXPECT_EQ(problemsOf(findStrongWaits(parseKernel(inKernel(again)))), "");
}

/// A counter of four bits cannot say that fifteen may be outstanding and sixteen not.
TEST(Waits, CountersHaveALimit) {
  std::string body = "  v_mov_b32_e32 v1, 0\n.LBB0_1:\n  ds_read_b32 v2, v1\n";
  for (unsigned i = 0; i < 16; ++i)
    body += "  ds_read_b32 v" + std::to_string(10 + i) + ", v1 offset:4\n";
  body += "  s_waitcnt lgkmcnt(14)\n  v_add_f32_e32 v3, v2, v3\n  s_waitcnt lgkmcnt(0)\n"
          "  v_add_f32_e32 v3, v25, v3\n  s_cbranch_scc1 .LBB0_1\n";
  EXPECT_EQ(check(body), "");
  EXPECT_EQ(problemsOf(findStrongWaits(parseKernel(inKernel(body)))), "");
  EXPECT_THAT(problemsOf(findStrongWaits(parseKernel(inKernel(replaced(body, "(14)", "(13)"))))),
              HasSubstr("one more may be outstanding"));
}

TEST(Waits, OneWaveNeedsNoBarrier) {
  std::string body = R"(
  v_lshlrev_b32_e32 v1, 4, v0
  ds_write_b128 v1, v[4:7]
  ds_read_b128 v[8:11], v1
  s_waitcnt lgkmcnt(0)
  v_add_f32_e32 v2, v8, v9
)";
  EXPECT_EQ(check(body, "gfx942", 64), "");
  EXPECT_THAT(check(body, "gfx942", 128), HasSubstr("and a barrier"));
  // What comes from global memory must be waited for all the same.
  std::string load = "\ts_mov_b32 m0, 0\n\tbuffer_load_dword v1, s[4:7], 0 offen lds\n"
                     "\tds_read_b32 v8, v1\n";
  EXPECT_THAT(check(load, "gfx942", 64), HasSubstr("before its place in LDS is reached"));
  EXPECT_EQ(check(replaced(load, "lds\n", "lds\n\ts_waitcnt vmcnt(0)\n"), "gfx942", 64), "");
}

TEST(Waits, ScalarLoadsComeInAnyOrder) {
  std::string body = "\ts_load_dword s4, s[0:1], 0x0\n\ts_load_dword s5, s[0:1], 0x4\n"
                     "\ts_waitcnt lgkmcnt(1)\n\ts_add_i32 s4, s4, 1\n";
  EXPECT_THAT(check(body), HasSubstr("'s_load_dword' of line 5"));
  EXPECT_EQ(check(replaced(body, "lgkmcnt(1)", "lgkmcnt(0)")), "");
}

TEST(Waits, HalvesOfRegistersComeInOrder) {
  std::string body = "\tds_read_u16_d16 v4, v1\n\tds_read_u16_d16_hi v4, v1 offset:2\n";
  EXPECT_EQ(check(body, "gfx942", 64), "");
  EXPECT_THAT(check(body + "\ts_waitcnt lgkmcnt(1)\n\tv_add_f32_e32 v0, v0, v4\n", "gfx942", 64),
              HasSubstr("before its register is used"));
  EXPECT_THAT(
      check("\tglobal_load_short_d16 v4, v1, s[4:5]\n\tds_read_u16_d16_hi v4, v1\n", "gfx942", 64),
      HasSubstr("before its register is used"));
  EXPECT_THAT(check("\tds_read_b32 v4, v1\n\tds_read_b32 v4, v1 offset:2\n", "gfx942", 64),
              HasSubstr("before its register is used"));
}

/// Care for caches counts as a load on gfx12 alone: elsewhere a wait that lets one load run on lets
/// the load before it run on.
TEST(Waits, CareForCachesIsNoLoad) {
  std::string load = "\tglobal_load_dword v4, v1, s[4:5]\n\tbuffer_inv sc1\n";
  std::string use = "\tv_add_f32_e32 v2, v2, v4\n";
  EXPECT_THAT(check(load + "\ts_waitcnt vmcnt(1)\n" + use), HasSubstr("'global_load_dword'"));
  EXPECT_EQ(check(load + "\ts_waitcnt vmcnt(0)\n" + use), "");
  std::string counted = "\tglobal_load_b32 v4, v1, s[4:5]\n\tglobal_inv scope:SCOPE_DEV\n";
  EXPECT_EQ(check(counted + "\ts_wait_loadcnt 0x1\n" + use, "gfx1201"), "");
}

/// A count that LDS keeps comes back into a register, whatever the instruction is called.
TEST(Waits, CountsInLDSComeBack) {
  std::string body = "\tds_append v4\n\tv_add_f32_e32 v2, v2, v4\n";
  EXPECT_THAT(check(body), HasSubstr("expected a wait for 'ds_append'"));
  EXPECT_EQ(check(replaced(body, "v4\n", "v4\n\ts_waitcnt lgkmcnt(0)\n")), "");
}

/// A byte that goes to LDS fills the word of its lane there.
TEST(Waits, LanesFillWords) {
  std::string body = "\ts_mov_b32 m0, 0\n\tbuffer_load_ubyte v1, s[4:7], 0 offen lds\n"
                     "\tv_mov_b32_e32 v2, 0xc0\n\tds_read_b32 v8, v2\n";
  EXPECT_THAT(check(body), HasSubstr("bytes 0 to 255, bytes 192 to 195"));
  EXPECT_EQ(check(replaced(body, "0xc0", "0x100")), "");
}

/// From gfx12 on loads from global memory are counted in order, but write registers in any.
TEST(Waits, LoadsOverLoads) {
  std::string body = "\tglobal_load_b32 v4, v1, s[4:5]\n\tglobal_load_b32 v4, v2, s[4:5]\n";
  std::string waits = replaced(body, "\n", "\n\ts_wait_loadcnt 0x0\n");
  EXPECT_EQ(check(body, "gfx1100"), "");
  EXPECT_THAT(check(body, "gfx1201"), HasSubstr("before its register is used"));
  EXPECT_EQ(check(waits, "gfx1201"), "");
  // The earlier one is known to be done as soon as one other at the most may be outstanding.
  std::string other = "\tglobal_load_b32 v5, v3, s[4:5]\n\ts_wait_loadcnt 0x1\n";
  EXPECT_EQ(check(replaced(body, "s[4:5]\n", "s[4:5]\n" + other), "gfx1201"), "");
}

/// A counter counts no further than to so many, so that behind as many others an access is done.
TEST(Waits, CountersHoldSoMany) {
  constexpr unsigned kMore = 200, kAny = ~0u;
  struct {
    const char *chip, *load, *other, *use;
    unsigned most;
  } cases[] = {{"gfx942", "buffer_load_dword v4, v1, s[4:7], 0 offen",
                "buffer_store_short v5, v1, s[4:7], 0 offen", "v_mov_b32_e32 v4, 0", 63},
               {"gfx942", "ds_read_b32 v4, v1", "ds_read_b32 v5, v2", "v_mov_b32_e32 v6, v4", 15},
               {"gfx1201", "ds_load_b32 v4, v1", "ds_load_b32 v5, v2", "v_mov_b32_e32 v6, v4", 63},
               // A counter of their own, and one that says nothing of the order.
               {"gfx1201", "buffer_load_b32 v4, v1, s[4:7], null offen",
                "buffer_store_b16 v5, v1, s[4:7], null offen", "v_mov_b32_e32 v4, 0", kAny},
               {"gfx1201", "s_load_b32 s9, s[0:1], 0x0", "s_load_b32 s10, s[0:1], 0x0",
                "s_mov_b32 s9, 0", kAny}};
  for (const auto &[chip, load, other, use, most] : cases)
    for (unsigned count : {0u, std::min(most, kMore) - 1, std::min(most, kMore)}) {
      std::string body = std::string("\t") + load + "\n";
      for (unsigned number = 0; number < count; ++number)
        body += std::string("\t") + other + "\n";
      std::string found = check(body + "\t" + use + "\n", chip, 64);
      EXPECT_EQ(found.find(std::to_string(count + 1) + ": ") == std::string::npos, count >= most)
          << load << ", " << count << " more: " << found;
    }
}

TEST(Waits, MasksAreRegisters) {
  std::string load = "\ts_load_b64 vcc, s[0:1], 0x0\n", wait = "\ts_wait_kmcnt 0x0\n";
  for (const char *use :
       {"\tv_cndmask_b32_e32 v1, v2, v3, vcc_lo\n", "\ts_and_b64 s[4:5], s[6:7], vcc\n",
        "\tv_div_fmas_f32 v1, v2, v3, v4\n", "\ts_cbranch_vccnz .LBB0_1\n.LBB0_1:\n",
        "\tv_dual_mov_b32 v1, 0 :: v_dual_cndmask_b32 v2, s4, v3\n"}) {
    EXPECT_THAT(check(load + use, "gfx1201"), HasSubstr("before its register is used")) << use;
    EXPECT_EQ(check(load + wait + use, "gfx1201"), "") << use;
  }
}

/// No other wave need have come to a barrier that this one has only signalled.
TEST(Waits, NothingBetweenHalvesOfABarrier) {
  std::string signal = "  s_barrier_signal -1\n";
  std::string early = replaced(kSplitCounters, signal, signal + "  ds_load_b128 v[24:27], v1\n");
  EXPECT_THAT(check(early, "gfx1201"), HasSubstr("between the halves of a barrier"));
  // It ends when all waves have signalled, this one as well, and once.
  EXPECT_THAT(check(replaced(kSplitCounters, signal, ""), "gfx1201"),
              HasSubstr("expected this wave to signal a barrier before it waits for it"));
  EXPECT_THAT(check(replaced(kSplitCounters, signal, signal + signal), "gfx1201"),
              HasSubstr("expected a wait for the barrier that is signalled already"));
  std::string branch = "  s_cbranch_scc0 .LBB0_9\n" + signal + ".LBB0_9:\n";
  EXPECT_THAT(check(replaced(kSplitCounters, signal, branch), "gfx1201"),
              HasSubstr("expected this wave to signal"));
}

/// The problems of a function `f` and of a kernel that calls it.
static std::string checkCall(const std::string &function, const std::string &kernel) {
  std::string text = "\t.type\tf,@function\nf:\n" + function + inKernel(kernel);
  std::string all;
  for (const KernelCode &code : llvm::cantFail(parseISA(text)))
    all += problemsOf(checkWaits(code));
  return all;
}

TEST(Waits, CallsWaitForAll) {
  std::string wait = "s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)\n", leave = "s_setpc_b64 s[30:31]\n";
  std::string load = "global_load_dword v1, v0, s[4:5]\n", use = "v_add_f32_e32 v0, v0, v1\n";
  std::string call = "s_swappc_b64 s[30:31], s[0:1]\n";
  EXPECT_EQ(checkCall(wait + use + leave, load + call + use), "");
  EXPECT_EQ(checkCall(wait + load + "s_waitcnt vmcnt(0)\n" + leave, call + use), "");
  EXPECT_THAT(checkCall(use + leave, load + call), HasSubstr("wait for all that its caller left"));
  EXPECT_THAT(checkCall("s_waitcnt vmcnt(0)\n" + leave, call), HasSubstr("its caller left"));
  EXPECT_THAT(checkCall(wait + load + leave, call + use), HasSubstr("before the return"));
  EXPECT_THAT(checkCall(wait + load + use + leave, call), HasSubstr("before its register is used"));
  EXPECT_THAT(checkCall(wait + "ds_read_b32 v1, v0\n" + leave, call),
              HasSubstr("no access to LDS"));
  EXPECT_THAT(checkCall(wait + "s_barrier\n" + leave, call), HasSubstr("no barrier in a function"));
  EXPECT_THAT(checkCall(wait + leave, call + load + use), HasSubstr("before its register is used"));
}

TEST(Waits, FlatAccessesAreRefused) {
  EXPECT_THAT(check("\tflat_load_dword v4, v[2:3]\n"), HasSubstr("expected no flat accesses"));
}

TEST(Waits, AtomicsOfOnePlaceNeedNoOrder) {
  std::string body = "\tds_add_u32 v1, v2\n\tds_add_u32 v1, v3\n";
  EXPECT_EQ(check(body, "gfx942", 128), "");
  EXPECT_THAT(check(body + "\tds_read_b32 v4, v1\n\ts_waitcnt lgkmcnt(0)\n", "gfx942", 128),
              HasSubstr("and a barrier"));
  EXPECT_THAT(check(body + "\tds_write_b32 v1, v4\n", "gfx942", 128), HasSubstr("and a barrier"));
}

/// A scalar comes back from a lane into a register that is not followed.
TEST(Waits, LanesGoToAnyRegister) {
  EXPECT_EQ(check("\tv_writelane_b32 v5, vcc_lo, 3\n\tv_readlane_b32 vcc_lo, v5, 3\n"), "");
}

/// The registers of scales are operands too, the last one in front of the modifiers.
TEST(Waits, ScalesAreRead) {
  std::string body = R"(
  buffer_load_dword v14, v1, s[4:7], 0 offen
  buffer_load_dword v15, v1, s[4:7], 0 offen offset:4
  s_waitcnt vmcnt(0)
  v_mfma_scale_f32_16x16x128_f8f6f4 a[0:3], v[16:21], v[22:25], a[0:3], v14, v15 op_sel:[1,0,0] op_sel_hi:[0,1,0] cbsz:2 blgp:4
)";
  EXPECT_EQ(check(body, "gfx950"), "");
  EXPECT_THAT(check(replaced(body, "vmcnt(0)", "vmcnt(1)"), "gfx950"),
              HasSubstr("of line 7 before its register is used"));
}

/// An address may wait in an accumulator until it is needed.
TEST(Waits, FollowsAccumulators) {
  std::string shift = "v_lshlrev_b32_e32 v1, 4, v0\n";
  std::string away = shift + "  v_accvgpr_write_b32 a3, v1\n  v_mov_b32_e32 v1, v9\n";
  std::string back = away + "  v_accvgpr_read_b32 v1, a3\n";
  EXPECT_EQ(check(replaced(kRing, shift, back), "gfx950"), "");
  EXPECT_THAT(check(replaced(kRing, shift, away), "gfx950"), HasSubstr("any byte"));
}

/// Any function of three operands' bits, by its table.
TEST(Waits, FollowsTables) {
  // 16 v0 with two bits turned over; with the third operand, which may be anything, in place of
  // high bits; with all bits turned over; and with one of an unknown number.
  struct {
    const char *instruction;
    bool isBounded;
  } tables[] = {{"v_bitop3_b32 v1, v1, 48, v1 bitop3:0x3c", true},
                {"v_bitop3_b32 v1, v1, 48, v9 bitop3:0x3c", true},
                {"v_bitop3_b32 v1, v9, 48, v1 bitop3:0x6a", true},
                {"v_bitop3_b32 v1, v1, 48, v1 bitop3:0xc3", false},
                {"v_bitop3_b32 v1, v1, 48, v9 bitop3:0x56", false}};
  for (auto [instruction, isBounded] : tables) {
    std::string shift = "v_lshlrev_b32_e32 v1, 4, v0\n";
    std::string body = replaced(kRing, shift, shift + "  " + instruction + "\n");
    EXPECT_EQ(check(body, "gfx950").empty(), isBounded) << instruction << check(body, "gfx950");
  }
}

/// Two instructions in one give two results, each from what registers held before either.
TEST(Waits, FollowsPairs) {
  std::string write = "\tv_mov_b32_e32 v1, 0\n\tv_mov_b32_e32 v2, 64\n\tds_store_b32 v1, v9\n";
  std::string read = "\tds_load_b32 v8, v1\n";
  struct {
    const char *pair;
    bool isApart;
  } pairs[] = {
      {"\tv_dual_mov_b32 v2, v1 :: v_dual_mov_b32 v1, v2\n", true},
      {"\tv_dual_mov_b32 v4, v1 :: v_dual_lshlrev_b32 v1, 1, v2\n", true},
      {"\tv_dual_mov_b32 v1, v2 :: v_dual_mov_b32 v2, v1\n", true},
      {"\tv_dual_mov_b32 v3, v2 :: v_dual_mov_b32 v4, v1\n", false},
      {"\tv_dual_mov_b32 v4, v2 :: v_dual_mov_b32 v1, v9\n", false},
      {"\tv_dual_add_f32 v4, v2, v2 :: v_dual_fmac_f32 v1, v3, v5\n", false},
  };
  for (auto [pair, isApart] : pairs)
    EXPECT_EQ(check(write + pair + read, "gfx1201").empty(), isApart)
        << pair << check(write + pair + read, "gfx1201");
  // What only the second half overwrites is not known from before.
  EXPECT_THAT(check("\tv_mov_b32_e32 v1, 0\n\tv_mov_b32_e32 v2, 64\n\tds_store_b32 v1, v9\n"
                    "\tv_dual_mov_b32 v3, v1 :: v_dual_mov_b32 v2, v9\n\tds_load_b32 v8, v2\n",
                    "gfx1201"),
              HasSubstr("and a barrier"));
}

/// Bits that may be ones anyway add nothing when they are turned over.
TEST(Waits, FollowsBits) {
  for (auto [turned, isBounded] : {std::pair("48", true), {"0x440", false}}) {
    std::string shift = "v_lshlrev_b32_e32 v1, 4, v0\n";
    std::string place = shift + "  v_and_b32_e32 v1, 0xbf0, v1\n  v_xor_b32_e32 v1, " + turned +
                        ", v1\n  v_add_u32_e32 v1, 0x400, v1\n";
    std::string found = check(replaced(kRing, shift, place), "gfx950");
    EXPECT_EQ(found.empty(), isBounded) << turned << ": " << found;
  }
}

/// A number that is one bit, if not zero, moves the ones of what it multiplies.
TEST(Waits, FollowsProducts) {
  struct {
    const char *bit;
    bool isBounded;
  } bits[] = {{"s_bfe_u32 s9, s9, 0x10003\n  s_mulk_i32 s9, 0xf0\n", true},
              {"s_bfe_u32 s9, s9, 0x10003\n  s_mulk_i32 s9, 0x1000\n", false},
              {"s_bfe_u32 s9, s9, 0x20003\n  s_mulk_i32 s9, 0x5f0\n", false},
              {"s_bfe_u32 s9, s9, 0x10003\n  s_mul_i32 s9, s9, 0xf0\n", true},
              {"s_and_b32 s9, s9, 16\n  s_addk_i32 s9, 0xe0\n", true},
              {"s_bfe_u32 s9, s9, 0x10003\n  s_addk_i32 s9, 0xf000\n", false},
              {"s_and_b32 s9, s9, 32\n  s_bitset1_b32 s9, 4\n", true},
              {"s_and_b32 s9, s9, 32\n  s_bitset1_b32 s9, 12\n", false},
              {"s_and_b32 s9, s9, 0x1010\n  s_bitset0_b32 s9, 12\n", true},
              {"s_and_b32 s9, s9, 0x1010\n  s_bitset0_b32 s9, 4\n", false},
              {"s_and_b32 s9, s9, 0x1010\n  s_andn2_b32 s9, s9, 0x1000\n", true},
              {"s_and_b32 s9, s9, 0x1010\n  s_andn2_b32 s9, s9, s10\n", false},
              {"s_and_b32 s9, s9, 14\n  s_lshl4_add_u32 s9, s9, 16\n", true},
              {"s_and_b32 s9, s9, 0x100\n  s_lshl4_add_u32 s9, s9, 7\n", false}};
  for (auto [bit, isBounded] : bits) {
    std::string shift = "v_lshlrev_b32_e32 v1, 4, v0\n";
    std::string place = shift + "  " + bit + "  v_xor_b32_e32 v1, s9, v1\n";
    std::string found = check(replaced(kRing, shift, place), "gfx950");
    EXPECT_EQ(found.empty(), isBounded) << bit << found;
  }
}

/// What bits of one number stand above all of another one begins where their sum does.
TEST(Waits, FollowsSums) {
  std::string write = "\tv_mov_b32_e32 v1, 0x1000\n\tds_store_b32 v1, v9 offset:512\n";
  std::string read = "\tv_and_b32_e32 v2, 0x1fc, v0\n\tv_or_b32_e32 v2, 0x1000, v2\n"
                     "\tds_load_b32 v8, v2";
  for (auto [offset, isApart] :
       {std::pair("\n", true), {" offset:508\n", false}, {" offset:516\n", true}}) {
    std::string found = check(write + read + offset, "gfx1201");
    EXPECT_EQ(found.empty(), isApart) << offset << found;
  }
}

/// Accesses of two places, each at a multiple of the element or of 64 of them.
TEST(Waits, FollowsTwoPlaces) {
  std::string write = "\tv_mov_b32_e32 v1, 0\n\tds_store_b32 v1, v9 offset:512\n";
  struct {
    const char *read;
    bool isApart;
  } reads[] = {{"ds_load_2addr_stride64_b32 v[4:5], v1 offset1:1", true},
               {"ds_load_2addr_stride64_b32 v[4:5], v1 offset1:2", false},
               {"ds_load_2addr_stride64_b32 v[4:5], v1 offset0:3 offset1:4", true},
               {"ds_load_2addr_b32 v[4:5], v1 offset1:2", true},
               {"ds_load_2addr_b32 v[4:5], v1 offset1:128", false}};
  for (auto [read, isApart] : reads) {
    std::string found = check(write + "\t" + read + "\n", "gfx1201");
    EXPECT_EQ(found.empty(), isApart) << read << found;
  }
}

/// A branch that is taken while any lane is on is always taken, unless something turns lanes off.
TEST(Waits, LanesThatNothingTurnsOff) {
  const std::string body = "  v_mov_b32_e32 v1, 0\n"
                           "  ds_read_b32 v2, v1\n"
                           "  s_cbranch_execnz .LBB0_1\n"
                           "  ds_write_b32 v1, v1\n"
                           ".LBB0_1:\n"
                           "  s_waitcnt lgkmcnt(0)\n";
  EXPECT_EQ(check(body), "");
  EXPECT_THAT(check("  s_mov_b64 exec, s[0:1]\n" + body), HasSubstr("expected a wait"));
  // They are on again where the mask comes back.
  const std::string lone = "  s_and_saveexec_b64 s[4:5], s[6:7]\n  s_cbranch_execz .LBB0_2\n"
                           "  s_nop 0\n.LBB0_2:\n";
  EXPECT_EQ(check(lone + "  s_or_b64 exec, exec, s[4:5]\n" + body), "");
  EXPECT_THAT(check(lone + body), HasSubstr("expected a wait"));
  EXPECT_THAT(check(lone + "  s_or_b64 exec, exec, s[6:7]\n" + body), HasSubstr("expected a wait"));
  EXPECT_THAT(check(lone + "  s_mov_b32 s5, s8\n  s_or_b64 exec, exec, s[4:5]\n" + body),
              HasSubstr("expected a wait"));
}
