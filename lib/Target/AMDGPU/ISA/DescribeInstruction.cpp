// Kinds, registers and counts from LLVM's instruction descriptions. What those leave open is read
// off the mnemonic: which counter a wait names, what a barrier does, and how wide memory is.
#include "DescribeInstruction.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;
using namespace kiln::amdgcn;

namespace {
/// The bits of MCInstrDesc::TSFlags that say of what format an instruction is and what counts it.
/// LLVM's own insertion of waits goes by them; their names are in a header that it does not install
/// (SIDefines.h), so they are repeated here, and ParseISATest holds each to an instruction.
enum Flag : uint64_t {
  kSDWA = UINT64_C(1) << 14,
  kDPP = UINT64_C(1) << 15,
  kSMEM = UINT64_C(1) << 19,
  kFlat = UINT64_C(1) << 24,
  kLDS = UINT64_C(1) << 25,
  kCountsVector = UINT64_C(1) << 32,
  kCountsTensor = UINT64_C(1) << 38,
  kCountsAsync = UINT64_C(1) << 41,
  kFlatGlobal = UINT64_C(1) << 51,
  kMFMA = UINT64_C(1) << 54,
  kFlatScratch = UINT64_C(1) << 56,
  kWMMA = UINT64_C(1) << 59,
  kSWMMAC = UINT64_C(1) << 63,
};
} // namespace

//===- Registers ----------------------------------------------------------------------------===//

InstructionDescriber::InstructionDescriber(const MCInstrInfo &instructions,
                                           const MCRegisterInfo &registers, unsigned generation)
    : instructions(instructions), registers(registers), generation(generation) {
  // Those with a number come first, and numbers count from there.
  static constexpr std::pair<char, StringLiteral> files[] = {
      {'v', "VGPR_32"}, {'a', "AGPR_32"}, {'s', "SGPR_32"}, {'s', "SReg_32"}};
  for (auto [file, name] : files)
    for (const MCRegisterClass &all : registers.regclasses()) {
      if (name != registers.getRegClassName(&all))
        continue;
      unsigned first = name == "SReg_32" ? 0 : registers.getEncodingValue(*all.begin());
      for (MCPhysReg reg : all)
        if (unsigned code = registers.getEncodingValue(reg); code != 0 || name != "SReg_32")
          known.try_emplace(reg, Registers{file, code - first, code - first});
    }
  // This one has a name for implicit operands, without a code, and one a generation besides.
  StringRef coded = generation < 11 ? "M0_gfxpre11" : "M0_gfx11plus";
  unsigned code = 0;
  for (unsigned reg : seq<unsigned>(1, registers.getNumRegs()))
    if (coded == registers.getName(reg))
      code = registers.getEncodingValue(reg);
  for (unsigned reg : seq<unsigned>(1, registers.getNumRegs()))
    if (is_contained({StringRef("M0"), coded}, registers.getName(reg)))
      known.insert_or_assign(reg, Registers{'s', code, code});
}

std::optional<Registers> InstructionDescriber::getRegisters(MCRegister reg) const {
  std::optional<Registers> run;
  auto add = [&](MCPhysReg part) {
    auto found = known.find(part);
    if (found == known.end())
      return;
    if (!run)
      run = found->second;
    run->first = std::min(run->first, found->second.first);
    run->last = std::max(run->last, found->second.last);
  };
  for (MCPhysReg part : registers.subregs_inclusive(reg))
    add(part);
  // Half of one.
  if (!run)
    for (MCPhysReg whole : registers.superregs(reg))
      if (!run)
        add(whole);
  return run;
}

/// The result whose register an operand has, or -1. LLVM does not say so of s_bitset0 and
/// s_bitset1: its parser has a zero in place of what the bit is changed in.
int InstructionDescriber::getTied(const MCInst &inst, unsigned at) const {
  if (at == 2 && instructions.getName(inst.getOpcode()).starts_with("S_BITSET"))
    return 0;
  const MCInstrDesc &desc = instructions.get(inst.getOpcode());
  return at < desc.getNumOperands() ? desc.getOperandConstraint(at, MCOI::TIED_TO) : -1;
}

void InstructionDescriber::describeOperands(const MCInst &inst, Instruction &instruction) const {
  const MCInstrDesc &desc = instructions.get(inst.getOpcode());
  // What a load is tied to keeps the half that it does not write, and is not read.
  bool isLoad = desc.mayLoad() && !desc.mayStore();
  for (unsigned at = 0; at < inst.getNumOperands(); ++at) {
    int tiedTo = getTied(inst, at);
    const MCOperand &mc = inst.getOperand(tiedTo != -1 ? tiedTo : at);
    Operand operand;
    if (at < desc.getNumOperands()) {
      operand.isResult = at < desc.getNumDefs();
      operand.isTied = tiedTo != -1;
      operand.isModifier = desc.operands()[at].RegClass < 0;
    }
    if (mc.isImm())
      operand.number = mc.getImm();
    if (mc.isReg() && mc.getReg())
      operand.registers = getRegisters(mc.getReg());
    if (operand.registers && operand.isResult)
      instruction.writes.push_back(*operand.registers);
    else if (operand.registers && !(isLoad && operand.isTied))
      instruction.reads.push_back(*operand.registers);
    instruction.keepsHalf |= isLoad && operand.isTied;
    instruction.operands.push_back(operand);
  }
  for (MCPhysReg reg : desc.implicit_uses())
    if (auto used = getRegisters(reg))
      instruction.reads.push_back(*used);
  for (MCPhysReg reg : desc.implicit_defs())
    if (auto written = getRegisters(reg))
      instruction.writes.push_back(*written);
}

//===- Memory -------------------------------------------------------------------------------===//

/// What a mnemonic's last words speak of: dwordx4, b128, u16, x2. Registers tell it of loads that
/// fill several; not of those that fill part of one or go past them, nor of stores, whose data
/// stand in one place or another. LLVM itself knows how much memory is reached only until it
/// prints.
static unsigned getNamedBytes(StringRef mnemonic) {
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
                         .Default(0);
    if (bytes)
      return bytes;
  }
  // Atomic accesses, of a word or two halves of one.
  return 4;
}

Error InstructionDescriber::describeMemory(const MCInstrDesc &desc,
                                           Instruction &instruction) const {
  StringRef name = instruction.mnemonic;
  bool loads = desc.mayLoad(), stores = desc.mayStore();
  bool hasResult = !instruction.operands.empty() && instruction.operands.front().isResult;
  if (desc.TSFlags & (kCountsTensor | kCountsAsync))
    return createStringError("expected an access that a known counter counts");
  if (desc.TSFlags & kSMEM) {
    // The clock reads no memory and is counted all the same; care for caches has no result.
    if (hasResult)
      instruction.kind = Kind::LoadScalar;
  } else if (desc.TSFlags & kLDS) {
    instruction.kind = loads && stores ? Kind::AtomicLDS
                       : loads         ? Kind::ReadLDS
                       : stores        ? Kind::WriteLDS
                       : hasResult     ? Kind::PermuteLanes
                                       : Kind::Other;
  } else if (desc.TSFlags & kCountsVector) {
    for (MCPhysReg reg : desc.implicit_uses())
      if (StringRef(registers.getName(reg)).starts_with("M0"))
        instruction.address = Operand{getRegisters(reg), std::nullopt};
    bool isFlat = (desc.TSFlags & kFlat) && !(desc.TSFlags & (kFlatGlobal | kFlatScratch));
    instruction.isScratch = desc.TSFlags & kFlatScratch;
    if (isFlat)
      instruction.kind = Kind::Flat;
    else if (loads && stores)
      instruction.kind = instruction.address ? Kind::LoadToLDS : Kind::AtomicGlobal;
    else if (loads || stores)
      instruction.kind = loads ? Kind::LoadGlobal : Kind::StoreGlobal;
    else if (generation >= 12)
      // Care for caches is counted there alone, as what it carries.
      instruction.kind = name.ends_with("_inv") ? Kind::LoadGlobal : Kind::StoreGlobal;
  } else if (name.starts_with("s_sendmsg_rtn") || name.starts_with("s_get_barrier_state")) {
    // Answers come like scalar loads, though nothing in the description says so.
    instruction.kind = Kind::LoadScalar;
  }
  if (instruction.kind == Kind::Other)
    return Error::success();
  if (hasResult)
    instruction.result = instruction.operands.front().registers;
  for (const Operand &operand : instruction.operands) {
    if (operand.isModifier && operand.number)
      instruction.offsets.push_back(unsigned(*operand.number));
    else if ((desc.TSFlags & kLDS) && !operand.isResult && !instruction.address)
      instruction.address = operand;
  }
  // One offset, or two of LDS; what follows says how caches are used, or is the bit of global data
  // share.
  bool isPair = (desc.TSFlags & kLDS) && instruction.offsets.size() == 3;
  instruction.offsets.resize(isPair ? 2 : 1);
  if (!loads && !stores)
    return Error::success();
  if (instruction.result && !stores && instruction.result->getBytes() > 4)
    instruction.bytes = instruction.result->getBytes();
  else
    instruction.bytes = getNamedBytes(name) * (isPair ? 2 : 1);
  return Error::success();
}

//===- Waits --------------------------------------------------------------------------------===//

/// One number of a wait: the counter's lower bits, and where others stand.
static unsigned getBits(unsigned number, unsigned from, unsigned width) {
  return number >> from & ((1u << width) - 1);
}

static Error describeWait(Instruction &wait, unsigned generation) {
  unsigned count = 0;
  for (const Operand &operand : wait.operands)
    count = unsigned(operand.number.value_or(count));
  auto set = [&](ArrayRef<Counter> counters, unsigned count) {
    for (Counter counter : counters)
      wait.waits[unsigned(counter)] = count;
  };
  StringRef name = wait.mnemonic;
  if (name == "s_waitcnt") {
    // All counters in one number; one that has no bit off waits for nothing.
    unsigned loads, lds, ldsWidth = generation < 10 ? 4 : 6;
    if (generation < 11) {
      loads = getBits(count, 0, 4) | (generation < 9 ? 0 : getBits(count, 14, 2) << 4);
      lds = getBits(count, 8, ldsWidth);
    } else {
      loads = getBits(count, 10, 6);
      lds = getBits(count, 4, ldsWidth);
    }
    if (loads != (generation < 9 ? 15 : 63))
      set({Counter::Load}, loads);
    if (lds != (1u << ldsWidth) - 1)
      set({Counter::LDS, Counter::Scalar}, lds);
    return Error::success();
  }
  if (name == "s_waitcnt_vscnt" || name == "s_wait_storecnt")
    set({Counter::Store}, count);
  else if (name == "s_waitcnt_vmcnt" || name == "s_wait_loadcnt")
    set({Counter::Load}, count);
  else if (name == "s_waitcnt_lgkmcnt")
    set({Counter::LDS, Counter::Scalar}, count);
  else if (name == "s_wait_dscnt")
    set({Counter::LDS}, count);
  else if (name == "s_wait_kmcnt")
    set({Counter::Scalar}, count);
  else if (name == "s_wait_loadcnt_dscnt")
    set({Counter::Load}, count >> 8), set({Counter::LDS}, count & 0xff);
  else if (name == "s_wait_storecnt_dscnt")
    set({Counter::Store}, count >> 8), set({Counter::LDS}, count & 0xff);
  else if (name == "s_wait_idle")
    set({Counter::Load, Counter::Store, Counter::LDS, Counter::Scalar}, 0);
  else if (!is_contained({"s_wait_alu", "s_waitcnt_depctr", "s_wait_event", "s_wait_expcnt",
                          "s_waitcnt_expcnt", "s_wait_xcnt", "s_wait_samplecnt", "s_wait_bvhcnt"},
                         name))
    return createStringError("expected a known wait");
  return Error::success();
}

//===- Kinds --------------------------------------------------------------------------------===//

Error InstructionDescriber::describeKind(const MCInst &inst, Instruction &instruction) const {
  const MCInstrDesc &desc = instructions.get(inst.getOpcode());
  instruction.fallsThrough = !desc.isBarrier();
  instruction.permutesLanes = desc.TSFlags & kDPP;
  instruction.isSubDword = desc.TSFlags & kSDWA;
  StringRef name = instruction.mnemonic;
  if (desc.isReturn()) {
    instruction.kind = Kind::End;
  } else if (desc.isCall() || desc.isBranch()) {
    bool toAddress = !inst.getOperand(inst.getNumOperands() - 1).isExpr();
    // Where LLVM's calling convention keeps the address to go back to.
    bool isReturn =
        desc.isBranch() && toAddress && instruction.reads.front() == Registers{'s', 30, 31};
    if (desc.isCall() != toAddress && !isReturn)
      return createStringError("expected no jump to an address");
    instruction.kind = desc.isCall() ? Kind::Call : isReturn ? Kind::Return : Kind::Branch;
  } else if (name.starts_with("s_waitcnt") || name.starts_with("s_wait_")) {
    instruction.kind = Kind::Wait;
    return describeWait(instruction, generation);
  } else if (name.starts_with("s_barrier")) {
    instruction.kind = StringSwitch<Kind>(name)
                           .Case("s_barrier", Kind::Barrier)
                           .StartsWith("s_barrier_signal", Kind::BarrierSignal)
                           .Case("s_barrier_wait", Kind::BarrierWait)
                           .Default(Kind::Other);
  } else if ((desc.TSFlags & (kMFMA | kWMMA | kSWMMAC)) && desc.getNumOperands() > 2) {
    // Moves from and to accumulators are of the same format.
    instruction.kind = Kind::Matrix;
  } else {
    return describeMemory(desc, instruction);
  }
  return Error::success();
}

Expected<Instruction> InstructionDescriber::describe(const MCInst &inst, StringRef text) const {
  Instruction instruction;
  auto [first, second] = text.split("::");
  instruction.mnemonic = first.trim().substr(0, first.trim().find_first_of(" \t")).str();
  instruction.secondMnemonic = second.trim().substr(0, second.trim().find_first_of(" \t")).str();
  describeOperands(inst, instruction);
  if (Error error = describeKind(inst, instruction))
    return error;
  return instruction;
}
