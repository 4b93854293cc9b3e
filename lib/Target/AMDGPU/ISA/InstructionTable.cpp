// The table of InstructionTable.h.
#include "InstructionTable.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;
using namespace kiln::amdgcn;

static constexpr Counters of(Counter counter) { return 1u << unsigned(counter); }
static constexpr Counters kLoads = of(Counter::Load), kStores = of(Counter::Store),
                          kLDSAccesses = of(Counter::LDS), kScalars = of(Counter::Scalar);

//===- Effects ------------------------------------------------------------------------------===//

static constexpr Known table[] = {
    // Waits.
    {"s_waitcnt", Kind::Wait, {}, 0, 0, /*isPacked=*/true},
    {"s_waitcnt_vmcnt", Kind::Wait, {}, kLoads},
    {"s_waitcnt_vscnt", Kind::Wait, {}, kStores},
    {"s_waitcnt_lgkmcnt", Kind::Wait, {}, kLDSAccesses | kScalars},
    {"s_wait_loadcnt", Kind::Wait, {}, kLoads},
    {"s_wait_storecnt", Kind::Wait, {}, kStores},
    {"s_wait_dscnt", Kind::Wait, {}, kLDSAccesses},
    {"s_wait_kmcnt", Kind::Wait, {}, kScalars},
    {"s_wait_loadcnt_dscnt", Kind::Wait, {}, kLDSAccesses, kLoads},
    {"s_wait_storecnt_dscnt", Kind::Wait, {}, kLDSAccesses, kStores},
    {"s_wait_idle", Kind::Wait, {}, kLoads | kStores | kLDSAccesses | kScalars},
    // What counts nothing that is followed.
    {"s_waitcnt_expcnt", Kind::Wait},
    {"s_waitcnt_depctr", Kind::Wait},
    {"s_wait_alu", Kind::Wait},
    {"s_wait_event", Kind::Wait},
    {"s_wait_expcnt", Kind::Wait},
    {"s_wait_xcnt", Kind::Wait},
    {"s_wait_samplecnt", Kind::Wait},
    {"s_wait_bvhcnt", Kind::Wait},
    // Barriers.
    {"s_barrier", Kind::Barrier},
    {"s_barrier_signal", Kind::BarrierSignal},
    {"s_barrier_signal_isfirst", Kind::BarrierSignal},
    {"s_barrier_wait", Kind::BarrierWait},
    // Answers that come like scalar loads.
    {"s_sendmsg_rtn_b32", Kind::LoadScalar},
    {"s_sendmsg_rtn_b64", Kind::LoadScalar},
    {"s_get_barrier_state", Kind::LoadScalar},
    // Care for caches is counted on gfx12 alone, as what it carries.
    {"global_inv", Kind::LoadGlobal},
    {"global_wb", Kind::StoreGlobal},
    {"global_wbinv", Kind::StoreGlobal},
    {"buffer_inv"},
    {"buffer_wbl2"},
    {"buffer_wbinvl1"},
    {"buffer_wbinvl1_vol"},
    {"buffer_gl0_inv"},
    {"buffer_gl1_inv"},
    {"s_dcache_inv"},
    {"s_dcache_inv_vol"},
    {"s_dcache_wb"},
    {"s_dcache_wb_vol"},
    {"s_gl1_inv"},
    {"s_icache_inv"},
    {"s_prefetch_data"},
    {"s_prefetch_data_pc_rel"},
    {"s_prefetch_inst"},
    {"s_prefetch_inst_pc_rel"},
    {"s_buffer_prefetch_data"},
    // How the wave runs on.
    {"ds_nop", Kind::Other, Operation::Nothing},
    {"s_nop", Kind::Other, Operation::Nothing},
    {"s_sleep", Kind::Other, Operation::Sleep},
    {"s_clause"},
    {"s_code_end"},
    {"s_delay_alu"},
    {"s_denorm_mode"},
    {"s_inst_prefetch"},
    {"s_round_mode"},
    {"s_sendmsg"},
    {"s_set_inst_prefetch_distance"},
    {"s_setprio"},
    {"s_trap"},
    {"s_wakeup"},
    // Branches by whether any lane is on, or met a comparison, and by the scalar unit's condition.
    {"s_cbranch_execz", Kind::Branch, Operation::BranchIfNoLane},
    {"s_cbranch_execnz", Kind::Branch, Operation::BranchIfAnyLane},
    {"s_cbranch_vccz", Kind::Branch, Operation::BranchIfNoneMeet},
    {"s_cbranch_vccnz", Kind::Branch, Operation::BranchIfAnyMeet},
    {"s_cbranch_scc0", Kind::Branch, Operation::BranchIfNot},
    {"s_cbranch_scc1", Kind::Branch, Operation::BranchIf},
    // What LLVM describes as if it computed.
    {"s_rfe_b64", Kind::Other, {}, 0, 0, false, /*isRefused=*/true},
    {"s_rfe_restore_b64", Kind::Other, {}, 0, 0, false, /*isRefused=*/true},
    {"s_cbranch_g_fork", Kind::Other, {}, 0, 0, false, /*isRefused=*/true},
    {"s_cbranch_i_fork", Kind::Other, {}, 0, 0, false, /*isRefused=*/true},
    {"s_cbranch_join", Kind::Other, {}, 0, 0, false, /*isRefused=*/true},
    {"s_sleep_var", Kind::Other, {}, 0, 0, false, /*isRefused=*/true},
    {"s_alloc_vgpr", Kind::Other, {}, 0, 0, false, /*isRefused=*/true},
};

const Known *kiln::amdgcn::findKnown(StringRef mnemonic) {
  const Known *found = find_if(table, [&](const Known &each) { return each.mnemonic == mnemonic; });
  return found == std::end(table) ? nullptr : found;
}

Expected<Counters> kiln::amdgcn::getCounters(StringRef name) {
  if (name == "vmcnt")
    return kLoads;
  if (name == "lgkmcnt")
    return kLDSAccesses | kScalars;
  if (name == "expcnt")
    return 0u;
  return createStringError("expected a known counter, got '" + name + "'");
}

//===- Operations ---------------------------------------------------------------------------===//

/// Vector and scalar instructions of one name compute the same.
static constexpr std::pair<StringLiteral, Operation> operations[] = {
    {"mov_b32", Operation::Move},
    {"readfirstlane_b32", Operation::Move},
    // Accumulators hold what other registers have no room for.
    {"accvgpr_read_b32", Operation::Move},
    {"accvgpr_write_b32", Operation::Move},
    {"accvgpr_mov_b32", Operation::Move},
    {"mov_b64", Operation::MoveWide},
    {"movk_i32", Operation::MoveShort},
    {"add_u32", Operation::Add},
    {"add_i32", Operation::Add},
    {"add_nc_u32", Operation::Add},
    {"add_co_u32", Operation::Add},
    {"add_co_i32", Operation::Add},
    {"addk_i32", Operation::AddShort},
    {"addk_co_i32", Operation::AddShort},
    {"add3_u32", Operation::Add3},
    {"mul_u32_u24", Operation::Multiply},
    {"mul_i32", Operation::Multiply},
    {"mul_lo_u32", Operation::Multiply},
    {"mulk_i32", Operation::MultiplyShort},
    {"mad_u32_u24", Operation::MultiplyAdd},
    {"and_b32", Operation::And},
    {"and_b64", Operation::AndWide},
    {"andn2_b32", Operation::AndNot},
    {"andn2_b64", Operation::AndNotWide},
    {"and_not1_b64", Operation::AndNotWide},
    {"and_not1_b32", Operation::AndNot},
    {"and_or_b32", Operation::AndOr},
    {"or_b32", Operation::Or},
    {"or_b64", Operation::OrWide},
    {"or3_b32", Operation::Or3},
    {"xor_b32", Operation::Xor},
    {"xor3_b32", Operation::Xor3},
    {"xad_u32", Operation::XorAdd},
    {"bitop3_b32", Operation::ByTable},
    {"lshl_b32", Operation::ShiftLeft},
    {"lshlrev_b32", Operation::ShiftLeftReversed},
    {"lshr_b32", Operation::ShiftRight},
    {"lshrrev_b32", Operation::ShiftRightReversed},
    {"lshl_add_u32", Operation::ShiftLeftAdd},
    {"lshl1_add_u32", Operation::ShiftLeft1Add},
    {"lshl2_add_u32", Operation::ShiftLeft2Add},
    {"lshl3_add_u32", Operation::ShiftLeft3Add},
    {"lshl4_add_u32", Operation::ShiftLeft4Add},
    {"lshl_or_b32", Operation::ShiftLeftOr},
    {"add_lshl_u32", Operation::AddShiftLeft},
    {"bitset1_b32", Operation::SetBit},
    {"bitset0_b32", Operation::ClearBit},
    {"bfe_u32", Operation::ExtractBits},
    {"bfi_b32", Operation::InsertBits},
    {"cndmask_b32", Operation::Either},
    {"cselect_b32", Operation::Select},
    {"cselect_b64", Operation::Select},
    {"min_u32", Operation::Either},
    {"max_u32", Operation::Either},
    {"cmp_eq_u32", Operation::IsEqual},
    {"cmp_lg_u32", Operation::IsUnequal},
    {"cmp_lt_u32", Operation::IsLess},
    {"cmp_le_u32", Operation::IsLessOrEqual},
    {"cmp_gt_u32", Operation::IsGreater},
    {"cmp_ge_u32", Operation::IsGreaterOrEqual},
    {"cmpk_eq_u32", Operation::IsEqual},
    {"cmpk_lg_u32", Operation::IsUnequal},
    {"cmpk_lt_u32", Operation::IsLess},
    {"cmpk_le_u32", Operation::IsLessOrEqual},
    {"cmpk_gt_u32", Operation::IsGreater},
    {"cmpk_ge_u32", Operation::IsGreaterOrEqual},
    {"and_saveexec_b32", Operation::SaveLanes},
    {"and_saveexec_b64", Operation::SaveLanes},
    {"andn2_saveexec_b64", Operation::SaveLanes},
    {"and_not1_saveexec_b32", Operation::SaveLanes},
    {"or_saveexec_b32", Operation::SaveLanes},
    {"or_saveexec_b64", Operation::SaveLanes},
    {"writelane_b32", Operation::WriteLane},
    {"readlane_b32", Operation::ReadLane},
    {"permlane16_b32", Operation::PermuteRows},
    {"permlanex16_b32", Operation::PermuteRows},
    {"permlane16_var_b32", Operation::PermuteRows},
    {"permlanex16_var_b32", Operation::PermuteRows},
    {"permlane64_b32", Operation::PermuteRows},
    {"permlane16_swap_b32", Operation::PermuteRows},
    {"permlane32_swap_b32", Operation::PermuteRows},
};

Operation kiln::amdgcn::getOperation(StringRef mnemonic) {
  if (const Known *known = findKnown(mnemonic))
    return known->operation;
  if (mnemonic == "ds_inc_u32" || mnemonic == "ds_inc_rtn_u32")
    return Operation::CountRound;
  StringRef name = mnemonic;
  if (!name.consume_front("v_dual_") && !name.consume_front("v_") && !name.consume_front("s_"))
    return Operation::None;
  // How the instruction is encoded.
  for (StringRef encoding : {"_e32", "_e64"})
    if (name.consume_back(encoding))
      break;
  auto found = find_if(operations, [&](const auto &each) { return each.first == name; });
  return found == std::end(operations) ? Operation::None : found->second;
}

//===- Memory -------------------------------------------------------------------------------===//

/// What a mnemonic's last words speak of: dwordx4, b128, u16, x2.
std::optional<unsigned> kiln::amdgcn::getMemoryBytes(StringRef mnemonic) {
  SmallVector<StringRef> words;
  mnemonic.split(words, '_');
  for (StringRef word : reverse(words)) {
    unsigned bytes = StringSwitch<unsigned>(word)
                         .Cases({"dwordx4", "b128"}, 16)
                         .Cases({"dwordx3", "b96"}, 12)
                         .Cases({"dwordx2", "b64", "u64", "i64", "f64", "x2"}, 8)
                         .Cases({"dword", "b32", "u32", "i32", "f32"}, 4)
                         .Cases({"short", "ushort", "sshort", "b16", "u16", "i16"}, 2)
                         .Cases({"byte", "ubyte", "sbyte", "b8", "u8", "i8"}, 1)
                         // Atomic accesses, of two halves of a word,
                         .Cases({"f16", "bf16"}, 4)
                         // and of one, where the operation comes last.
                         .Cases({"add", "sub", "swap", "cmpswap", "and", "or", "xor"}, 4)
                         .Cases({"smin", "umin", "smax", "umax", "inc", "dec"}, 4)
                         .Cases({"append", "consume"}, 4)
                         .Default(0);
    if (bytes)
      return bytes;
  }
  return std::nullopt;
}

unsigned kiln::amdgcn::getOffsetStride(StringRef mnemonic) {
  return mnemonic.contains("st64") || mnemonic.contains("stride64") ? 64 : 1;
}
