// Who uses a tile that is loaded into a ring, and when.
#include "Rings.h"
#include "Trip.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

/// What a loop makes of what a trip hands on to the next, or asks whether there is one by.
static SmallVector<Value> follow(OpOperand &use) {
  unsigned place = use.getOperandNumber();
  Operation *parent = use.getOwner()->getParentOp();
  if (auto loop = dyn_cast<scf::ForOp>(parent); loop && isa<scf::YieldOp>(use.getOwner()))
    return {loop.getRegionIterArg(place), loop.getResult(place)};
  auto loop = dyn_cast<scf::WhileOp>(parent);
  if (loop && isa<scf::YieldOp>(use.getOwner()))
    return {loop.getBeforeArguments()[place]};
  if (loop && isa<scf::ConditionOp>(use.getOwner()) && place > 0)
    return {loop.getAfterArguments()[place - 1], loop.getResult(place - 1)};
  return {};
}

SmallVector<Operation *> kiln::findTileReaders(OpOperand &use) {
  SmallVector<Operation *> readers;
  SmallVector<OpOperand *> uses = {&use};
  DenseSet<OpOperand *> seen;
  while (!uses.empty()) {
    OpOperand *next = uses.pop_back_val();
    Operation *user = next->getOwner();
    if (!seen.insert(next).second)
      continue;
    SmallVector<Value> values = follow(*next);
    bool isHandedOn = next != &use || isa<ConvertLayoutOp>(user);
    if (values.empty() && isHandedOn && getRoleName(user).empty())
      llvm::append_range(values, user->getResults());
    for (Value value : values)
      for (OpOperand &later : value.getUses())
        uses.push_back(&later);
    auto condition = dyn_cast<scf::IfOp>(user->getParentOp());
    if (values.empty())
      readers.push_back(condition && user->hasTrait<OpTrait::IsTerminator>() ? condition : user);
  }
  return readers;
}

bool kiln::isReadBy(OpOperand &use, RoleAttr role) {
  SmallVector<Operation *> readers = findTileReaders(use);
  return !readers.empty() && getRoleName(readers.front()) == role.getName();
}

bool kiln::isHandedOn(OpOperand &use) { return !follow(use).empty(); }

std::optional<int64_t> kiln::findFirstStage(Operation *op) {
  std::optional<StagedUser> first = findFirstUser(op);
  return first ? std::optional(first->stage + first->later) : std::nullopt;
}

std::optional<StagedUser> kiln::findFirstUser(Operation *op, StringRef role) {
  std::optional<StagedUser> first;
  // Of a value's users so many trips later.
  SmallVector<std::pair<Value, int64_t>> values;
  for (Value result : op->getResults())
    values.push_back({result, 0});
  DenseSet<std::pair<Value, int64_t>> seen;
  while (!values.empty()) {
    auto [value, later] = values.pop_back_val();
    if (later >= kStageLimit || !seen.insert({value, later}).second)
      continue;
    for (OpOperand &use : value.getUses()) {
      Operation *here = op->getBlock()->findAncestorOpInBlock(*use.getOwner());
      if (!here)
        continue;
      if (std::optional<int64_t> stage = findNumber(here, "stage")) {
        bool isOthers = !role.empty() && !getRoleName(here).empty() && getRoleName(here) != role;
        if (!isOthers && (!first || *stage + later < first->stage + first->later))
          first = {here, *stage, later};
      } else {
        for (Value result : here->getResults())
          values.push_back({result, later});
      }
      // What a loop hands on is there a trip later.
      auto loop = dyn_cast<scf::ForOp>(here->getParentOp());
      if (loop && isa<scf::YieldOp>(here))
        values.push_back({loop.getRegionIterArg(use.getOperandNumber()), later + 1});
    }
  }
  return first;
}
