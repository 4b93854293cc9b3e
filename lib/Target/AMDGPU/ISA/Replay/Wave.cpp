// Registers, and the scalar unit.
#include "Wave.h"
#include "../DescribeInstruction.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace kiln::amdgcn;

Wave::Wave(const KernelCode &kernel, unsigned number)
    : number(number), lanes(kernel.getWaveSize()), vectors(256), accumulators(256) {
  unsigned generation = getGeneration(kernel.chip);
  if (generation >= 10)
    nothing = generation == 10 ? 125 : 124;
  setMask(kLanes, ~uint64_t(0), 0);
}

//===- Registers ----------------------------------------------------------------------------===//

uint64_t Wave::getMask(const Registers &registers) const {
  uint64_t mask = scalars[registers.first];
  return lanes == 64 ? mask | uint64_t(scalars[registers.first + 1]) << 32 : mask;
}

void Wave::setMask(const Registers &registers, uint64_t mask, Cause cause) {
  setScalar(registers.first, uint32_t(mask), cause);
  if (lanes == 64)
    setScalar(registers.first + 1, uint32_t(mask >> 32), cause);
}

unsigned Wave::getFirstLane() const {
  uint64_t exec = getExec();
  return exec ? llvm::countr_zero(exec) : 0;
}

void Wave::setScalar(unsigned number, uint32_t word, Cause cause) {
  if (number == nothing)
    return;
  scalars[number] = word;
  scalarCauses[number] = cause;
}

uint64_t Wave::getScalar(const Input &input) const {
  if (!input.registers)
    return input.number;
  if (input.registers->file != 's')
    return get(input, getFirstLane());
  uint64_t low = scalars[input.registers->first];
  return input.registers->last > input.registers->first
             ? low | uint64_t(scalars[input.registers->first + 1]) << 32
             : low;
}

uint64_t Wave::get(const Input &input, unsigned lane, unsigned word) const {
  if (!input.registers)
    return uint32_t(input.number >> (32 * word));
  unsigned number = input.registers->first + word;
  if (number > input.registers->last)
    return 0;
  return input.isVector() ? getVector(input.registers->file, number).get(lane) : scalars[number];
}

Cause Wave::getCause(const Input &input) const {
  if (!input.registers)
    return 0;
  for (unsigned number = input.registers->first; number <= input.registers->last; ++number) {
    if (!input.isVector()) {
      if (scalarCauses[number])
        return scalarCauses[number];
      continue;
    }
    const Words &words = getVector(input.registers->file, number);
    if (words.cause && (words.named & getExec()) && (words.namedBits & input.getBits()))
      return words.cause;
  }
  return 0;
}

void Wave::setCause(Words &words, ArrayRef<Input> inputs, Cause own) const {
  words.cause = own;
  words.named = own ? ~uint64_t(0) : 0;
  for (const Input &input : inputs) {
    if (!input.registers)
      continue;
    for (unsigned number = input.registers->first; number <= input.registers->last; ++number) {
      Cause cause = scalarCauses[number];
      uint64_t named = ~uint64_t(0);
      if (input.isVector()) {
        const Words &from = getVector(input.registers->file, number);
        cause = from.namedBits & input.getBits() ? from.cause : 0;
        named = from.named;
      }
      if (!cause || !(named & getExec()))
        continue;
      // What comes of a name that is older is told of that one.
      words.cause = words.named && words.cause != own ? words.cause : cause;
      words.named |= named;
    }
  }
}

Cause Wave::getCause(ArrayRef<Input> inputs) const {
  for (const Input &input : inputs)
    if (Cause cause = getCause(input))
      return cause;
  return 0;
}

void Wave::setVector(const Registers &file, unsigned number, const Words &words, bool inAll) {
  Words &to = file.file == 'a' ? accumulators[number] : vectors[number];
  uint64_t exec = getExec(), all = lanes == 64 ? ~uint64_t(0) : UINT32_MAX;
  if (inAll || exec == all) {
    to = words;
    return;
  }
  if (!exec)
    return;
  uint64_t kept = to.cause ? to.named & ~exec : 0, set = words.cause ? words.named & exec : 0;
  to.namedBits = (set ? words.namedBits : 0) | (kept ? to.namedBits : 0);
  to.cause = set ? words.cause : kept ? to.cause : 0;
  to.named = kept | set;
  if (to.isUniform && words.isUniform && to.lanes[0] == words.lanes[0])
    return;
  if (to.isUniform)
    std::fill(to.lanes.begin() + 1, to.lanes.end(), to.lanes[0]);
  to.isUniform = false;
  for (unsigned lane = 0; lane < lanes; ++lane)
    if (exec >> lane & 1)
      to.lanes[lane] = words.get(lane);
}

void Wave::nameAll(const Registers &registers, uint64_t name, Cause cause) {
  for (unsigned number = registers.first; number <= registers.last; ++number) {
    Words words;
    words.lanes[0] = draw(mix(name, number - registers.first));
    words.cause = cause;
    if (registers.file == 's')
      setScalar(number, words.lanes[0], cause);
    else
      setVector(registers, number, words, /*inAll=*/true);
  }
}

//===- The scalar unit ----------------------------------------------------------------------===//

bool Wave::isTaken(const Step &step) const {
  uint64_t exec = getExec(), met = getMask(kMet);
  switch (step.instruction->operation) {
  case Operation::BranchIfNoLane:
    return !exec;
  case Operation::BranchIfAnyLane:
    return exec;
  case Operation::BranchIfNoneMeet:
    return !met;
  case Operation::BranchIfAnyMeet:
    return met;
  case Operation::BranchIfNot:
    return !condition;
  case Operation::BranchIf:
    return condition;
  default:
    return true;
  }
}

Cause Wave::getCause(const Step &branch) const {
  switch (branch.instruction->operation) {
  case Operation::BranchIfNoLane:
  case Operation::BranchIfAnyLane:
    return scalarCauses[kLanes.first];
  case Operation::BranchIfNoneMeet:
  case Operation::BranchIfAnyMeet:
    return scalarCauses[kMet.first];
  case Operation::BranchIfNot:
  case Operation::BranchIf:
    return conditionCause;
  default:
    return 0;
  }
}

/// Puts by which lanes are on, and turns some off or on.
void Wave::saveLanes(const Step &step) {
  uint64_t exec = getExec();
  const Input &input = step.first.inputs[0];
  uint64_t mask = input.registers ? getMask(*input.registers) : input.number;
  Cause cause = getCause(input);
  Cause before = scalarCauses[kLanes.first];
  uint64_t after = step.first.operation == Operation::SaveLanes     ? exec & mask
                   : step.first.operation == Operation::SaveLanesOr ? exec | mask
                                                                    : mask & ~exec;
  if (step.first.result)
    setMask(*step.first.result, exec, before);
  setMask(kLanes, after, cause ? cause : before);
  condition = getExec() != 0;
  conditionCause = cause ? cause : before;
}

void Wave::computeScalar(const Step &step, const Part &part, Cause own) {
  const Instruction &instruction = *step.instruction;
  Cause cause = getCause(part.inputs);
  bool isRead = part.operation == Operation::Select || part.operation == Operation::MoveIf ||
                part.operation == Operation::AddWithCarry ||
                part.operation == Operation::SubtractWithBorrow;
  if (isRead && !cause)
    cause = conditionCause;
  if (savesLanes(part.operation))
    return saveLanes(step);
  uint64_t in[4] = {};
  for (unsigned i = 0; i < std::min<size_t>(3, part.inputs.size()); ++i) {
    in[i] = getScalar(part.inputs[i]);
    if (!(part.arithmetic.wideInputs >> i & 1))
      in[i] = uint32_t(in[i]);
  }
  in[3] = condition;
  auto set = [&](uint64_t value) {
    if (!part.result)
      return;
    setScalar(part.result->first, uint32_t(value), cause);
    if (part.result->last > part.result->first)
      setScalar(part.result->first + 1, uint32_t(value >> 32), cause);
  };
  auto setCondition = [&](bool holds) {
    if (!instruction.writesCondition)
      return;
    condition = holds;
    conditionCause = cause;
  };
  if (part.operation == Operation::Select) {
    set(getScalar(part.inputs[condition ? 0 : 1]));
    return;
  }
  if (part.operation == Operation::MoveIf) {
    if (condition)
      set(instruction.type.kind == 'i' ? uint32_t(SignExtend64<16>(in[0])) : in[0]);
    return;
  }
  if (instruction.relations && part.inputs.size() > 1) {
    uint64_t a = getScalar(part.inputs[0]), b = getScalar(part.inputs[1]);
    setCondition(compare(*instruction.relations, instruction.type, a, b));
    return;
  }
  if (!part.arithmetic.compute || (part.arithmetic.isOfFloats && cause)) {
    cause = cause ? cause : own;
    uint64_t name = part.name;
    for (const Input &input : part.inputs)
      name = mix(name, getScalar(input));
    if (part.result)
      nameAll(*part.result, name, cause);
    setCondition(draw(name) & 1);
    return;
  }
  uint64_t value = part.arithmetic.compute(in);
  if (part.arithmetic.condition != Arithmetic::Condition::Result || !instruction.writesCondition)
    set(part.arithmetic.isWide ? value : uint32_t(value));
  switch (part.arithmetic.condition) {
  case Arithmetic::Condition::IsNotZero:
    return setCondition(part.arithmetic.isWide ? value != 0 : uint32_t(value) != 0);
  case Arithmetic::Condition::IsFirst:
    return setCondition(uint32_t(value) == in[0]);
  case Arithmetic::Condition::Result:
    return setCondition(value != 0);
  case Arithmetic::Condition::Carries: {
    if (instruction.type.kind != 'i')
      return setCondition(value >> 32);
    // It overflows if the sum has a sign that neither number has.
    uint32_t b = part.operation == Operation::Subtract ? ~uint32_t(in[1]) : uint32_t(in[1]);
    return setCondition((~(uint32_t(in[0]) ^ b) & (uint32_t(in[0]) ^ uint32_t(value))) >> 31);
  }
  }
}
