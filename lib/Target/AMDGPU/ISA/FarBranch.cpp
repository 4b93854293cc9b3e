// FarBranch.h: the sequence, one instruction after the other.
#include "FarBranch.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace kiln::amdgcn;

void FarBranch::addLabel(StringRef label) {
  // Whoever comes to another label has come another way.
  state = state == Taken ? Named : None;
  from = label.str();
}

/// "(TO-FROM)", with what takes a half of it behind.
static std::optional<std::pair<StringRef, StringRef>> readDistance(StringRef text, StringRef half) {
  text = text.rsplit(',').second.trim();
  if (!text.consume_back(half) || !text.consume_front("(") || !text.consume_back(")"))
    return std::nullopt;
  return text.split('-');
}

void FarBranch::addPart(const Instruction &instruction, StringRef text) {
  bool isLow = state == Named;
  auto distance = readDistance(text, isLow ? "&4294967295" : ">>32");
  unsigned number = isLow ? registers.first : registers.last;
  const Registers part{'s', number, number};
  bool adds = instruction.operation == (isLow ? Operation::Add : Operation::AddWithCarry) &&
              instruction.operands.size() > 1 && instruction.operands[0].registers == part &&
              instruction.operands[1].registers == part;
  if (!adds || !distance || distance->second != from || (!isLow && distance->first != to)) {
    state = None;
    return;
  }
  to = distance->first.str();
  state = isLow ? HasLow : HasBoth;
}

void FarBranch::add(const Instruction &instruction, StringRef text) {
  if (instruction.operation == Operation::TakeAddress) {
    registers = *instruction.operands.front().registers;
    state = Taken;
    return;
  }
  bool writes = any_of(instruction.writes,
                       [&](const Registers &written) { return written.overlaps(registers); });
  bool changesCarry = state == HasLow && instruction.writesCondition;
  if (state == Taken)
    state = None;
  else if ((writes || changesCarry) && (state == Named || state == HasLow))
    addPart(instruction, text);
  else if (writes)
    state = None;
}

std::optional<std::string> FarBranch::find(const Registers &address) const {
  if (state != HasBoth || !(address == registers))
    return std::nullopt;
  return to;
}
