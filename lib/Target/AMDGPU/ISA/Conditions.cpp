// What branches and choices of the scalar unit tell of the numbers that they go by.
//
// A comparison gives that unit's condition. LLVM may put it by as a mask of lanes, all on or none,
// and ask for it again: of the lanes that are on, whether any is in the mask.
#include "Ranges.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <set>

using namespace llvm;
using namespace kiln::amdgcn;

/// Whether any lane met a comparison, as far as that is a constant: of the registers for it.
static constexpr char kMetFile = 'm';
static constexpr Registers kMet{'s', 106, 107}, kLanes{'s', 126, 127};
/// Rings have fewer slots than this, and rounds of a loop fewer trips.
static constexpr uint64_t kMostRounds = 64;

static bool isMask(const Operand &operand, const Registers &whole) {
  return operand.registers && operand.registers->first == whole.first &&
         operand.registers->overlaps(whole);
}

static bool isAnd(Operation operation) {
  return operation == Operation::And || operation == Operation::AndWide;
}
static bool isAndNot(Operation operation) {
  return operation == Operation::AndNot || operation == Operation::AndNotWide;
}

//===- What is put by -----------------------------------------------------------------------===//

void Ranges::forgetConditions(const Registers &written) {
  auto isStale = [&](const Comparison &each) { return written.overlaps(each.registers); };
  if (written.overlaps(kMet)) {
    known.erase({kMetFile, 0});
    met.reset();
  }
  if (comparison && isStale(*comparison))
    comparison.reset();
  if (met && isStale(*met))
    met.reset();
  for (auto it = masks.begin(); it != masks.end();)
    it = written.overlaps({'s', it->first, it->first + 1}) || isStale(it->second) ? masks.erase(it)
                                                                                  : std::next(it);
}

bool Ranges::joinConditions(const Ranges &other) {
  bool changed = false;
  auto join = [&](std::optional<Comparison> &into, const std::optional<Comparison> &from) {
    if (!into || into == from)
      return;
    into.reset();
    changed = true;
  };
  join(comparison, other.comparison);
  join(met, other.met);
  for (auto it = masks.begin(); it != masks.end();) {
    auto theirs = other.masks.find(it->first);
    bool isSame = theirs != other.masks.end() && theirs->second == it->second;
    changed |= !isSame;
    it = isSame ? std::next(it) : masks.erase(it);
  }
  return changed;
}

void Ranges::setThreads(unsigned first, unsigned last) {
  known[{'v', 0}] = {first, last, 0, fill(last)};
}

/// Constants of 64 bits, and whether any lane meets one: LLVM asks so only where lanes are on.
void Ranges::applyWide(const Instruction &instruction) {
  ArrayRef<Operand> operands = instruction.operands;
  if (instruction.operation == Operation::MoveWide && operands.size() >= 2 && operands[1].number &&
      operands[0].registers && isInt<7>(*operands[1].number)) {
    Registers low = *operands[0].registers, high = low;
    low.last = low.first, high.first = high.last;
    set(low, getConstant(uint32_t(*operands[1].number)));
    set(high, getConstant(uint32_t(*operands[1].number >> 32)));
  }
  if ((!isAnd(instruction.operation) && !isAndNot(instruction.operation)) || operands.size() < 3 ||
      !isMask(operands[0], kMet) || !isMask(operands[1], kLanes) || !operands[2].registers)
    return;
  const Registers &flag = *operands[2].registers;
  std::optional<bool> all;
  for (unsigned number = flag.first; number <= flag.last; ++number) {
    Range part = get(flag.file, number);
    if (part.low != part.high || (part.low != 0 && part.low != UINT32_MAX) ||
        (all && *all != (part.low != 0)))
      return;
    all = part.low != 0;
  }
  known[{kMetFile, 0}] = getConstant(*all == isAnd(instruction.operation));
}

/// The comparison that an instruction asks for again, of one that was put by.
std::optional<Ranges::Comparison> Ranges::findAsked(const Instruction &instruction) const {
  ArrayRef<Operand> operands = instruction.operands;
  bool turns = isAndNot(instruction.operation);
  if ((!turns && !isAnd(instruction.operation)) || !instruction.isScalar || operands.size() < 3)
    return std::nullopt;
  const Operand *mask = isMask(operands[1], kLanes)             ? &operands[2]
                        : !turns && isMask(operands[2], kLanes) ? &operands[1]
                                                                : nullptr;
  if (!mask || !mask->registers || mask->registers->file != 's')
    return std::nullopt;
  auto found = masks.find(mask->registers->first);
  if (found == masks.end())
    return std::nullopt;
  Comparison asked = found->second;
  asked.isTurned ^= turns;
  return asked;
}

/// What the condition is behind an instruction, and what it puts by of it.
void Ranges::applyComparison(const Instruction &instruction, std::optional<Comparison> asked) {
  ArrayRef<Operand> operands = instruction.operands;
  if (asked && any_of(instruction.writes,
                      [&](const Registers &written) { return written.overlaps(asked->registers); }))
    asked.reset();
  if (asked && isMask(operands[0], kMet))
    met = asked;
  if (instruction.operation == Operation::Select && comparison && operands.size() > 2 &&
      operands[0].registers && operands[0].registers->file == 's' && operands[1].number &&
      operands[2].number) {
    int64_t ifHolds = *operands[1].number, ifNot = *operands[2].number;
    if ((ifHolds == -1 && ifNot == 0) || (ifHolds == 0 && ifNot == -1)) {
      // What is known of it by now stays known, whatever becomes of what was compared.
      for (bool isSo : {true, false})
        if (!getIf(*comparison, isSo))
          setAll(*operands[0].registers, getConstant(uint32_t(isSo ? ifNot : ifHolds)));
      Comparison &put = masks[operands[0].registers->first] = *comparison;
      put.isTurned ^= ifHolds == 0;
    }
  }
  if (!instruction.writesCondition)
    return;
  comparison = asked;
  if (instruction.operation >= Operation::IsEqual &&
      instruction.operation <= Operation::IsGreaterOrEqual && operands.size() == 2 &&
      operands[0].registers && operands[0].registers->first == operands[0].registers->last &&
      operands[1].number)
    comparison = {*operands[0].registers, instruction.operation, uint32_t(*operands[1].number)};
}

//===- What it tells ------------------------------------------------------------------------===//

std::optional<Range> Ranges::getIf(const Comparison &what, bool isSo) const {
  bool holds = isSo != what.isTurned;
  Range range = get(what.registers.file, what.registers.first);
  uint64_t &low = range.low, &high = range.high, number = what.number;
  auto setMost = [&](uint64_t most) { high = std::min(high, most); };
  auto setLeast = [&](uint64_t least) { low = std::max(low, least); };
  auto setBelow = [&](uint64_t bound) { bound ? setMost(bound - 1) : setLeast(UINT64_MAX); };
  switch (what.operation) {
  case Operation::IsEqual:
  case Operation::IsUnequal:
    if (holds == (what.operation == Operation::IsEqual)) {
      setLeast(number), setMost(number);
    } else if (low == number) {
      setLeast(number + 1);
    } else if (high == number) {
      setBelow(number);
    }
    break;
  case Operation::IsLess:
    holds ? setBelow(number) : setLeast(number);
    break;
  case Operation::IsLessOrEqual:
    holds ? setMost(number) : setLeast(number + 1);
    break;
  case Operation::IsGreater:
    holds ? setLeast(number + 1) : setMost(number);
    break;
  case Operation::IsGreaterOrEqual:
    holds ? setLeast(number) : setBelow(number);
    break;
  default:
    break;
  }
  if (low > high)
    return std::nullopt;
  range.ones &= fill(high);
  return range;
}

Range Ranges::select(ArrayRef<Operand> inputs) const {
  std::optional<Range> all;
  for (bool holds : {true, false}) {
    std::optional<Range> compared = getIf(*comparison, holds);
    if (!compared || inputs.size() != 2)
      continue;
    const Operand &input = inputs[holds ? 0 : 1];
    Range own = input.registers == comparison->registers ? *compared : get(input);
    all = !all ? own
               : Range{std::min(all->low, own.low), std::max(all->high, own.high),
                       std::min(all->zeros, own.zeros), all->ones | own.ones};
  }
  return all.value_or(Range());
}

/// What a branch goes by, and whether it is taken if that is so.
std::optional<std::pair<Ranges::Comparison, bool>>
Ranges::findReason(const Instruction &branch) const {
  bool byLanes = branch.operation == Operation::BranchIfNoneMeet ||
                 branch.operation == Operation::BranchIfAnyMeet;
  if (!byLanes && branch.operation != Operation::BranchIf &&
      branch.operation != Operation::BranchIfNot)
    return std::nullopt;
  const std::optional<Comparison> &reason = byLanes ? met : comparison;
  if (!reason)
    return std::nullopt;
  bool ifSo =
      branch.operation == Operation::BranchIf || branch.operation == Operation::BranchIfAnyMeet;
  return std::pair(*reason, ifSo);
}

std::optional<bool> Ranges::isTaken(const Instruction &branch) const {
  bool ifAny = branch.operation == Operation::BranchIfAnyMeet;
  auto found = known.find({kMetFile, 0});
  if (found != known.end() && (ifAny || branch.operation == Operation::BranchIfNoneMeet))
    return (found->second.low != 0) == ifAny;
  if (auto reason = findReason(branch))
    for (bool isSo : {true, false})
      if (!getIf(reason->first, isSo))
        return isSo != reason->second;
  return std::nullopt;
}

void Ranges::refine(const Instruction &branch, bool isTaken) {
  auto reason = findReason(branch);
  if (!reason)
    return;
  const Registers registers = reason->first.registers;
  // If nothing is left no wave comes this way; what was known does not harm.
  if (std::optional<Range> range = getIf(reason->first, isTaken == reason->second))
    known[{registers.file, registers.first}] = *range;
}

std::vector<uint64_t> kiln::amdgcn::findBounds(const KernelCode &kernel) {
  std::set<uint64_t> bounds = {1, 3, 7}; // what counts by its bits alone
  for (const Instruction &instruction : kernel.code)
    if ((instruction.operation == Operation::IsEqual ||
         instruction.operation == Operation::IsUnequal) &&
        instruction.operands.size() == 2)
      if (uint64_t number = instruction.operands[1].number.value_or(0);
          number > 0 && number <= kMostRounds)
        bounds.insert(number - 1);
  return {bounds.begin(), bounds.end()};
}
