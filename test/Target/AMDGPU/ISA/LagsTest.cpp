// What is declared of groups of waves that lag is proven by which barriers they pass, and what is
// declared of rings and words that count arrivals is found, or it is an error that names it.
#include "Kernels.h"
#include "kiln/Target/AMDGPU/Declared.h"
#include "gmock/gmock.h"

using namespace kiln::amdgcn;
using namespace kiln::testing;
using ::testing::HasSubstr;

static std::string check(const std::string &body, const std::string &protocol = kSkewedProtocol) {
  KernelCode kernel = parseKernel(inKernel(body, "gfx950", 256, protocol));
  return textOf(checkDeclared(kernel)) + textOf(checkWaits(kernel));
}

static const std::string entry = "  s_cbranch_scc1 .LBB0_1\n  s_barrier\n.LBB0_1:\n";
static const std::string leaving = "  s_cbranch_scc1 .LBB0_2\n  s_barrier\n";
static const std::string compute = "  v_add_f32_e32 v2, v2, v12\n";

/// The barrier at which waves meet again may stand elsewhere, behind branches from several places.
TEST(Lags, OneBarrierForSeveralBranches) {
  std::string meeting = R"(
  s_cbranch_scc1 .LBB0_2
  s_barrier
.LBB0_2:
)";
  std::string shared = R"(
  s_cbranch_scc1 .LBB0_4
  s_cmp_lg_u32 s9, 0
  s_cbranch_scc1 .LBB0_2
  s_branch .LBB0_3
.LBB0_4:
  s_cmp_lg_u32 s9, 0
  s_cbranch_scc1 .LBB0_2
.LBB0_3:
  s_barrier
.LBB0_2:
)";
  std::string body = replaced(kSkewed, meeting, shared);
  EXPECT_EQ(check(body), "");
  EXPECT_THAT(check(replaced(body, ".LBB0_3:\n  s_barrier\n", ".LBB0_3:\n")), HasSubstr("the end"));
}

/// Where some waves are a barrier behind, one between two accesses is not enough.
TEST(Lags, WavesThatLagNeedABarrierMore) {
  // The waits moved behind their barriers.
  std::string wait = "  s_waitcnt vmcnt(0) lgkmcnt(0)\n", barrier = "  s_barrier\n";
  EXPECT_THAT(check(replaced(kSkewed, wait + barrier, barrier + wait)),
              HasSubstr("its place in LDS"));
  // Without a lag one of the two is enough.
  std::string level = replaced(kSkewed, "  s_cbranch_scc1 .LBB0_1\n  s_barrier\n", "");
  level = replaced(level, leaving, "");
  level = replaced(level, compute + barrier, compute);
  std::string protocol = replaced(kSkewedProtocol, "\"skew\": 1", "\"skew\": 0");
  EXPECT_EQ(check(level, replaced(protocol, "[4]", "[]")), "");
}

/// What is declared and not kept, or kept and not declared.
TEST(Lags, WhatIsNotAsDeclaredIsNamed) {
  struct {
    const char *from, *to, *problem;
  } declarations[] = {
      {"\"skew\": 1", "\"skew\": 0",
       "waves 2 to 3 lag by 1 barrier here, which the metadata does "
       "not declare"},
      {"\"skew\": 1", "\"skew\": 2",
       "the metadata declares that waves 2 to 3 lag by 2 barriers; "
       "here they lag by 1"},
      {"\"warps\": 2", "\"warps\": 1", "the metadata declares roles of 2 waves; the block has 4"},
      {"\"warps\": 2, \"copies\": 2", "\"warps\": 1, \"copies\": 4",
       "the metadata declares that wave 1 lag by 1 barrier; here they lag by 0"},
      {"[4]", "[3]", "the metadata declares 3 barriers a trip of warps 0 to 3; this loop has 4"},
      {"[4]", "[2]", ""},
      {"4096}", "2097152}",
       "the metadata declares a ring at bytes 0 to 4194303 of LDS; the block "},
  };
  std::string text = kSkewed;
  for (auto [from, to, problem] : declarations)
    EXPECT_THAT(check(text, replaced(kSkewedProtocol, from, to)), HasSubstr(problem)) << to;
  struct {
    std::string from, to;
    const char *problem;
  } codes[] = {
      {"  s_cbranch_scc1 .LBB0_1\n  s_barrier\n", "",
       "waves 0 to 1 lag by 1 barrier here, which the metadata does not declare"},
      {leaving, "", "waves 2 to 3 have come to 1 barrier more than others by the end"},
      {"s_cmp_eq_u32 s9, 0", "s_cmp_eq_u32 s9, 1", "waves 0 to 1 lag by 1 barrier here, which the"},
      {entry, replaced(entry, "s_barrier\n", "s_barrier\n  s_barrier\n"),
       "the metadata declares that waves 2 to 3 lag by 1 barrier; here they lag by 2"},
      {entry, replaced(entry, "  s_barrier\n", "  s_barrier\n  ds_read_b128 v[20:23], v1\n"),
       "expected no access to memory where waves that part pass a barrier"},
      {compute + "  s_barrier\n", compute,
       "the metadata declares 4 barriers a trip of warps 0 to 3; "
       "this loop has 3"},
      // Whoever takes the branch, all do.
      {"v_readfirstlane_b32 s9, v0", "s_mov_b32 s9, s20",
       "the metadata declares that waves 2 to 3 lag by 1 barrier; the code has no barrier that "
       "only "
       "they pass"},
      // Nobody knows which waves do.
      {"s_lshr_b32 s9, s9, 7", "s_mul_i32 s9, s9, s20", "expected all waves of a group"},
  };
  for (const auto &[from, to, problem] : codes)
    EXPECT_THAT(check(replaced(kSkewed, from, to)), HasSubstr(problem)) << to;
}

/// Waves that part by their numbers are found whatever stands beside the barrier, also where the
/// number has decided on a constant alone by which they part later.
TEST(Lags, WhatNobodyDeclaresIsNoProof) {
  std::string problem = "waves part here by their numbers in front of barriers, which no metadata";
  EXPECT_THAT(check(kSkewed, ""), HasSubstr(problem));
  std::string moved = replaced(
      kSkewed, entry, replaced(entry, "  s_barrier\n", "  s_mov_b32 s20, 0\n  s_barrier\n"));
  EXPECT_THAT(check(moved, ""), HasSubstr(problem));
  std::string constant = "  s_cbranch_scc1 .LBB0_5\n  s_mov_b32 s20, 1\n.LBB0_5:\n"
                         "  s_cmp_eq_u32 s20, 0\n" +
                         entry;
  std::string later = replaced(kSkewed, entry, constant);
  later = replaced(later, "  v_mov_b32_e32 v2, 0\n", "  v_mov_b32_e32 v2, 0\n  s_mov_b32 s20, 0\n");
  EXPECT_THAT(check(later, ""), HasSubstr(problem));
  EXPECT_EQ(check(later), "");
  // Lanes that are off for a while, and on again, part no waves.
  std::string lanes = "  v_cmp_gt_u32_e32 vcc, 8, v0\n  s_and_saveexec_b64 s[12:13], vcc\n"
                      "  s_cbranch_execz .LBB0_5\n  v_mov_b32_e32 v2, 1.0\n.LBB0_5:\n"
                      "  s_or_b64 exec, exec, s[12:13]\n  s_and_b64 vcc, exec, s[14:15]\n"
                      "  s_cbranch_vccnz .LBB0_6\n  s_barrier\n.LBB0_6:\n";
  EXPECT_EQ(check(lanes, ""), "");
  // Nor do numbers that lie in the lane beside one of theirs.
  auto putBy = [](const std::string &lane) {
    return "  v_readfirstlane_b32 s9, v0\n  s_lshr_b32 s9, s9, 7\n"
           "  v_writelane_b32 v20, s9, 0\n  v_writelane_b32 v20, s14, 1\n"
           "  v_readlane_b32 s10, v20, " +
           lane + "\n  s_cmp_eq_u32 s10, 0\n  s_cbranch_scc1 .LBB0_6\n  s_barrier\n.LBB0_6:\n";
  };
  EXPECT_EQ(check(putBy("1"), ""), "");
  EXPECT_THAT(check(putBy("0"), ""), HasSubstr(problem));
}

/// A branch by a mask that is a constant on the way to it, and by numbers of threads on another
/// way, which goes elsewhere.
TEST(Lags, WaysThatPartByConstantsAreFollowed) {
  std::string body = "  s_cmp_eq_u32 s20, 0\n  s_cbranch_scc1 .LBB0_1\n"
                     "  v_cmp_gt_u32_e64 s[4:5], 8, v0\n  s_mov_b64 s[6:7], 0\n"
                     "  s_branch .LBB0_2\n.LBB0_1:\n  s_mov_b64 s[4:5], -1\n"
                     "  s_mov_b64 s[6:7], -1\n.LBB0_2:\n  s_and_b64 vcc, exec, s[6:7]\n"
                     "  s_cbranch_vccz .LBB0_3\n  s_and_b64 vcc, exec, s[4:5]\n"
                     "  s_cbranch_vccz .LBB0_3\n  s_barrier\n.LBB0_3:\n";
  EXPECT_EQ(check(body, ""), "");
  EXPECT_THAT(check(replaced(body, "s_mov_b64 s[6:7], 0", "s_mov_b64 s[6:7], -1"), ""),
              HasSubstr("waves part here by their numbers in front of barriers"));
}

/// Copies of a role have places of their own: of these the waves of one alone have to know, which
/// pass the same barriers.
TEST(Lags, WavesOfOneGroupLagByNothing) {
  // Each copy writes and reads where the other one does not, once a trip.
  std::string exchange = "  v_lshlrev_b32_e32 v3, 3, v0\n  ds_write_b32 v3, v0 offset:8192\n"
                         "  s_waitcnt lgkmcnt(0)\n  s_barrier\n  v_mov_b32_e32 v4, v3\n"
                         "  ds_read_b32 v5, v4 offset:8192\n  s_waitcnt lgkmcnt(0)\n"
                         "  s_barrier\n";
  std::string body =
      replaced(kSkewed, "  s_add_i32 s8, s8, -1\n", exchange + "  s_add_i32 s8, s8, -1\n");
  std::string protocol = replaced(kSkewedProtocol, "[4]", "[6]");
  EXPECT_EQ(check(body, protocol), "");
  // And where it does.
  EXPECT_THAT(
      check(replaced(body, "v_mov_b32_e32 v4, v3", "v_xor_b32_e32 v4, 0x400, v3"), protocol),
      HasSubstr("its place in LDS"));
  // Of waves of one group a barrier is missing.
  EXPECT_THAT(check(replaced(body, "  s_barrier\n  v_mov_b32_e32 v4", "  v_mov_b32_e32 v4"),
                    replaced(protocol, "[6]", "[5]")),
              HasSubstr("its place in LDS"));
}

/// Words that count arrivals.
TEST(Declared, CountersAreFound) {
  std::string arrival = "\tds_inc_u32 v2, v3\n", read = "\tds_read_b32 v4, v2\n";
  std::string make = "\tds_write_b32 v2, v7\n\ts_waitcnt lgkmcnt(0)\n\ts_barrier\n";
  std::string body = "\tv_lshrrev_b32_e32 v0, 6, v0\n\tv_readfirstlane_b32 s8, v0\n"
                     "\tv_mov_b32_e32 v2, 0x400\n\tv_mov_b32_e32 v3, 3\n\tv_mov_b32_e32 v7, 0\n" +
                     make + "\ts_cmp_gt_u32 s8, 1\n\ts_cbranch_scc0 .LBB0_4\n" + arrival +
                     "\ts_branch .LBB0_5\n.LBB0_4:\n.LBB0_2:\n" + read +
                     "\ts_waitcnt lgkmcnt(0)\n\tv_readfirstlane_b32 s9, v4\n\ts_cmp_gt_u32 s9, 1\n"
                     "\ts_cbranch_scc1 .LBB0_5\n\ts_sleep 1\n\ts_branch .LBB0_2\n.LBB0_5:\n";
  std::string protocol =
      R"({"kernel": "k", "roles": [)"
      R"({"name": "use", "first": 0, "warps": 2, "copies": 1, "skew": 0, "registers": 0, "trips": []},)"
      R"({"name": "load", "first": 2, "warps": 2, "copies": 1, "skew": 0, "registers": 0, "trips": []}],)"
      R"("rings": [], "counters": [{"at": 1024, "slots": 1, "arrivals": 2, "arrive": ["load"],)"
      R"("wait": ["use"]}], "barriers": [], "fences": []})";
  EXPECT_EQ(check(body, protocol), "");
  EXPECT_THAT(check(body, ""), HasSubstr("bytes 1024 to 1027 of LDS count arrivals here, which the "
                                         "metadata does not declare"));
  struct {
    std::string from, to;
    const char *problem;
  } declarations[] = {
      {"1024", "2048", "the metadata declares counters at byte 2048; the code makes none"},
      {"\"arrivals\": 2", "\"arrivals\": 3",
       "the metadata declares 3 arrivals at the counters at byte 1024; this one counts to 2"},
      {"\"slots\": 1", "\"slots\": 2", "the code makes none at byte 1032"},
      {"[\"load\"]", "[\"load\", \"use\"]",
       "the metadata declares that role 'use' arrives at the counters at "
       "byte 1024; the code has no such arrival"},
      {"[\"use\"]", "[\"use\", \"load\"]",
       "the metadata declares that role 'load' waits at the counters at "
       "byte 1024; the code has no such wait"},
  };
  for (const auto &[from, to, problem] : declarations)
    EXPECT_THAT(check(body, replaced(protocol, from, to)), HasSubstr(problem)) << to;
  EXPECT_THAT(check(replaced(body, arrival, ""), protocol), HasSubstr("no such arrival"));
  EXPECT_THAT(check(replaced(body, "\ts_sleep 1\n", ""), protocol), HasSubstr("no such wait"));
  EXPECT_THAT(check(replaced(body, "\tds_write_b32 v2, v7\n", ""), protocol),
              HasSubstr("makes none"));
}

/// A declaration that cannot be read is an error that names the member.
TEST(Declared, WhatCannotBeReadIsNamed) {
  struct {
    std::string from, to;
    const char *problem;
  } cases[] = {
      {"\"skew\": 1", "\"skew\": \"one\"", "expected integer at protocol.roles[0].skew"},
      {"\"warps\": 2, ", "", "missing value at protocol.roles[0].warps"},
      {"\"roles\"", "\"rolls\"", "missing value at protocol.roles"},
      {"{\"kernel\"", "\"kernel\"", "the protocol that the metadata declares cannot be read"},
      {"\"first\": 0", "\"first\": 1", "to begin at warp 0, got 1"},
      {"\"warps\": 2", "\"warps\": 0", "to have warps and copies"},
      {"\"depth\": 2", "\"depth\": 0", "expected a ring of slots"},
      {"\"bytes\": 4096", "\"bytes\": 4000", "that are aligned to 1024 bytes"},
      {"\"own\": true", "\"own\": false", "which others fill"},
      {"\"copies\": 2", "\"copies\": 1", "several if they lag"},
      {"\"first\": 0", "\"name\": \"all\", \"first\": 0", "counters that name it"},
      {"\"k\"", "\"other\"", "declares the protocol of 'other', which is no kernel of the text"},
  };
  for (const auto &[from, to, problem] : cases) {
    auto kernels = parseISA(inKernel(kSkewed, "gfx950", 256, replaced(kSkewedProtocol, from, to)));
    ASSERT_FALSE(bool(kernels)) << to;
    EXPECT_THAT(llvm::toString(kernels.takeError()), HasSubstr(problem)) << to;
  }
}
