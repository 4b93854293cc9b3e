// Steps from instructions.
#include "Step.h"
#include "../InstructionTable.h"
#include "../Ranges.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;
using namespace kiln::amdgcn;

static Input makeInput(const Operand &operand) {
  Input input;
  input.registers = operand.registers;
  input.number = uint64_t(operand.number.value_or(0));
  return input;
}

static bool isInput(const Operand &operand) { return !operand.isResult && !operand.isModifier; }

/// How many of the first inputs may change places.
static unsigned countInterchangeable(StringRef name) {
  return any_of(ArrayRef<StringRef>{"add", "mul", "fma", "mad", "mac", "max", "min"},
                [&](StringRef word) { return name.contains(word); })
             ? 2
             : 0;
}

/// A minimum or maximum of two or three is one of the set of them: by which name, or none if it is
/// neither, as what takes the least of one number and the greatest of others.
static std::string getNameOfSet(StringRef name) {
  bool isMinimum = name.contains("min"), isMaximum = name.contains("max");
  if (isMinimum == isMaximum)
    return "";
  size_t three = name.find("3_");
  if (three == StringRef::npos)
    return name.str();
  return (name.take_front(three) + name.drop_front(three + 1)).str();
}

static uint64_t hashName(StringRef name) {
  uint64_t hash = 0;
  for (char letter : name)
    hash = mix(hash, uint8_t(letter));
  return hash;
}

/// Numbers that are negated or taken without their sign first: bits of the modifier that stands in
/// front of each.
static void readModifiers(ArrayRef<Operand> operands, const NumberType &type, Part &part) {
  unsigned input = 0;
  bool isKnown = true;
  for (size_t at = 0; at < operands.size(); ++at) {
    const Operand &operand = operands[at];
    if (isInput(operand)) {
      ++input;
      continue;
    }
    if (!operand.isModifier || operand.isResult || operand.number.value_or(0) == 0)
      continue;
    uint64_t bits = uint64_t(*operand.number);
    bool isOfInput = at + 1 < operands.size() && isInput(operands[at + 1]);
    if (isOfInput && input < part.inputs.size() && bits < 4 && type.kind == 'f') {
      part.inputs[input].isNegated = bits & 1;
      part.inputs[input].isAbsolute = bits & 2;
    } else {
      isKnown = false;
    }
    part.name = mix(part.name, bits + at);
  }
  if (!isKnown)
    part.arithmetic = {};
}

/// Which inputs are taken by their upper half: a bit of the modifier in front of each.
static uint64_t readHalves(const Instruction &instruction) {
  constexpr uint64_t kUpper = 4;
  uint64_t halves = 0;
  unsigned input = 0;
  for (auto [operand, next] : zip(instruction.operands, drop_begin(instruction.operands)))
    if (isInput(next))
      halves |= uint64_t(operand.isModifier && (operand.number.value_or(0) & kUpper)) << input++;
  return halves;
}

/// Which lanes operands come from stands behind all else: in gfx10 and later with whether lanes
/// that are off give anything. What is in front of it is given back.
static ArrayRef<Operand> readPattern(const Instruction &instruction, unsigned generation,
                                     Step &step) {
  ArrayRef<Operand> operands = instruction.operands;
  auto get = [](const Operand &operand) { return uint64_t(operand.number.value_or(0)); };
  size_t count = generation >= 10 ? 5 : 4;
  ArrayRef<Operand> pattern = operands.take_back(count);
  // Of eight lanes by a number each, which Kiln does not use.
  if (pattern.size() < count ||
      !all_of(pattern, [](const Operand &each) { return each.isModifier; }))
    return operands;
  step.pattern = get(pattern[0]);
  step.rows = get(pattern[1]);
  step.banks = get(pattern[2]);
  step.zeroesOthers = get(pattern[3]);
  return operands.drop_back(count);
}

static Part makePart(Operation operation, StringRef mnemonic, ArrayRef<Operand> inputs,
                     const Instruction &instruction, std::optional<Registers> result) {
  Part part;
  part.operation = operation;
  StringRef name = getWords(mnemonic);
  std::string ofSet = getNameOfSet(name);
  part.isOfSet = !ofSet.empty();
  part.name = hashName(part.isOfSet ? StringRef(ofSet) : name);
  part.interchangeable = part.isOfSet ? inputs.size() : countInterchangeable(name);
  part.result = result;
  for (const Operand &operand : inputs)
    part.inputs.push_back(makeInput(operand));
  part.arithmetic = getArithmetic(operation, getNumberType(mnemonic));
  // The scalar unit's has the first bit and how many in one operand.
  if (instruction.isScalar && inputs.size() == 2 &&
      (operation == Operation::ExtractBits || operation == Operation::ExtractBitsSigned))
    part.arithmetic =
        getArithmetic(operation == Operation::ExtractBits ? Operation::ExtractBitsPacked
                                                          : Operation::ExtractBitsSignedPacked,
                      instruction.type);
  if (part.inputs.size() < part.arithmetic.inputs)
    part.arithmetic = {};
  return part;
}

static void readMemory(const Instruction &instruction, Step &step) {
  bool isOfLDS = instruction.kind == Kind::ReadLDS || instruction.kind == Kind::WriteLDS ||
                 instruction.kind == Kind::AtomicLDS || instruction.kind == Kind::PermuteLanes;
  bool isScalar = instruction.kind == Kind::LoadScalar;
  auto isDescriptor = [](const Operand &operand) {
    return operand.registers && operand.registers->file == 's' &&
           operand.registers->getBytes() == 16;
  };
  step.isByDescriptor = any_of(instruction.operands, isDescriptor);
  SmallVector<Input> all, vectors;
  for (const Operand &operand : instruction.operands) {
    if (operand.isModifier || operand.isResult || operand.isTied)
      continue;
    Input input = makeInput(operand);
    (input.isVector() && !isOfLDS ? vectors : all).push_back(input);
  }
  bool stores = instruction.kind == Kind::StoreGlobal || instruction.kind == Kind::AtomicGlobal;
  if (isOfLDS) {
    // The address comes first.
    for (auto [at, input] : enumerate(all)) {
      if (at == 0)
        step.address.push_back(input);
      else
        step.data.push_back(input);
    }
  } else {
    // Of buffers the data come first, elsewhere the address; of those with a tied result it is
    // that.
    bool isTied = any_of(instruction.operands, [](const Operand &each) { return each.isTied; });
    for (auto [at, input] : enumerate(vectors)) {
      bool isFirst = step.isByDescriptor || instruction.isScratch;
      bool isData = stores && (isFirst ? at == 0 && !isTied : at == 1);
      // Where the address is a scalar register's.
      if (stores && !step.isByDescriptor && vectors.size() == 1)
        isData = true;
      if (isData)
        step.data.push_back(input);
      else
        step.address.push_back(input);
    }
    if (isTied && stores)
      for (const Operand &operand : instruction.operands)
        if (operand.isTied)
          step.data.push_back(makeInput(operand));
    step.address.append(all.begin(), all.end());
  }
  // Scalar loads count a constant offset among their numbers.
  if (!isScalar && !instruction.offsets.empty())
    step.offset = instruction.offsets.front();
  if (isScalar)
    for (const Operand &operand : instruction.operands)
      if (operand.isModifier && operand.number) {
        step.offset = *operand.number;
        break;
      }
}

Step kiln::amdgcn::makeStep(const Instruction &instruction, unsigned generation) {
  Step step;
  step.instruction = &instruction;
  if (instruction.kind != Kind::Other && instruction.kind != Kind::Matrix &&
      instruction.kind != Kind::Branch) {
    readMemory(instruction, step);
    return step;
  }
  SmallVector<std::optional<Registers>> results;
  for (const Operand &operand : instruction.operands)
    if (operand.isResult)
      results.push_back(operand.registers);
  std::optional<Registers> result = results.empty() ? std::nullopt : results.front();
  if (instruction.isDual) {
    auto [first, second] = getDualInputs(instruction);
    step.first = makePart(instruction.operation, instruction.mnemonic, first, instruction, result);
    step.second = makePart(instruction.secondOperation, instruction.secondMnemonic, second,
                           instruction, results.size() > 1 ? results[1] : std::nullopt);
    return step;
  }
  SmallVector<Operand> inputs = getInputs(instruction);
  // Short comparisons have a number of 16 bits inside them.
  if (instruction.isScalar && instruction.relations) {
    inputs.assign(instruction.operands.begin(), instruction.operands.end());
    for (Operand &operand : inputs)
      if (operand.isModifier && instruction.type.kind == 'i')
        operand.number = SignExtend64<16>(uint64_t(operand.number.value_or(0)));
  }
  Operation operation = instruction.operation == Operation::None
                            ? getNarrowOperation(instruction.mnemonic)
                            : instruction.operation;
  step.first = makePart(operation, instruction.mnemonic, inputs, instruction, result);
  if (operation == Operation::ByTable && !takesParts(instruction)) {
    step.table = uint64_t(instruction.operands.back().number.value_or(0));
    return step;
  }
  if (permutesRows(operation)) {
    step.table = readHalves(instruction);
    if (results.size() > 1 && results[1])
      step.secondResult = *results[1];
    return step;
  }
  if (operation == Operation::MovePair) {
    step.table = readHalves(instruction);
    return step;
  }
  if (instruction.isScalar)
    return step;
  // Masks are scalar registers: the carry, what was compared.
  for (const Registers &written : instruction.writes)
    if (written.file == 's' && instruction.kind == Kind::Other &&
        (!result || !(written == *result) || instruction.relations))
      step.masks.push_back(written);
  // What stays where no lane gives anything is not computed with.
  auto first = find_if(instruction.operands, isInput);
  if (instruction.permutesLanes && first != instruction.operands.end() && first->isTied &&
      !step.first.inputs.empty())
    step.first.inputs.erase(step.first.inputs.begin());
  step.mask.registers = kMet;
  bool takesMask = operation == Operation::SelectLanes || operation == Operation::AddWithCarry ||
                   operation == Operation::SubtractWithBorrow ||
                   operation == Operation::SubtractWithBorrowReversed;
  if (takesMask && step.first.inputs.size() > 2)
    step.mask = step.first.inputs.pop_back_val();
  ArrayRef<Operand> own = instruction.operands;
  if (instruction.permutesLanes)
    own = readPattern(instruction, generation, step);
  if (!takesParts(instruction))
    readModifiers(own, instruction.type, step.first);
  if (takesParts(instruction))
    readParts(instruction, generation, step.first);
  return step;
}
