// To a fixed point over the code: which registers hold a mask with some lane on.
#include "Lanes.h"
#include "llvm/ADT/STLExtras.h"
#include <deque>

using namespace llvm;
using namespace kiln::amdgcn;

static constexpr Registers kLanes{'s', 126, 127};

namespace {
/// The masks that have a lane on, exec or what it was put by in; not reached yet if absent.
using Masks = std::optional<SmallVector<Registers, 4>>;
} // namespace

static bool isOn(const Masks &masks, const Operand &operand) {
  if (operand.registers)
    return any_of(*masks, [&](const Registers &mask) {
      return mask.file == operand.registers->file && mask.first == operand.registers->first;
    });
  return operand.number.value_or(0) != 0;
}

static bool areLanesOn(const Masks &masks) { return isOn(masks, Operand{kLanes, std::nullopt}); }

static void setLanes(Masks &masks, bool areOn) {
  erase_if(*masks, [](const Registers &mask) { return mask.overlaps(kLanes); });
  if (areOn)
    masks->push_back(kLanes);
}

static void apply(Masks &masks, const Instruction &instruction) {
  ArrayRef<Operand> operands = instruction.operands;
  bool staysOn = false;
  switch (instruction.operation) {
  case Operation::SaveLanes:
  case Operation::SaveLanesAndNot:
  case Operation::SaveLanesOr:
    staysOn = areLanesOn(masks);
    break;
  case Operation::Move:
  case Operation::MoveWide:
    staysOn = instruction.isScalar && operands.size() > 1 && isOn(masks, operands[1]);
    break;
  case Operation::Or:
  case Operation::OrWide:
    staysOn = instruction.isScalar && operands.size() > 2 &&
              (isOn(masks, operands[1]) || isOn(masks, operands[2]));
    break;
  default:
    break;
  }
  for (const Registers &written : instruction.writes)
    erase_if(*masks, [&](const Registers &mask) { return mask.overlaps(written); });
  if (staysOn && operands[0].registers)
    masks->push_back(*operands[0].registers);
}

/// Whether it changed.
static bool join(Masks &into, const Masks &from) {
  if (!into) {
    into = from;
    return true;
  }
  size_t count = into->size();
  erase_if(*into, [&](const Registers &mask) { return !is_contained(*from, mask); });
  return into->size() != count;
}

void kiln::amdgcn::followLanes(std::vector<Instruction> &code) {
  if (code.empty())
    return;
  std::vector<Masks> before(code.size());
  before[0].emplace();
  setLanes(before[0], true);
  std::deque<unsigned> work{0};
  auto arrive = [&](unsigned at, const Masks &masks) {
    if (at < code.size() && join(before[at], masks))
      work.push_back(at);
  };
  while (!work.empty()) {
    unsigned at = work.front();
    work.pop_front();
    const Instruction &instruction = code[at];
    Masks taken = before[at];
    apply(taken, instruction);
    Masks passed = taken;
    bool ifNone = instruction.operation == Operation::BranchIfNoLane;
    bool ifAny = instruction.operation == Operation::BranchIfAnyLane;
    bool areOn = areLanesOn(taken);
    if (ifNone || ifAny) {
      setLanes(taken, ifAny);
      setLanes(passed, ifNone);
    }
    if (instruction.target && !(ifNone && areOn))
      arrive(*instruction.target, taken);
    if (instruction.fallsThrough && !(ifAny && areOn))
      arrive(at + 1, passed);
  }
  for (auto [at, instruction] : enumerate(code)) {
    if (!before[at] || !areLanesOn(before[at]))
      continue;
    if (instruction.operation == Operation::BranchIfAnyLane)
      instruction.fallsThrough = false;
    else if (instruction.operation == Operation::BranchIfNoLane)
      instruction.target.reset();
  }
}
