// Which roles a number tells what they do, by following it forwards through what each role computes
// for itself; and which number decides what runs, by following it backwards.
#include "Slice.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

/// What a loop or a condition hands on as its operand or its terminator's, by that one's number.
static void addHandedOn(Operation *op, unsigned number, SmallVector<Value> &values) {
  auto addAll = [&](scf::ForOp loop, unsigned at) {
    values.push_back(loop.getResult(at));
    values.push_back(loop.getRegionIterArg(at));
  };
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    if (number >= loop.getNumControlOperands())
      addAll(loop, number - loop.getNumControlOperands());
  } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    values.push_back(loop.getBeforeArguments()[number]);
  } else if (isa<scf::ConditionOp>(op) && number > 0) {
    auto loop = cast<scf::WhileOp>(op->getParentOp());
    values.push_back(loop.getAfterArguments()[number - 1]);
    values.push_back(loop.getResult(number - 1));
  } else if (isa<scf::YieldOp>(op)) {
    Operation *parent = op->getParentOp();
    if (auto loop = dyn_cast<scf::ForOp>(parent))
      addAll(loop, number);
    else if (auto loop = dyn_cast<scf::WhileOp>(parent))
      values.push_back(loop.getBeforeArguments()[number]);
    else
      values.push_back(parent->getResult(number));
  }
}

/// The op whose body a use decides the runs of: a condition, or a loop by its bounds or condition.
static Operation *getDecided(OpOperand &use) {
  Operation *user = use.getOwner();
  if (isa<scf::IfOp>(user))
    return user;
  if (auto loop = dyn_cast<scf::ForOp>(user))
    return use.getOperandNumber() < loop.getNumControlOperands() ? user : nullptr;
  return isa<scf::ConditionOp>(user) && use.getOperandNumber() == 0 ? user->getParentOp() : nullptr;
}

bool kiln::tellsRole(Value number, RoleAttr role) {
  auto isOfRole = [&](Operation *op) { return getRoleName(op) == role.getName(); };
  SmallVector<Value> values = {number};
  DenseSet<Value> seen;
  while (!values.empty()) {
    Value value = values.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    for (OpOperand &use : value.getUses()) {
      Operation *user = use.getOwner();
      bool isControl =
          isa<scf::ForOp, scf::WhileOp, scf::IfOp, scf::YieldOp, scf::ConditionOp>(user);
      if (Operation *decided = getDecided(use)) {
        auto find = [&](Operation *inner) {
          return isOfRole(inner) ? WalkResult::interrupt() : WalkResult::advance();
        };
        if (decided->walk(find).wasInterrupted())
          return true;
        llvm::append_range(values, decided->getResults());
      } else if (isControl) {
        addHandedOn(user, use.getOperandNumber(), values);
      } else if (isOfRole(user)) {
        return true;
      } else if (getRoleName(user).empty()) {
        llvm::append_range(values, user->getResults());
      }
    }
  }
  return false;
}

/// What decides whether ops in a loop or a condition run, and how often.
static void addDeciding(Operation *op, SmallVector<Value> &values) {
  if (auto loop = dyn_cast<scf::ForOp>(op))
    llvm::append_range(values, loop->getOperands().take_front(loop.getNumControlOperands()));
  else if (auto loop = dyn_cast<scf::WhileOp>(op))
    values.push_back(loop.getConditionOp().getCondition());
  else if (auto condition = dyn_cast<scf::IfOp>(op))
    values.push_back(condition.getCondition());
}

/// What an argument of a loop is in a trip: what the one before hands on.
static void addHandedTo(BlockArgument argument, SmallVector<Value> &values) {
  Operation *op = argument.getOwner()->getParentOp();
  unsigned number = argument.getArgNumber();
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    if (number > 0)
      values.push_back(loop.getBody()->getTerminator()->getOperand(number - 1));
  } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    values.push_back(argument.getOwner() == loop.getAfterBody()
                         ? loop.getConditionOp().getArgs()[number]
                         : loop.getYieldOp().getOperand(number));
  }
}

Operation *kiln::findNumberOfTrip(Operation *op) {
  SmallVector<Value> values;
  Operation *loop = nullptr;
  for (Operation *around = op->getParentOp(); !isa<KernelOp>(around);
       around = around->getParentOp()) {
    addDeciding(around, values);
    if (isa<scf::ForOp, scf::WhileOp>(around))
      loop = around;
  }
  if (!loop)
    return nullptr;
  DenseSet<Value> seen;
  while (!values.empty()) {
    Value value = values.pop_back_val();
    if (!loop->isAncestor(value.getParentBlock()->getParentOp()) || !seen.insert(value).second)
      continue;
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      addHandedTo(argument, values);
      continue;
    }
    Operation *maker = value.getDefiningOp();
    Operation *tensor = isa<ToScalarOp>(maker) ? maker->getOperand(0).getDefiningOp() : nullptr;
    while (isa_and_nonnull<ReshapeOp, ConvertLayoutOp>(tensor))
      tensor = tensor->getOperand(0).getDefiningOp();
    if (tensor && !isa<LoadOp>(tensor) && loop->isAncestor(tensor))
      return maker;
    maker->walk([&](Operation *inner) { llvm::append_range(values, inner->getOperands()); });
  }
  return nullptr;
}
