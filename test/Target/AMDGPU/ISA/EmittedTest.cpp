// What the reader of final code says of each instruction with an effect, or with a number that is
// followed, that Kiln was seen to emit: one row each. What only computes in registers has no row;
// an instruction whose effect is not known is an error wherever it stands.
#include "Kernels.h"
#include "gmock/gmock.h"

using namespace kiln::amdgcn;
using namespace kiln::testing;
using ::testing::HasSubstr;

/// "ReadLDS 16 +512", with the counts of waits and the number of an operation.
static std::string spell(const Instruction &instruction) {
  static const char *const kinds[] = {"Other",        "Wait",       "Barrier",     "BarrierSignal",
                                      "BarrierWait",  "LoadGlobal", "StoreGlobal", "AtomicGlobal",
                                      "LoadToLDS",    "ReadLDS",    "WriteLDS",    "AtomicLDS",
                                      "PermuteLanes", "LoadScalar", "Flat",        "Matrix",
                                      "Branch",       "Call",       "Return",      "End"};
  std::string all = kinds[unsigned(instruction.kind)];
  if (instruction.bytes)
    all += " " + std::to_string(instruction.bytes);
  if (instruction.offsets.size() == 2)
    all += " +" + std::to_string(instruction.offsets[0]) + ",+" +
           std::to_string(instruction.offsets[1]);
  static const char *const counters[] = {"load", "store", "lds", "scalar"};
  for (unsigned counter = 0; counter < kNumCounters; ++counter)
    if (instruction.waits[counter])
      all += std::string(" ") + counters[counter] + std::to_string(*instruction.waits[counter]);
  if (instruction.result && instruction.kind != Kind::Other)
    all += instruction.keepsHalf ? " to half" : " to register";
  return all;
}

TEST(Emitted, EffectsAreKnown) {
  struct {
    const char *chip, *line, *expected;
  } cases[] = {
      {"gfx1100", "buffer_gl0_inv", "Other"},
      {"gfx1201", "buffer_load_b128 v[9:12], v4, s[12:15], s29 offen", "LoadGlobal 16 to register"},
      {"gfx1100", "buffer_load_b32 v2, v1, s[4:7], 0 offen", "LoadGlobal 4 to register"},
      {"gfx1100", "buffer_load_b64 v[2:3], v8, s[4:7], 0 offen offset:256",
       "LoadGlobal 8 to register"},
      {"gfx942", "buffer_load_dword v4, off, s[4:7], 0", "LoadGlobal 4 to register"},
      {"gfx942", "buffer_load_dwordx2 v[2:3], off, s[4:7], 0", "LoadGlobal 8 to register"},
      {"gfx942", "buffer_load_dwordx4 v[6:9], v12, s[12:15], s8 offen",
       "LoadGlobal 16 to register"},
      {"gfx1100", "buffer_load_u16 v2, v2, s[0:3], 0 offen", "LoadGlobal 2 to register"},
      {"gfx1100", "buffer_load_u8 v1, off, s[0:3], 0", "LoadGlobal 1 to register"},
      {"gfx942", "buffer_load_ubyte v1, off, s[4:7], 0", "LoadGlobal 1 to register"},
      {"gfx90a", "buffer_load_ushort v2, off, s[8:11], 0", "LoadGlobal 2 to register"},
      {"gfx1201", "buffer_store_b128 v[132:135], v59, s[4:7], null offen", "StoreGlobal 16"},
      {"gfx1100", "buffer_store_b16 v11, v14, s[20:23], 0 offen", "StoreGlobal 2"},
      {"gfx1100", "buffer_store_b32 v15, v0, s[4:7], 0 offen", "StoreGlobal 4"},
      {"gfx1100", "buffer_store_b64 v[56:57], v58, s[12:15], 0 offen", "StoreGlobal 8"},
      {"gfx1100", "buffer_store_b8 v31, v30, s[12:15], 0 offen", "StoreGlobal 1"},
      {"gfx942", "buffer_store_byte v1, v0, s[0:3], 0 offen", "StoreGlobal 1"},
      {"gfx942", "buffer_store_dword v4, v0, s[0:3], 0 offen", "StoreGlobal 4"},
      {"gfx942", "buffer_store_dwordx2 v[6:7], v0, s[8:11], 0 offen", "StoreGlobal 8"},
      {"gfx942", "buffer_store_dwordx4 v[74:77], v37, s[24:27], 0 offen", "StoreGlobal 16"},
      {"gfx90a", "buffer_store_short v3, v0, s[12:15], 0 offen", "StoreGlobal 2"},
      {"gfx942", "ds_bpermute_b32 v18, v8, v23", "PermuteLanes to register"},
      {"gfx942", "ds_inc_rtn_u32 v2, v33, v32", "AtomicLDS 4 to register"},
      {"gfx942", "ds_inc_u32 v66, v41 offset:24592", "AtomicLDS 4"},
      {"gfx1100", "ds_load_2addr_b32 v[51:52], v6 offset1:2", "ReadLDS 8 +0,+8 to register"},
      {"gfx1100", "ds_load_2addr_b64 v[4:7], v0 offset1:32", "ReadLDS 16 +0,+256 to register"},
      {"gfx1100", "ds_load_2addr_stride64_b32 v[41:42], v35 offset0:8 offset1:9",
       "ReadLDS 8 +2048,+2304 to register"},
      {"gfx1100", "ds_load_2addr_stride64_b64 v[168:171], v7 offset0:4 offset1:6",
       "ReadLDS 16 +2048,+3072 to register"},
      {"gfx1100", "ds_load_b128 v[19:22], v16", "ReadLDS 16 to register"},
      {"gfx1100", "ds_load_b32 v7, v7", "ReadLDS 4 to register"},
      {"gfx1100", "ds_load_b64 v[4:5], v52 offset:4224", "ReadLDS 8 to register"},
      {"gfx1100", "ds_load_u16 v34, v1", "ReadLDS 2 to register"},
      {"gfx1201", "ds_load_u8 v31, v19", "ReadLDS 1 to register"},
      {"gfx1100", "ds_load_u8_d16 v2, v1", "ReadLDS 1 to half"},
      {"gfx1100", "ds_load_u8_d16_hi v6, v55", "ReadLDS 1 to half"},
      {"gfx942", "ds_read2_b32 v[8:9], v7 offset1:2", "ReadLDS 8 +0,+8 to register"},
      {"gfx942", "ds_read2_b64 v[10:13], v1 offset1:4", "ReadLDS 16 +0,+32 to register"},
      {"gfx942", "ds_read2st64_b32 v[38:39], v22 offset0:8 offset1:9",
       "ReadLDS 8 +2048,+2304 to register"},
      {"gfx942", "ds_read2st64_b64 v[4:7], v35 offset1:1", "ReadLDS 16 +0,+512 to register"},
      {"gfx942", "ds_read_b128 v[12:15], v12", "ReadLDS 16 to register"},
      {"gfx942", "ds_read_b32 v2, v8 offset:32", "ReadLDS 4 to register"},
      {"gfx942", "ds_read_b64 v[46:47], v45", "ReadLDS 8 to register"},
      {"gfx942", "ds_read_u16 v16, v15", "ReadLDS 2 to register"},
      {"gfx942", "ds_read_u8 v6, v4", "ReadLDS 1 to register"},
      {"gfx1100", "ds_store_2addr_b32 v32, v29, v29 offset0:32 offset1:64", "WriteLDS 8 +128,+256"},
      {"gfx1100", "ds_store_2addr_b64 v1, v[4:5], v[6:7] offset1:32", "WriteLDS 16 +0,+256"},
      {"gfx1100", "ds_store_2addr_stride64_b32 v62, v37, v42 offset1:4", "WriteLDS 8 +0,+1024"},
      {"gfx1100", "ds_store_2addr_stride64_b64 v35, v[5:6], v[51:52] offset1:4",
       "WriteLDS 16 +0,+2048"},
      {"gfx1100", "ds_store_b128 v14, v[23:26] offset:2048", "WriteLDS 16"},
      {"gfx1201", "ds_store_b16 v3, v4", "WriteLDS 2"},
      {"gfx1100", "ds_store_b16_d16_hi v24, v3", "WriteLDS 2"},
      {"gfx1100", "ds_store_b32 v35, v27", "WriteLDS 4"},
      {"gfx1100", "ds_store_b64 v26, v[15:16] offset:128", "WriteLDS 8"},
      {"gfx1100", "ds_store_b8 v46, v56", "WriteLDS 1"},
      {"gfx1100", "ds_store_b8_d16_hi v0, v5 offset:64", "WriteLDS 1"},
      {"gfx942", "ds_write2_b32 v8, v9, v6 offset1:8", "WriteLDS 8 +0,+32"},
      {"gfx942", "ds_write2_b64 v1, v[14:15], v[10:11] offset1:4", "WriteLDS 16 +0,+32"},
      {"gfx942", "ds_write2st64_b32 v3, v14, v0 offset1:1", "WriteLDS 8 +0,+256"},
      {"gfx942", "ds_write2st64_b64 v35, v[14:15], v[16:17] offset0:4 offset1:5",
       "WriteLDS 16 +2048,+2560"},
      {"gfx942", "ds_write_b128 v36, v[4:7]", "WriteLDS 16"},
      {"gfx942", "ds_write_b16 v8, v35", "WriteLDS 2"},
      {"gfx942", "ds_write_b32 v8, v3", "WriteLDS 4"},
      {"gfx942", "ds_write_b64 v6, v[4:5]", "WriteLDS 8"},
      {"gfx942", "ds_write_b8 v0, v4", "WriteLDS 1"},
      {"gfx942", "global_atomic_and v[8:9], v18, off", "AtomicGlobal 4"},
      {"gfx1201", "global_atomic_and_b32 v[12:13], v15, off scope:SCOPE_DEV", "AtomicGlobal 4"},
      {"gfx942", "global_atomic_cmpswap v16, v[14:15], v[16:17], off sc0",
       "AtomicGlobal 4 to register"},
      {"gfx1100", "global_atomic_cmpswap_b32 v6, v[4:5], v[6:7], off glc",
       "AtomicGlobal 4 to register"},
      {"gfx942", "global_atomic_or v[8:9], v18, off", "AtomicGlobal 4"},
      {"gfx1201", "global_atomic_or_b32 v[12:13], v14, off scope:SCOPE_DEV", "AtomicGlobal 4"},
      {"gfx1201", "global_inv scope:SCOPE_SE", "LoadGlobal"},
      {"gfx1100", "global_load_b32 v0, v[54:55], off", "LoadGlobal 4 to register"},
      {"gfx1100", "global_load_b64 v[34:35], v[4:5], off", "LoadGlobal 8 to register"},
      {"gfx1100", "global_load_d16_b16 v0, v[0:1], off", "LoadGlobal 2 to half"},
      {"gfx1100", "global_load_d16_hi_b16 v1, v[28:29], off", "LoadGlobal 2 to half"},
      {"gfx1100", "global_load_d16_hi_u8 v3, v[40:41], off", "LoadGlobal 1 to half"},
      {"gfx1100", "global_load_d16_i8 v17, v[4:5], off", "LoadGlobal 1 to half"},
      {"gfx1100", "global_load_d16_u8 v3, v[19:20], off", "LoadGlobal 1 to half"},
      {"gfx942", "global_load_dword v4, v[2:3], off", "LoadGlobal 4 to register"},
      {"gfx942", "global_load_dwordx2 v[2:3], v[2:3], off nt", "LoadGlobal 8 to register"},
      {"gfx1201", "global_load_i8 v19, v[4:5], off", "LoadGlobal 1 to register"},
      {"gfx942", "global_load_sbyte v12, v[2:3], off", "LoadGlobal 1 to register"},
      {"gfx1201", "global_load_u16 v13, v[8:9], off", "LoadGlobal 2 to register"},
      {"gfx1100", "global_load_u8 v58, v[74:75], off", "LoadGlobal 1 to register"},
      {"gfx942", "global_load_ubyte v22, v[18:19], off", "LoadGlobal 1 to register"},
      {"gfx942", "global_load_ushort v12, v[6:7], off", "LoadGlobal 2 to register"},
      {"gfx1100", "global_store_b16 v0, v8, s[4:5]", "StoreGlobal 2"},
      {"gfx1100", "global_store_b32 v[6:7], v0, off", "StoreGlobal 4"},
      {"gfx1100", "global_store_b64 v[34:35], v[44:45], off", "StoreGlobal 8"},
      {"gfx1100", "global_store_b8 v[24:25], v1, off", "StoreGlobal 1"},
      {"gfx942", "global_store_byte v[4:5], v2, off", "StoreGlobal 1"},
      {"gfx942", "global_store_byte_d16_hi v[4:5], v2, off", "StoreGlobal 1"},
      {"gfx1100", "global_store_d16_hi_b16 v0, v8, s[4:5] offset:128", "StoreGlobal 2"},
      {"gfx1100", "global_store_d16_hi_b8 v1, v2, s[4:5]", "StoreGlobal 1"},
      {"gfx942", "global_store_dword v[4:5], v3, off", "StoreGlobal 4"},
      {"gfx942", "global_store_dwordx2 v[0:1], v[2:3], off", "StoreGlobal 8"},
      {"gfx942", "global_store_short v0, v4, s[4:5]", "StoreGlobal 2"},
      {"gfx942", "global_store_short_d16_hi v0, v4, s[8:9]", "StoreGlobal 2"},
      {"gfx942", "s_barrier", "Barrier"},
      {"gfx1201", "s_barrier_signal -1", "BarrierSignal"},
      {"gfx1201", "s_barrier_wait -1", "BarrierWait"},
      {"gfx942", "s_branch .LBB0_1", "Branch"},
      {"gfx942", "s_cbranch_execnz .LBB0_1", "Branch"},
      {"gfx942", "s_cbranch_execz .LBB0_1", "Branch"},
      {"gfx942", "s_cbranch_scc0 .LBB0_1", "Branch"},
      {"gfx942", "s_cbranch_scc1 .LBB0_1", "Branch"},
      {"gfx942", "s_cbranch_vccnz .LBB0_1", "Branch"},
      {"gfx942", "s_cbranch_vccz .LBB0_1", "Branch"},
      {"gfx1100", "s_clause 0x1", "Other"},
      {"gfx942", "s_endpgm", "End"},
      {"gfx1100", "s_load_b128 s[8:11], s[0:1], 0x60", "LoadScalar 16 to register"},
      {"gfx1100", "s_load_b256 s[4:11], s[0:1], 0x0", "LoadScalar 32 to register"},
      {"gfx1100", "s_load_b32 s3, s[0:1], 0x0", "LoadScalar 4 to register"},
      {"gfx1100", "s_load_b512 s[52:67], s[0:1], 0x40", "LoadScalar 64 to register"},
      {"gfx1100", "s_load_b64 s[12:13], s[0:1], 0x20", "LoadScalar 8 to register"},
      {"gfx942", "s_load_dword s33, s[0:1], 0x60", "LoadScalar 4 to register"},
      {"gfx942", "s_load_dwordx16 s[4:19], s[0:1], 0x0", "LoadScalar 64 to register"},
      {"gfx942", "s_load_dwordx2 s[12:13], s[0:1], 0x20", "LoadScalar 8 to register"},
      {"gfx942", "s_load_dwordx4 s[12:15], s[0:1], 0x20", "LoadScalar 16 to register"},
      {"gfx942", "s_load_dwordx8 s[4:11], s[0:1], 0x0", "LoadScalar 32 to register"},
      {"gfx942", "s_nop 0", "Other"},
      {"gfx1100", "s_sendmsg sendmsg(MSG_DEALLOC_VGPRS)", "Other"},
      {"gfx1100", "s_set_inst_prefetch_distance 0x1", "Other"},
      {"gfx942", "s_setprio 1", "Other"},
      {"gfx942", "s_sleep 1", "Other"},
      {"gfx1201", "s_wait_alu depctr_sa_sdst(0)", "Wait"},
      {"gfx1201", "s_wait_bvhcnt 0x0", "Wait"},
      {"gfx1201", "s_wait_dscnt 0x0", "Wait lds0"},
      {"gfx1201", "s_wait_expcnt 0x0", "Wait"},
      {"gfx1201", "s_wait_kmcnt 0x0", "Wait scalar0"},
      {"gfx1201", "s_wait_loadcnt 0x9", "Wait load9"},
      {"gfx1201", "s_wait_loadcnt_dscnt 0x0", "Wait load0 lds0"},
      {"gfx1201", "s_wait_samplecnt 0x0", "Wait"},
      {"gfx1201", "s_wait_storecnt 0x0", "Wait store0"},
      {"gfx942", "s_waitcnt lgkmcnt(0)", "Wait lds0 scalar0"},
      {"gfx1100", "s_waitcnt_depctr depctr_va_vdst(0)", "Wait"},
      {"gfx1100", "s_waitcnt_vscnt null, 0x0", "Wait store0"},
      {"gfx1100", "scratch_load_b64 v[22:23], off, off offset:16", "LoadGlobal 8 to register"},
      {"gfx942", "scratch_load_dword v6, off, off offset:8", "LoadGlobal 4 to register"},
      {"gfx942", "scratch_load_dwordx2 v[0:1], off, off", "LoadGlobal 8 to register"},
      {"gfx1100", "scratch_store_b128 off, v[4:7], off offset:16", "StoreGlobal 16"},
      {"gfx942", "scratch_store_dwordx2 off, v[6:7], off offset:8", "StoreGlobal 8"},
      {"gfx942", "scratch_store_dwordx4 off, v[56:59], off", "StoreGlobal 16"},
      {"gfx942", "v_mfma_f32_16x16x16_bf16 v[40:43], v[8:9], v[44:45], v[40:43]", "Matrix"},
      {"gfx90a", "v_mfma_f32_16x16x16bf16_1k v[26:29], v[4:5], v[8:9], v[26:29]", "Matrix"},
      {"gfx942", "v_mfma_f32_16x16x4_f32 v[0:3], v25, v4, v[0:3]", "Matrix"},
      {"gfx90a", "v_mfma_f32_16x16x4f32 v[22:25], v49, v82, v[8:11]", "Matrix"},
      {"gfx950", "v_mfma_f32_32x32x16_bf16 v[18:33], v[48:51], v[56:59], v[18:33]", "Matrix"},
      {"gfx950", "v_mfma_f32_32x32x16_f16 v[0:15], v[22:25], v[30:33], v[0:15]", "Matrix"},
      {"gfx942", "v_mfma_f32_32x32x8_bf16 v[18:33], v[50:51], v[62:63], v[18:33]", "Matrix"},
      {"gfx942", "v_mfma_f32_32x32x8_f16 v[0:15], v[26:27], v[28:29], v[0:15]", "Matrix"},
      {"gfx90a", "v_mfma_f32_32x32x8bf16_1k v[0:15], v[22:23], v[30:31], v[0:15]", "Matrix"},
      {"gfx90a", "v_mfma_f64_16x16x4f64 v[8:15], v[22:23], v[38:39], v[8:15]", "Matrix"},
      {"gfx950", "v_mfma_i32_16x16x32_i8 v[4:7], v[12:13], v[2:3], v[20:23]", "Matrix"},
      {"gfx942", "v_mfma_i32_32x32x16_i8 v[0:15], v[22:23], v[24:25], v[0:15]", "Matrix"},
      {"gfx1100", "v_wmma_f32_16x16x16_bf16 v[55:62], v[27:34], v[17:24], v[55:62]", "Matrix"},
      {"gfx1201", "v_wmma_f32_16x16x16_bf8_bf8 v[0:7], v[13:14], v[17:18], v[0:7]", "Matrix"},
      {"gfx1201", "s_delay_alu instid0(VALU_DEP_1)", "Other"},
      {"gfx942", "buffer_load_dword v1, s[4:7], 0 offen lds", "LoadToLDS 4"},
      {"gfx950", "buffer_load_dwordx4 v1, s[4:7], 0 offen lds", "LoadToLDS 16"}};
  for (auto &each : cases) {
    std::string body = std::string("\t") + each.line + "\n.LBB0_1:\n";
    EXPECT_EQ(spell(parseKernel(inKernel(body, each.chip)).code.front()), each.expected)
        << each.chip << ": " << each.line;
  }
}

/// What is none of these may give any number, which makes alarms false.
TEST(Emitted, OperationsAreKnown) {
  struct {
    const char *chip, *line;
    Operation expected;
  } cases[] = {{"gfx1201", "s_add_co_i32 s30, s28, s18", Operation::Add},
               {"gfx1201", "s_add_co_u32 s8, s8, kiln_zeros@rel32@lo+12", Operation::Add},
               {"gfx942", "s_add_i32 s9, s9, s8", Operation::Add},
               {"gfx942", "s_add_u32 s22, s22, kiln_zeros@rel32@lo+4", Operation::Add},
               {"gfx942", "s_addk_i32 s45, 0x80", Operation::AddShort},
               {"gfx942", "s_and_b32 s5, s5, 0xffff", Operation::And},
               {"gfx1100", "s_and_not1_b32 exec_lo, exec_lo, s7", Operation::AndNot},
               {"gfx942", "s_andn2_b32 s4, s4, 63", Operation::AndNot},
               {"gfx942", "s_bfe_u32 s2, s8, 0x10014", Operation::ExtractBits},
               {"gfx1100", "s_bitset0_b32 s3, 31", Operation::ClearBit},
               {"gfx942", "s_cselect_b32 s6, 0, 0x80000000", Operation::Select},
               {"gfx950", "s_lshl3_add_u32 s24, s3, 0x8800", Operation::ShiftLeft3Add},
               {"gfx942", "s_lshl_b32 s46, s0, 3", Operation::ShiftLeft},
               {"gfx942", "s_lshr_b32 s3, s3, 24", Operation::ShiftRight},
               {"gfx942", "s_mov_b32 s7, 0x27000", Operation::Move},
               {"gfx942", "s_movk_i32 s13, 0x80", Operation::MoveShort},
               {"gfx942", "s_mul_i32 s8, s11, 6", Operation::Multiply},
               {"gfx942", "s_mulk_i32 s24, 0x44", Operation::MultiplyShort},
               {"gfx942", "s_or_b32 s30, s23, s14", Operation::Or},
               {"gfx942", "s_xor_b32 s24, s27, 1", Operation::Xor},
               {"gfx942", "v_add3_u32 v5, v5, v10, v9", Operation::Add3},
               {"gfx1100", "v_add_co_u32 v3, s2, s52, v10", Operation::Add},
               {"gfx90a", "v_add_co_u32_e32 v7, vcc, s16, v10", Operation::Add},
               {"gfx942", "v_add_co_u32_e64 v11, s[2:3], 64, v11", Operation::Add},
               {"gfx1100", "v_add_nc_u32_e32 v0, -1, v0", Operation::Add},
               {"gfx1201", "v_add_nc_u32_e64 v3, 0x6400, 0", Operation::Add},
               {"gfx942", "v_add_u32_e32 v6, v21, v12", Operation::Add},
               {"gfx942", "v_add_u32_e64 v4, s3, 0", Operation::Add},
               {"gfx942", "v_and_b32_e32 v2, 0xffff, v2", Operation::And},
               {"gfx942", "v_and_or_b32 v3, v15, s13, v3", Operation::AndOr},
               {"gfx942", "v_bfe_u32 v11, v11, 7, 1", Operation::ExtractBits},
               {"gfx942", "v_bfi_b32 v18, v20, v18, -1", Operation::InsertBits},
               {"gfx950", "v_bitop3_b32 v34, v38, s4, v34 bitop3:0x48", Operation::ByTable},
               {"gfx942", "v_cndmask_b32_e32 v3, v5, v1, vcc", Operation::SelectLanes},
               {"gfx942", "v_cndmask_b32_e64 v0, v1, 0, vcc", Operation::SelectLanes},
               {"gfx1100",
                "v_dual_cndmask_b32 v29, 0x400000, v29 :: v_dual_lshlrev_b32 v68, 1, v68",
                Operation::SelectLanes},
               {"gfx1100", "v_dual_mov_b32 v15, 0 :: v_dual_and_b32 v6, 15, v0", Operation::Move},
               {"gfx942", "v_lshl_add_u32 v2, v2, 2, v10", Operation::ShiftLeftAdd},
               {"gfx942", "v_lshl_or_b32 v2, v9, 16, v8", Operation::ShiftLeftOr},
               {"gfx942", "v_lshlrev_b32_e32 v2, 1, v0", Operation::ShiftLeftReversed},
               {"gfx942", "v_lshlrev_b32_e64 v20, v19, s15", Operation::ShiftLeftReversed},
               {"gfx942", "v_lshrrev_b32_e32 v10, 5, v0", Operation::ShiftRightReversed},
               {"gfx942", "v_mad_u32_u24 v9, v41, 3, v41", Operation::MultiplyAdd},
               {"gfx942", "v_min_u32_e32 v2, 0x7f, v2", Operation::Minimum},
               {"gfx942", "v_mov_b32_e32 v2, 0", Operation::Move},
               {"gfx942", "v_mul_lo_u32 v19, s51, v10", Operation::Multiply},
               {"gfx942", "v_mul_u32_u24_e32 v18, 36, v13", Operation::Multiply},
               {"gfx942", "v_or3_b32 v4, v4, v5, v2", Operation::Or3},
               {"gfx942", "v_or_b32_e32 v14, 2, v10", Operation::Or},
               {"gfx950", "v_permlane16_swap_b32_e32 v18, v20", Operation::SwapRows},
               {"gfx950", "v_permlane32_swap_b32_e32 v23, v24", Operation::SwapHalves},
               {"gfx1100", "v_permlanex16_b32 v25, v16, s20, 0xfedcba98 op_sel:[1,0]",
                Operation::PermuteAcrossRows},
               {"gfx942", "v_readfirstlane_b32 s2, v3", Operation::FirstLane},
               {"gfx942", "v_readlane_b32 s60, v95, 2", Operation::ReadLane},
               {"gfx942", "v_writelane_b32 v95, s0, 0", Operation::WriteLane},
               {"gfx90a", "v_xad_u32 v7, v15, v8, v18", Operation::XorAdd},
               {"gfx1100", "v_xor3_b32 v25, v27, v25, v28", Operation::Xor3},
               {"gfx942", "v_xor_b32_e32 v1, v15, v12", Operation::Xor}};
  for (auto &each : cases)
    EXPECT_EQ(int(parseKernel(inKernel(std::string("\t") + each.line + "\n", each.chip))
                      .code.front()
                      .operation),
              int(each.expected))
        << each.chip << ": " << each.line;
}

/// None of these is taken for harmless: registers that are not named, barriers that are not
/// followed, memory that no known counter counts, jumps that look like computations.
TEST(Emitted, WhatHasAnUnknownEffectIsAnError) {
  for (auto [chip, line] :
       {std::pair("gfx942", "s_movreld_b32 s2, s3"),
        {"gfx1201", "v_movreld_b32 v2, v3"},
        {"gfx1201", "s_barrier_leave"},
        {"gfx1201", "s_barrier_init -1"},
        {"gfx1100", "exp mrt0 v0, v0, v0, v0 done"},
        {"gfx1100", "image_get_resinfo v[0:3], v0, s[0:7] dmask:0xf dim:SQ_RSRC_IMG_1D"},
        {"gfx942", "s_store_dword s2, s[4:5], 0x0"},
        {"gfx942", "s_sethalt 1"},
        {"gfx942", "s_rfe_b64 s[2:3]"},
        {"gfx1201", "s_sleep_var s2"}})
    EXPECT_THAT(
        llvm::toString(parseISA(inKernel(std::string("\t") + line + "\n", chip)).takeError()),
        HasSubstr("expected an instruction whose effect is known"))
        << chip << ": " << line;
  EXPECT_THAT(llvm::toString(
                  parseISA(inKernel("\tbuffer_store_format_x v1, off, s[4:7], 0\n")).takeError()),
              HasSubstr("expected an access whose width is known"));
}
