// Instructions that compute with parts of registers: bytes and halves that modifiers select (SDWA),
// halves that registers are named by, and numbers of 16 bits.
#include "../InstructionTable.h"
#include "Step.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace kiln::amdgcn;

static bool isHalf(const Operand &operand) { return operand.isLowerHalf || operand.isUpperHalf; }

static bool isNarrow(const Instruction &instruction) {
  return getNarrowOperation(instruction.mnemonic) != Operation::None ||
         (instruction.relations && instruction.type.bits == 16);
}

bool kiln::amdgcn::takesParts(const Instruction &instruction) {
  return !instruction.isScalar && !instruction.isDual &&
         (instruction.isSubDword || isNarrow(instruction) || any_of(instruction.operands, isHalf));
}

namespace {
/// The bits that a number of SDWA selects.
struct Selection {
  unsigned shift = 0, bits = 32;
};
} // namespace

static Selection getSelection(uint64_t number) {
  constexpr unsigned kWords = 4;
  if (number < kWords)
    return {unsigned(8 * number), 8};
  if (number < kWords + 2)
    return {unsigned(16 * (number - kWords)), 16};
  return {};
}

/// Behind the inputs stand what is selected of the result and what becomes of the rest of it, but
/// for comparisons, then what is selected of each input.
static bool readSelections(const Instruction &instruction, Part &part) {
  constexpr uint64_t kExtends = 16;
  enum { Zeroed, Extended, Kept };
  SmallVector<uint64_t> inFront, behind;
  for (const Operand &operand : instruction.operands) {
    if (operand.isModifier) {
      behind.push_back(uint64_t(operand.number.value_or(0)));
    } else if (!operand.isResult && !operand.isTied) {
      inFront.push_back(behind.empty() ? 0 : behind.back());
      behind.clear();
    }
  }
  size_t inputs = std::min<size_t>(inFront.size(), 2), own = instruction.relations ? 0 : 2;
  if (behind.size() < inputs + own || part.inputs.size() < inputs)
    return false;
  ArrayRef<uint64_t> selected = ArrayRef<uint64_t>(behind).take_back(inputs + own);
  // Numbers that are clamped.
  if (any_of(ArrayRef<uint64_t>(behind).drop_back(inputs + own), [](uint64_t bit) { return bit; }))
    return false;
  if (own) {
    Selection result = getSelection(selected[0]);
    part.shift = result.shift;
    part.bits = result.bits;
    part.keepsOthers = selected[1] == Kept && result.bits < 32;
    if (selected[1] == Extended && result.bits < 32)
      return false;
  }
  for (size_t at = 0; at < inputs; ++at) {
    Selection input = getSelection(selected[own + at]);
    part.inputs[at].shift = input.shift;
    part.inputs[at].bits = input.bits;
    part.inputs[at].isSigned = inFront[at] & kExtends;
    if (inFront[at] & ~kExtends)
      return false;
  }
  return true;
}

/// Modifiers in front of operands say which halves are taken and written, too.
static bool readHalves(const Instruction &instruction, unsigned generation, Part &part) {
  constexpr uint64_t kUpper = 4, kUpperResult = 8;
  bool isSigned = instruction.type.kind == 'i';
  bool writesHalf = part.result && instruction.type.bits == 16 && !instruction.relations;
  uint64_t modifiers = 0, halves = 0, behind = 0;
  unsigned input = 0;
  for (const Operand &operand : instruction.operands) {
    if (operand.isResult) {
      if (isHalf(operand)) {
        writesHalf = true;
        part.shift = operand.isUpperHalf ? 16 : 0;
      }
      continue;
    }
    if (operand.isModifier) {
      modifiers = uint64_t(operand.number.value_or(0));
      behind |= modifiers;
      continue;
    }
    if (operand.isTied || input == part.inputs.size())
      continue;
    Input &to = part.inputs[input];
    if (modifiers & ~(kUpper | kUpperResult))
      return false;
    bool isUpper = operand.isUpperHalf || (modifiers & kUpper);
    to.shift = to.registers && isUpper ? 16 : 0;
    to.bits = 16;
    to.isSigned = isSigned;
    halves |= uint64_t(isUpper) << input++;
    if (modifiers & kUpperResult)
      part.shift = 16;
    modifiers = behind = 0;
  }
  if (writesHalf) {
    part.bits = 16;
    part.keepsOthers = generation >= 10;
  }
  // All halves once more, or a number that is clamped.
  return behind == 0 || (behind & (uint64_t(1) << input) - 1) == halves;
}

void kiln::amdgcn::readParts(const Instruction &instruction, unsigned generation, Part &part) {
  part.isKnown = instruction.isSubDword ? readSelections(instruction, part)
                                        : readHalves(instruction, generation, part);
  // A shift is by as many bits as the number has, at most.
  bool isShort = isNarrow(instruction);
  switch (part.operation) {
  case Operation::ShiftLeftReversed:
  case Operation::ShiftRightReversed:
  case Operation::ShiftRightSignedReversed:
    if (isShort) {
      Input &amount = part.inputs[0];
      amount.isSigned = false;
      amount.bits = std::min(amount.bits, 4U);
    }
    break;
  case Operation::ByTable:
    part.isKnown = false;
    break;
  default:
    break;
  }
}
