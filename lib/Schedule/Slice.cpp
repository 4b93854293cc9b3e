// Finds and clones what one role needs of a program.
#include "Slice.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

/// What a role's region takes from outside: the kernel's arguments and its channels.
static bool isCaptured(Value value, KernelOp kernel) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return argument.getOwner() == &kernel.getBody().front();
  return value.getDefiningOp<ChannelOp>() != nullptr;
}

LogicalResult Slice::compute() {
  kernel.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (getRoleName(op) == role.getName() || (isOfEachRole(op) && !isa<AssertOp>(op)))
      needOp(op);
  });
  SmallVector<Operation *> asserts;
  kernel.getBody().walk([&](AssertOp op) {
    if (isOfEachRole(op))
      asserts.push_back(op);
  });
  // An assert of each role runs in the loops and conditions that the role runs for other ops.
  do {
    while (!work.empty() && succeeded(result))
      needValue(work.pop_back_val());
    for (Operation *op : asserts)
      if (op->getParentOp() == kernel || ops.contains(op->getParentOp()))
        needOp(op);
  } while (!work.empty() && succeeded(result));
  return result;
}

void Slice::needOp(Operation *op) {
  if (!ops.insert(op).second)
    return;
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    for (Value bound : {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()})
      need(bound);
  } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    need(loop.getConditionOp().getCondition());
  } else if (auto condition = dyn_cast<scf::IfOp>(op)) {
    need(condition.getCondition());
  } else {
    // All of it is cloned, with what its regions use from around.
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (!op->isAncestor(operand.getParentBlock()->getParentOp()))
          need(operand);
    });
  }
  Operation *parent = op->getParentOp();
  if (parent != kernel)
    needOp(parent);
}

StringRef kiln::findResultMaker(Operation *op) {
  StringRef name = getRoleName(op);
  if (!name.empty() || !isa<ToScalarOp>(op))
    return name;
  llvm::SetVector<StringRef> makers = findMakers(op->getOperand(0));
  return makers.size() == 1 ? makers[0] : StringRef();
}

LogicalResult Slice::cut(Value value, StringRef maker) {
  FailureOr<RoleAttr> other = findRole(value.getDefiningOp(), maker);
  if (failed(other))
    return failure();
  if (value.getType().isIntOrIndexOrFloat()) {
    cuts[value] = *other;
    return success();
  }
  return value.getDefiningOp()->emitOpError("expected a result that role \"")
         << maker << "\" alone uses, since no channel carries it; role \"" << role.getName()
         << "\" uses it too";
}

void Slice::needValue(Value value) {
  if (isCaptured(value, kernel)) {
    captures.insert(value);
    return;
  }
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    Operation *parent = argument.getOwner()->getParentOp();
    unsigned number = argument.getArgNumber();
    if (auto loop = dyn_cast<scf::WhileOp>(parent)) {
      needOp(loop);
      if (argument.getOwner() == loop.getAfterBody())
        return need(loop.getConditionOp().getArgs()[number]);
      need(loop.getInits()[number]);
      return need(loop.getYieldOp().getOperand(number));
    }
    auto loop = dyn_cast<scf::ForOp>(parent);
    if (!loop)
      return;
    needOp(loop);
    if (argument.getArgNumber() > 0)
      need(loop.getResult(argument.getArgNumber() - 1));
    return;
  }
  Operation *op = value.getDefiningOp();
  unsigned index = cast<OpResult>(value).getResultNumber();
  if (Value read = reads.lookup({value, role})) {
    readFor[read] = value;
    return need(read);
  }
  StringRef other = findResultMaker(op);
  if (!other.empty() && other != role.getName()) {
    result = cut(value, other);
    return;
  }
  needOp(op);
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    need(loop.getRegionIterArg(index));
    need(loop.getInitArgs()[index]);
    need(loop.getBody()->getTerminator()->getOperand(index));
  } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    need(loop.getConditionOp().getArgs()[index]);
  } else if (auto condition = dyn_cast<scf::IfOp>(op)) {
    need(condition.thenYield().getOperand(index));
    need(condition.elseYield().getOperand(index));
  }
}

static void cloneYield(Operation *yield, ArrayRef<unsigned> kept, OpBuilder &builder,
                       IRMapping &mapping) {
  SmallVector<Value> operands;
  for (unsigned index : kept)
    operands.push_back(mapping.lookup(yield->getOperand(index)));
  scf::YieldOp::create(builder, yield->getLoc(), operands);
}

void Slice::cloneLoop(scf::ForOp loop, OpBuilder &builder, IRMapping &mapping) const {
  SmallVector<unsigned> kept;
  SmallVector<Value> inits;
  for (unsigned i = 0; i < loop.getNumResults(); ++i)
    if (has(loop.getResult(i))) {
      kept.push_back(i);
      inits.push_back(mapping.lookup(loop.getInitArgs()[i]));
    }
  auto made =
      scf::ForOp::create(builder, loop.getLoc(), mapping.lookup(loop.getLowerBound()),
                         mapping.lookup(loop.getUpperBound()), mapping.lookup(loop.getStep()),
                         inits, nullptr, loop.getUnsignedCmp());
  if (getRoleName(loop) == role.getName())
    copyPlace(loop, made);
  if (loop->hasAttr(kProgramsAttrName))
    made->setAttr(kProgramsAttrName, builder.getUnitAttr());
  if (Attribute trips = loop->getAttr(kLeastTripsAttrName))
    made->setAttr(kLeastTripsAttrName, trips);
  if (Block *body = made.getBody(); !body->empty())
    body->back().erase();
  mapping.map(loop.getInductionVar(), made.getInductionVar());
  for (auto [at, index] : llvm::enumerate(kept)) {
    mapping.map(loop.getRegionIterArg(index), made.getRegionIterArg(at));
    mapping.map(loop.getResult(index), made.getResult(at));
  }
  OpBuilder inner = OpBuilder::atBlockEnd(made.getBody());
  clone(*loop.getBody(), inner, mapping);
  cloneYield(loop.getBody()->getTerminator(), kept, inner, mapping);
}

void Slice::cloneWhile(scf::WhileOp loop, OpBuilder &builder, IRMapping &mapping) const {
  SmallVector<unsigned> carried, passed;
  SmallVector<Value> inits;
  SmallVector<Type> types;
  for (unsigned i = 0; i < loop.getInits().size(); ++i)
    if (has(loop.getBeforeArguments()[i])) {
      carried.push_back(i);
      inits.push_back(mapping.lookup(loop.getInits()[i]));
    }
  for (unsigned i = 0; i < loop.getNumResults(); ++i)
    if (has(loop.getResult(i)) || has(loop.getAfterArguments()[i])) {
      passed.push_back(i);
      types.push_back(loop.getResult(i).getType());
    }
  auto made = scf::WhileOp::create(builder, loop.getLoc(), types, inits);
  if (getRoleName(loop) == role.getName())
    copyPlace(loop, made);
  Block &before = made.getBefore().emplaceBlock(), &after = made.getAfter().emplaceBlock();
  for (auto [at, index] : llvm::enumerate(carried))
    mapping.map(loop.getBeforeArguments()[index],
                before.addArgument(inits[at].getType(), inits[at].getLoc()));
  for (auto [at, index] : llvm::enumerate(passed)) {
    mapping.map(loop.getAfterArguments()[index], after.addArgument(types[at], loop.getLoc()));
    mapping.map(loop.getResult(index), made.getResult(at));
  }
  OpBuilder inner = OpBuilder::atBlockEnd(&before);
  clone(*loop.getBeforeBody(), inner, mapping);
  scf::ConditionOp condition = loop.getConditionOp();
  SmallVector<Value> values;
  for (unsigned index : passed)
    values.push_back(mapping.lookup(condition.getArgs()[index]));
  scf::ConditionOp::create(inner, condition.getLoc(), mapping.lookup(condition.getCondition()),
                           values);
  inner = OpBuilder::atBlockEnd(&after);
  clone(*loop.getAfterBody(), inner, mapping);
  cloneYield(loop.getYieldOp(), carried, inner, mapping);
}

void Slice::cloneIf(scf::IfOp condition, OpBuilder &builder, IRMapping &mapping) const {
  SmallVector<unsigned> kept;
  SmallVector<Type> types;
  for (unsigned i = 0; i < condition.getNumResults(); ++i)
    if (has(condition.getResult(i))) {
      kept.push_back(i);
      types.push_back(condition.getResult(i).getType());
    }
  bool needsElse = !kept.empty();
  for (Block &block : condition.getElseRegion())
    needsElse |= llvm::any_of(block, [&](Operation &op) { return has(&op); });
  auto made = scf::IfOp::create(builder, condition.getLoc(), types,
                                mapping.lookup(condition.getCondition()), needsElse);
  if (getRoleName(condition) == role.getName())
    copyPlace(condition, made);
  if (condition->hasAttr(kSplitLoopAttrName))
    made->setAttr(kSplitLoopAttrName, builder.getUnitAttr());
  for (auto [at, index] : llvm::enumerate(kept))
    mapping.map(condition.getResult(index), made.getResult(at));
  for (auto [from, to] : llvm::zip_equal(condition->getRegions(), made->getRegions())) {
    if (to.empty())
      continue;
    Block &block = to.front();
    if (!block.empty())
      block.back().erase();
    OpBuilder inner = OpBuilder::atBlockEnd(&block);
    clone(from.front(), inner, mapping);
    cloneYield(from.front().getTerminator(), kept, inner, mapping);
  }
}

void Slice::clone(Block &from, OpBuilder &builder, IRMapping &mapping) const {
  for (Operation &op : from) {
    if (!has(&op) || op.hasTrait<OpTrait::IsTerminator>())
      continue;
    if (auto loop = dyn_cast<scf::ForOp>(op))
      cloneLoop(loop, builder, mapping);
    else if (auto loop = dyn_cast<scf::WhileOp>(op))
      cloneWhile(loop, builder, mapping);
    else if (auto condition = dyn_cast<scf::IfOp>(op))
      cloneIf(condition, builder, mapping);
    else
      dropRole(builder.clone(op, mapping));
    for (Value made : op.getResults())
      if (Value number = readFor.lookup(made))
        mapping.map(number, mapping.lookup(made));
  }
}
