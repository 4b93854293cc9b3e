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
    {"readfirstlane_b32", Operation::FirstLane},
    // Accumulators hold what other registers have no room for.
    {"accvgpr_read_b32", Operation::Move},
    {"accvgpr_write_b32", Operation::Move},
    {"accvgpr_mov_b32", Operation::Move},
    {"mov_b64", Operation::MoveWide},
    {"pk_mov_b32", Operation::MovePair},
    {"movk_i32", Operation::MoveShort},
    {"cmov_b32", Operation::MoveIf},
    {"cmovk_i32", Operation::MoveIf},
    {"not_b32", Operation::Not},
    {"not_b64", Operation::NotWide},
    {"add_u32", Operation::Add},
    {"add_i32", Operation::Add},
    {"add_nc_u32", Operation::Add},
    {"add_co_u32", Operation::Add},
    {"add_co_i32", Operation::Add},
    {"add_nc_i32", Operation::Add},
    {"addk_i32", Operation::AddShort},
    {"addk_co_i32", Operation::AddShort},
    {"add3_u32", Operation::Add3},
    {"add_u64", Operation::AddWide},
    {"add_nc_u64", Operation::AddWide},
    {"addc_u32", Operation::AddWithCarry},
    {"add_co_ci_u32", Operation::AddWithCarry},
    {"addc_co_u32", Operation::AddWithCarry},
    {"sub_u32", Operation::Subtract},
    {"sub_i32", Operation::Subtract},
    {"sub_nc_u32", Operation::Subtract},
    {"sub_nc_i32", Operation::Subtract},
    {"sub_co_u32", Operation::Subtract},
    {"sub_co_i32", Operation::Subtract},
    {"subrev_u32", Operation::SubtractReversed},
    {"subrev_nc_u32", Operation::SubtractReversed},
    {"subrev_co_u32", Operation::SubtractReversed},
    {"sub_u64", Operation::SubtractWide},
    {"sub_nc_u64", Operation::SubtractWide},
    {"subb_u32", Operation::SubtractWithBorrow},
    {"subb_co_u32", Operation::SubtractWithBorrow},
    {"sub_co_ci_u32", Operation::SubtractWithBorrow},
    {"subbrev_co_u32", Operation::SubtractWithBorrowReversed},
    {"subrev_co_ci_u32", Operation::SubtractWithBorrowReversed},
    {"mul_u32_u24", Operation::Multiply24},
    {"mul_i32", Operation::Multiply},
    {"mul_lo_u32", Operation::Multiply},
    {"mulk_i32", Operation::MultiplyShort},
    {"mul_i32_i24", Operation::MultiplySigned24},
    {"mul_hi_u32", Operation::MultiplyHigh},
    {"mul_hi_i32", Operation::MultiplyHighSigned},
    {"mul_hi_u32_u24", Operation::MultiplyHigh24},
    {"mul_u64", Operation::MultiplyWide},
    {"mad_u32_u24", Operation::MultiplyAdd24},
    {"mad_i32_i24", Operation::MultiplyAddSigned24},
    {"mad_u64_u32", Operation::MultiplyAddWide},
    {"mad_co_u64_u32", Operation::MultiplyAddWide},
    {"mad_nc_u64_u32", Operation::MultiplyAddWide},
    {"mad_i64_i32", Operation::MultiplyAddWideSigned},
    {"mad_co_i64_i32", Operation::MultiplyAddWideSigned},
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
    {"orn2_b32", Operation::OrNot},
    {"or_not1_b32", Operation::OrNot},
    {"orn2_b64", Operation::OrNotWide},
    {"or_not1_b64", Operation::OrNotWide},
    {"nand_b32", Operation::NotAnd},
    {"nand_b64", Operation::NotAndWide},
    {"nor_b32", Operation::NotOr},
    {"nor_b64", Operation::NotOrWide},
    {"xnor_b32", Operation::NotXor},
    {"xnor_b64", Operation::NotXorWide},
    {"xor_b32", Operation::Xor},
    {"xor_b64", Operation::XorWide},
    {"xor3_b32", Operation::Xor3},
    {"xad_u32", Operation::XorAdd},
    {"bitop3_b32", Operation::ByTable},
    {"lshl_b32", Operation::ShiftLeft},
    {"lshlrev_b32", Operation::ShiftLeftReversed},
    {"lshr_b32", Operation::ShiftRight},
    {"lshl_b64", Operation::ShiftLeftWide},
    {"lshlrev_b64", Operation::ShiftLeftWideReversed},
    {"lshrrev_b32", Operation::ShiftRightReversed},
    {"lshr_b64", Operation::ShiftRightWide},
    {"lshrrev_b64", Operation::ShiftRightWideReversed},
    {"ashr_i32", Operation::ShiftRightSigned},
    {"ashrrev_i32", Operation::ShiftRightSignedReversed},
    {"ashr_i64", Operation::ShiftRightSignedWide},
    {"ashrrev_i64", Operation::ShiftRightSignedWideReversed},
    {"alignbit_b32", Operation::ShiftBothRight},
    {"alignbyte_b32", Operation::ShiftBothRightByBytes},
    {"lshl_add_u64", Operation::ShiftLeftAddWide},
    {"lshl_add_u32", Operation::ShiftLeftAdd},
    {"lshl1_add_u32", Operation::ShiftLeft1Add},
    {"lshl2_add_u32", Operation::ShiftLeft2Add},
    {"lshl3_add_u32", Operation::ShiftLeft3Add},
    {"lshl4_add_u32", Operation::ShiftLeft4Add},
    {"lshl_or_b32", Operation::ShiftLeftOr},
    {"add_lshl_u32", Operation::AddShiftLeft},
    {"bitset1_b32", Operation::SetBit},
    {"bitset0_b32", Operation::ClearBit},
    {"bitcmp0_b32", Operation::IsBitClear},
    {"bitcmp1_b32", Operation::IsBitSet},
    {"bfe_u32", Operation::ExtractBits},
    {"bfe_i32", Operation::ExtractBitsSigned},
    {"bfe_u64", Operation::ExtractBitsWide},
    {"bfe_i64", Operation::ExtractBitsSignedWide},
    {"bfi_b32", Operation::InsertBits},
    {"bfm_b32", Operation::MaskBits},
    {"bcnt1_i32_b32", Operation::CountOnes},
    {"bcnt1_i32_b64", Operation::CountOnesWide},
    {"bcnt_u32_b32", Operation::CountOnesAdd},
    {"ff1_i32_b32", Operation::FindFirst},
    {"ctz_i32_b32", Operation::FindFirst},
    {"ffbl_b32", Operation::FindFirst},
    {"ff1_i32_b64", Operation::FindFirstWide},
    {"ctz_i32_b64", Operation::FindFirstWide},
    {"flbit_i32_b32", Operation::FindLast},
    {"clz_i32_u32", Operation::FindLast},
    {"ffbh_u32", Operation::FindLast},
    {"flbit_i32_b64", Operation::FindLastWide},
    {"clz_i32_u64", Operation::FindLastWide},
    {"brev_b32", Operation::ReverseBits},
    {"bfrev_b32", Operation::ReverseBits},
    {"sext_i32_i8", Operation::ExtendByte},
    {"sext_i32_i16", Operation::ExtendShort},
    {"abs_i32", Operation::Absolute},
    {"pack_ll_b32_b16", Operation::PackLow},
    {"pack_lh_b32_b16", Operation::PackLowHigh},
    {"pack_hh_b32_b16", Operation::PackHigh},
    {"perm_b32", Operation::PickBytes},
    {"mbcnt_lo_u32_b32", Operation::CountLanesLow},
    {"mbcnt_hi_u32_b32", Operation::CountLanesHigh},
    {"cndmask_b32", Operation::SelectLanes},
    {"cselect_b32", Operation::Select},
    {"cselect_b64", Operation::Select},
    {"min_u32", Operation::Minimum},
    {"max_u32", Operation::Maximum},
    {"min_i32", Operation::Minimum},
    {"max_i32", Operation::Maximum},
    {"min_f32", Operation::Minimum},
    {"max_f32", Operation::Maximum},
    {"min_num_f32", Operation::Minimum},
    {"max_num_f32", Operation::Maximum},
    {"min3_u32", Operation::Minimum3},
    {"max3_u32", Operation::Maximum3},
    {"min3_i32", Operation::Minimum3},
    {"max3_i32", Operation::Maximum3},
    {"min3_f32", Operation::Minimum3},
    {"max3_f32", Operation::Maximum3},
    {"min3_num_f32", Operation::Minimum3},
    {"max3_num_f32", Operation::Maximum3},
    {"med3_u32", Operation::Median3},
    {"med3_i32", Operation::Median3},
    {"cvt_f32_u32", Operation::FloatFromUnsigned},
    {"cvt_f32_i32", Operation::FloatFromSigned},
    {"cvt_u32_f32", Operation::UnsignedFromFloat},
    {"cvt_i32_f32", Operation::SignedFromFloat},
    {"add_f32", Operation::AddFloats},
    {"sub_f32", Operation::SubtractFloats},
    {"subrev_f32", Operation::SubtractFloatsReversed},
    {"mul_f32", Operation::MultiplyFloats},
    {"fma_f32", Operation::MultiplyAddFloats},
    {"fmac_f32", Operation::MultiplyAddFloats},
    {"mad_f32", Operation::MultiplyAddFloats},
    {"mac_f32", Operation::MultiplyAddFloats},
    {"fmaak_f32", Operation::MultiplyAddFloats},
    {"fmamk_f32", Operation::MultiplyAddFloats},
    {"rcp_f32", Operation::Reciprocal},
    {"rcp_iflag_f32", Operation::Reciprocal},
    {"s_rcp_f32", Operation::Reciprocal},
    {"trunc_f32", Operation::Truncate},
    {"floor_f32", Operation::RoundDown},
    {"ceil_f32", Operation::RoundUp},
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
    {"andn2_saveexec_b64", Operation::SaveLanesAndNot},
    {"and_not1_saveexec_b32", Operation::SaveLanesAndNot},
    {"and_not1_saveexec_b64", Operation::SaveLanesAndNot},
    {"or_saveexec_b32", Operation::SaveLanesOr},
    {"or_saveexec_b64", Operation::SaveLanesOr},
    {"writelane_b32", Operation::WriteLane},
    {"readlane_b32", Operation::ReadLane},
    {"permlane16_b32", Operation::PermuteRow},
    {"permlanex16_b32", Operation::PermuteAcrossRows},
    {"permlane16_var_b32", Operation::PermuteRow},
    {"permlanex16_var_b32", Operation::PermuteAcrossRows},
    {"permlane64_b32", Operation::PermuteHalves},
    {"permlane16_swap_b32", Operation::SwapRows},
    {"permlane32_swap_b32", Operation::SwapHalves},
    {"getpc_b64", Operation::TakeAddress},
};

/// What atomic accesses do: the word behind "ds" or "atomic".
static constexpr std::pair<StringLiteral, Operation> atomics[] = {
    {"inc", Operation::CountRound},
    {"add", Operation::Add},
    {"sub", Operation::Subtract},
    {"and", Operation::And},
    {"or", Operation::Or},
    {"xor", Operation::Xor},
    {"min", Operation::Minimum},
    {"max", Operation::Maximum},
    {"umin", Operation::Minimum},
    {"umax", Operation::Maximum},
    {"smin", Operation::Minimum},
    {"smax", Operation::Maximum},
    {"swap", Operation::Exchange},
    {"wrxchg", Operation::Exchange},
    {"storexchg", Operation::Exchange},
    {"cmpswap", Operation::CompareExchange},
    {"cmpstore", Operation::CompareExchange},
};

/// Without what says how it is encoded.
static StringRef getName(StringRef mnemonic) {
  for (StringRef encoding : {"_dpp", "_sdwa", "_e32", "_e64"})
    mnemonic.consume_back(encoding);
  return mnemonic;
}

StringRef kiln::amdgcn::getWords(StringRef mnemonic) {
  StringRef name = getName(mnemonic);
  for (StringRef unit : {"v_dual_", "v_", "s_"})
    if (name.consume_front(unit))
      break;
  return name;
}

template <size_t size>
static std::optional<Operation> find(const std::pair<StringLiteral, Operation> (&all)[size],
                                     StringRef name) {
  auto found = find_if(all, [&](const auto &each) { return each.first == name; });
  return found == std::end(all) ? std::nullopt : std::optional(found->second);
}

static Operation getAtomicOperation(StringRef mnemonic) {
  auto [memory, words] = mnemonic.split("atomic_");
  if (!mnemonic.contains("atomic_"))
    words = mnemonic.split('_').second;
  // Of floats, and of two words, the number has a name alone.
  NumberType type = getNumberType(mnemonic);
  if (type.kind == 'f' || type.bits == 64 || mnemonic.contains("x2"))
    return Operation::None;
  return find(atomics, words.split('_').first).value_or(Operation::None);
}

Operation kiln::amdgcn::getOperation(StringRef mnemonic) {
  if (const Known *known = findKnown(mnemonic))
    return known->operation;
  if (mnemonic == "ds_bpermute_b32")
    return Operation::ReadFromLane;
  if (mnemonic == "ds_permute_b32")
    return Operation::WriteToLane;
  if (mnemonic.starts_with("ds_") || mnemonic.contains("_atomic_"))
    return getAtomicOperation(mnemonic);
  StringRef words = getWords(mnemonic);
  if (std::optional<Operation> operation = find(operations, words))
    return *operation;
  return getRelations(mnemonic) ? Operation::Compare : Operation::None;
}

Operation kiln::amdgcn::getNarrowOperation(StringRef mnemonic) {
  static constexpr std::pair<StringLiteral, Operation> own[] = {
      {"mad_u16", Operation::MultiplyAdd},
      {"cvt_u32_u16", Operation::Move},
      {"cvt_i32_i16", Operation::ExtendShort},
      {"pack_b32_f16", Operation::PackLow},
  };
  StringRef words = getWords(mnemonic);
  if (std::optional<Operation> operation = ::find(own, words))
    return *operation;
  if (mnemonic.starts_with("s_") || getRelations(mnemonic) || getNumberType(mnemonic).bits != 16 ||
      !words.consume_back("16"))
    return Operation::None;
  return ::find(operations, StringRef((words + "32").str())).value_or(Operation::None);
}

NumberType kiln::amdgcn::getNumberType(StringRef mnemonic) {
  // The first type is that of the result, or of what is compared.
  SmallVector<StringRef> words;
  getName(mnemonic).split(words, '_');
  for (StringRef word : words) {
    NumberType type = StringSwitch<NumberType>(word)
                          .Case("ubyte", {'u', 8})
                          .Case("sbyte", {'i', 8})
                          .Case("ushort", {'u', 16})
                          .Case("sshort", {'i', 16})
                          .Default({});
    if (type.kind)
      return type;
    if (word.consume_front("bf"))
      type.kind = 'f';
    else if (!word.empty() && StringRef("uifb").contains(word.front()))
      type.kind = word.front(), word = word.drop_front();
    if (type.kind && !word.getAsInteger(10, type.bits))
      return type;
  }
  return {};
}

std::optional<unsigned> kiln::amdgcn::getRelations(StringRef mnemonic) {
  StringRef words = getWords(mnemonic);
  if (!words.consume_front("cmp_") && !words.consume_front("cmpx_") &&
      !words.consume_front("cmpk_"))
    return std::nullopt;
  static constexpr std::pair<StringLiteral, unsigned> names[] = {
      {"f", 0},
      {"lt", kLess},
      {"eq", kEqual},
      {"le", kLess | kEqual},
      {"gt", kGreater},
      {"lg", kLess | kGreater},
      {"ne", kLess | kGreater},
      {"ge", kGreater | kEqual},
      {"o", kLess | kEqual | kGreater},
      {"u", kUnordered},
      {"nge", kUnordered | kLess},
      {"nlg", kUnordered | kEqual},
      {"ngt", kUnordered | kLess | kEqual},
      {"nle", kUnordered | kGreater},
      {"neq", kUnordered | kLess | kGreater},
      {"nlt", kUnordered | kGreater | kEqual},
      {"tru", kLess | kEqual | kGreater | kUnordered},
      {"t", kLess | kEqual | kGreater | kUnordered}};
  StringRef relation = words.split('_').first;
  const auto *found = find_if(names, [&](const auto &each) { return each.first == relation; });
  return found == std::end(names) ? std::nullopt : std::optional(found->second);
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
