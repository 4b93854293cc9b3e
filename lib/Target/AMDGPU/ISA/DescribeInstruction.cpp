// Kinds, registers and counts from LLVM's instruction descriptions, and from a table what those
// leave open.
#include "DescribeInstruction.h"
#include "InstructionTable.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

using namespace llvm;
using namespace kiln::amdgcn;

//===- Registers ----------------------------------------------------------------------------===//

InstructionDescriber::InstructionDescriber(const MCInstrInfo &instructions,
                                           const MCRegisterInfo &registers,
                                           const MCSubtargetInfo &subtarget, MCInstPrinter &printer,
                                           unsigned generation)
    : instructions(instructions), registers(registers), subtarget(subtarget), printer(printer) {
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
  m0 = {'s', code, code};
  for (unsigned reg : seq<unsigned>(1, registers.getNumRegs()))
    if (StringRef("SCC") == registers.getName(reg))
      condition = reg;
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
int InstructionDescriber::getTied(const MCInst &inst, unsigned at, Operation operation) const {
  if (at == 2 && (operation == Operation::SetBit || operation == Operation::ClearBit))
    return 0;
  const MCInstrDesc &desc = instructions.get(inst.getOpcode());
  return at < desc.getNumOperands() ? desc.getOperandConstraint(at, MCOI::TIED_TO) : -1;
}

void InstructionDescriber::describeOperands(const MCInst &inst, Instruction &instruction) const {
  const MCInstrDesc &desc = instructions.get(inst.getOpcode());
  // What a load is tied to keeps the half that it does not write, and is not read.
  bool isLoad = desc.mayLoad() && !desc.mayStore();
  // LLVM ties nothing where registers of 16 bits have names of their own.
  instruction.keepsHalf = isLoad && StringRef(instruction.mnemonic).contains("_d16");
  for (unsigned at = 0; at < inst.getNumOperands(); ++at) {
    int tiedTo = getTied(inst, at, instruction.operation);
    const MCOperand &mc = inst.getOperand(tiedTo != -1 ? tiedTo : at);
    Operand operand;
    if (at < desc.getNumOperands()) {
      operand.isResult = at < desc.getNumDefs();
      operand.isTied = tiedTo != -1;
      operand.isModifier = desc.operands()[at].RegClass < 0;
    }
    if (mc.isImm())
      operand.number = mc.getImm();
    if (mc.isReg() && mc.getReg()) {
      operand.registers = getRegisters(mc.getReg());
      StringRef name = registers.getName(mc.getReg());
      operand.isLowerHalf = name.ends_with("_LO16");
      operand.isUpperHalf = name.ends_with("_HI16");
    }
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
  for (MCPhysReg reg : desc.implicit_defs()) {
    instruction.writesCondition |= reg == condition;
    if (auto written = getRegisters(reg))
      instruction.writes.push_back(*written);
  }
}

//===- Memory -------------------------------------------------------------------------------===//

bool InstructionDescriber::isM0(MCRegister reg) const {
  auto found = known.find(reg);
  return found != known.end() && found->second == m0;
}

/// Whether an instruction does nothing but what its operands and implicit registers say. LLVM has
/// vector instructions meet other lanes, but scalar ones that do so are barriers; m0 names
/// registers that the instruction does not.
bool InstructionDescriber::computesRegisters(const MCInstrDesc &desc) const {
  bool meets = (desc.TSFlags & kSALU) && desc.isConvergent();
  return (desc.TSFlags & (kSALU | kVALU)) && !(desc.TSFlags & kSOPP) && !meets &&
         !desc.isTerminator() && !desc.mayLoad() && !desc.mayStore() &&
         none_of(desc.implicit_uses(), [&](MCPhysReg reg) { return isM0(reg); });
}

Error InstructionDescriber::describeMemory(const MCInstrDesc &desc,
                                           Instruction &instruction) const {
  bool loads = desc.mayLoad(), stores = desc.mayStore();
  bool hasResult = !instruction.operands.empty() && instruction.operands.front().isResult;
  std::optional<Kind> kind;
  if (desc.TSFlags & (kCountsTensor | kCountsAsync))
    return createStringError("expected an access that a known counter counts");
  if (const Known *known = findKnown(instruction.mnemonic)) {
    if (!known->isRefused)
      kind = known->kind;
  } else if (desc.TSFlags & kSMEM) {
    // The clock reads no memory and is counted all the same.
    if (hasResult)
      kind = Kind::LoadScalar;
  } else if (desc.TSFlags & kLDS) {
    if (loads || stores || hasResult)
      kind = loads && stores ? Kind::AtomicLDS
             : loads         ? Kind::ReadLDS
             : stores        ? Kind::WriteLDS
                             : Kind::PermuteLanes;
  } else if (desc.TSFlags & kCountsVector) {
    for (MCPhysReg reg : desc.implicit_uses())
      if (isM0(reg))
        instruction.address = Operand{getRegisters(reg), std::nullopt};
    bool isFlat = (desc.TSFlags & kFlat) && !(desc.TSFlags & (kFlatGlobal | kFlatScratch));
    instruction.isScratch = desc.TSFlags & kFlatScratch;
    if (isFlat)
      kind = Kind::Flat;
    else if (loads && stores)
      kind = instruction.address ? Kind::LoadToLDS : Kind::AtomicGlobal;
    else if (loads || stores)
      kind = loads ? Kind::LoadGlobal : Kind::StoreGlobal;
  } else if (computesRegisters(desc)) {
    kind = Kind::Other;
  }
  if (!kind)
    return createStringError("expected an instruction whose effect is known");
  instruction.kind = *kind;
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
  // Registers tell it of loads that fill several; not of those that fill part of one or go past
  // them, nor of stores, whose data stand in one place or another.
  unsigned places = isPair ? 2 : 1;
  if (instruction.result && !stores && instruction.result->getBytes() > 4)
    instruction.bytes = instruction.result->getBytes();
  else if (std::optional<unsigned> bytes = getMemoryBytes(instruction.mnemonic))
    instruction.bytes = *bytes * places;
  else
    return createStringError("expected an access whose width is known");
  if (isPair)
    for (unsigned &offset : instruction.offsets)
      offset *= instruction.bytes / places * getOffsetStride(instruction.mnemonic);
  return Error::success();
}

//===- Waits --------------------------------------------------------------------------------===//

Error InstructionDescriber::describeWait(const MCInst &inst, const Known &known,
                                         Instruction &wait) const {
  auto set = [&](Counters counters, unsigned count) {
    for (unsigned counter = 0; counter < kNumCounters; ++counter)
      if (counters >> counter & 1)
        wait.waits[counter] = count;
  };
  if (!known.isPacked) {
    unsigned count = 0;
    for (const Operand &operand : wait.operands)
      count = unsigned(operand.number.value_or(count));
    set(known.counters, known.upperCounters ? count & 0xff : count);
    set(known.upperCounters, count >> 8);
    return Error::success();
  }
  // As "vmcnt(3) lgkmcnt(0)"; it waits for none that is not printed.
  std::string printed;
  raw_string_ostream stream(printed);
  printer.printInst(&inst, /*Address=*/0, /*Annot=*/"", subtarget, stream);
  SmallVector<StringRef> parts;
  StringRef(printed).split(parts, ')');
  for (StringRef part : parts) {
    auto [name, number] = part.rsplit('(');
    unsigned count;
    if (number.getAsInteger(0, count))
      continue;
    Expected<Counters> counters = getCounters(name.substr(name.find_last_of(" \t") + 1));
    if (!counters)
      return counters.takeError();
    set(*counters, count);
  }
  return Error::success();
}

//===- Kinds --------------------------------------------------------------------------------===//

Error InstructionDescriber::describeKind(const MCInst &inst, Instruction &instruction) const {
  const MCInstrDesc &desc = instructions.get(inst.getOpcode());
  instruction.fallsThrough = !desc.isBarrier();
  instruction.permutesLanes = desc.TSFlags & kDPP;
  instruction.isSubDword = desc.TSFlags & kSDWA;
  instruction.isScalar = desc.TSFlags & kSALU;
  if (desc.isReturn()) {
    instruction.kind = Kind::End;
  } else if (desc.isCall() || desc.isBranch()) {
    bool toAddress = !inst.getOperand(inst.getNumOperands() - 1).isExpr();
    // Where LLVM's calling convention keeps the address to go back to.
    bool isReturn =
        desc.isBranch() && toAddress && instruction.reads.front() == Registers{'s', 30, 31};
    // A branch to an address is one to a label if what is in front of it says so (FarBranch.h).
    if (desc.isCall() && !toAddress)
      return createStringError("expected no jump to an address");
    instruction.kind = desc.isCall() ? Kind::Call : isReturn ? Kind::Return : Kind::Branch;
  } else if (const Known *known = findKnown(instruction.mnemonic);
             known && known->kind == Kind::Wait) {
    instruction.kind = Kind::Wait;
    return describeWait(inst, *known, instruction);
  } else if ((desc.TSFlags & (kMFMA | kWMMA | kSWMMAC)) && desc.getNumOperands() > 2) {
    // Moves from and to accumulators are of the same format.
    instruction.kind = Kind::Matrix;
  } else {
    return describeMemory(desc, instruction);
  }
  return Error::success();
}

static StringRef getFirstWord(StringRef text) {
  text = text.trim();
  return text.substr(0, text.find_first_of(" \t"));
}

Expected<Instruction> InstructionDescriber::describe(const MCInst &inst, StringRef text) const {
  Instruction instruction;
  auto [first, second] = text.split("::");
  instruction.mnemonic = getFirstWord(first).str();
  instruction.operation = getOperation(instruction.mnemonic);
  instruction.type = getNumberType(instruction.mnemonic);
  instruction.relations = getRelations(instruction.mnemonic);
  instruction.isOfUpperHalf = StringRef(instruction.mnemonic).contains("d16_hi");
  instruction.isDual = !second.empty();
  instruction.secondMnemonic = getFirstWord(second).str();
  instruction.secondOperation = getOperation(instruction.secondMnemonic);
  describeOperands(inst, instruction);
  if (Error error = describeKind(inst, instruction))
    return error;
  return instruction;
}
