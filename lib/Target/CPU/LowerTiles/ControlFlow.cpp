// Loops and branches: scalars stay values, tensors live in the buffers that were decided for them.
#include "Program.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::cpu;

static bool isTensor(Value value) { return isa<RankedTensorType>(value.getType()); }

/// Two buffers of the same place need no copy.
static bool sameBuffer(Value value, int64_t target) {
  return !isInline(value) && bufferOf(value) == target;
}

void Program::lowerYields(Operation *yield, ArrayRef<int64_t> targets,
                          SmallVectorImpl<Value> &scalarYields) {
  Location loc = yield->getLoc();
  auto operands = yield->getOperands().take_back(targets.size());
  auto array = [&](unsigned k, int64_t number) {
    auto type = cast<RankedTensorType>(operands[k].getType());
    return buffer(number, type.getShape(), type.getElementType());
  };
  for (Value value : operands)
    if (!isTensor(value))
      scalarYields.push_back(scalar(value));

  auto loop = dyn_cast<scf::ForOp>(yield->getParentOp());
  if (!loop) { // nothing here reads what it overwrites
    for (auto [k, value] : llvm::enumerate(operands))
      if (isTensor(value) && !sameBuffer(value, targets[k]))
        materialize(loc, value, array(k, targets[k]));
    return;
  }
  ArrayRef<int64_t> temps = numbersOf(yield, kTempsAttr);
  YieldPlan plan = planYields(loop, temps);
  for (unsigned k : plan.temps)
    materialize(loc, operands[k], array(k, temps[k]));
  for (unsigned k : plan.direct)
    materialize(loc, operands[k], array(k, targets[k]));
  for (unsigned k : plan.temps) {
    Array from = array(k, temps[k]), to = array(k, targets[k]);
    ArrayRef<int64_t> shape = cast<RankedTensorType>(operands[k].getType()).getShape();
    int lane = -1;
    for (auto [dim, extent] : llvm::enumerate(shape))
      if (extent > 1)
        lane = dim;
    Nest nest(*this, loc);
    nest.forEach(shape, lane, [&](Point point) { nest.store(nest.load(from, point), to, point); });
  }
}

/// The scalars among values, mapped.
static SmallVector<Value> scalarsOf(Program &program, ValueRange values) {
  SmallVector<Value> kept;
  for (Value value : values)
    if (!isTensor(value))
      kept.push_back(program.scalar(value));
  return kept;
}

static void mapScalars(Program &program, ValueRange old, ValueRange made) {
  unsigned next = 0;
  for (Value value : old)
    if (!isTensor(value))
      program.scalars.map(value, made[next++]);
}

LogicalResult Program::lowerFor(scf::ForOp loop) {
  Location loc = loop.getLoc();
  auto buffers = numbersOf(loop, kBuffersAttr);
  for (auto [init, target] : llvm::zip_equal(loop.getInitArgs(), buffers))
    if (isTensor(init) && !sameBuffer(init, target)) {
      auto type = cast<RankedTensorType>(init.getType());
      materialize(loc, init, buffer(target, type.getShape(), type.getElementType()));
    }
  auto made = scf::ForOp::create(
      builder, loc, scalar(loop.getLowerBound()), scalar(loop.getUpperBound()),
      scalar(loop.getStep()), scalarsOf(*this, loop.getInitArgs()), nullptr, loop.getUnsignedCmp());
  if (made.getNumRegionIterArgs() == 0)
    made.getBody()->clear();
  scalars.map(loop.getInductionVar(), made.getInductionVar());
  mapScalars(*this, loop.getRegionIterArgs(), made.getRegionIterArgs());
  builder.setInsertionPointToStart(made.getBody());
  if (failed(lowerBlock(*loop.getBody())))
    return failure();
  SmallVector<Value> yields;
  lowerYields(loop.getBody()->getTerminator(), buffers, yields);
  scf::YieldOp::create(builder, loc, yields);
  builder.setInsertionPointAfter(made);
  mapScalars(*this, loop.getResults(), made.getResults());
  return success();
}

LogicalResult Program::lowerWhile(scf::WhileOp loop) {
  Location loc = loop.getLoc();
  auto before = numbersOf(loop, kBeforeBuffersAttr);
  auto after = numbersOf(loop, kBuffersAttr);
  for (auto [init, target] : llvm::zip_equal(loop.getInits(), before))
    if (isTensor(init)) {
      auto type = cast<RankedTensorType>(init.getType());
      materialize(loc, init, buffer(target, type.getShape(), type.getElementType()));
    }
  SmallVector<Type> types;
  for (Type type : loop.getResultTypes())
    if (!isa<RankedTensorType>(type))
      types.push_back(type);
  SmallVector<Value> inits = scalarsOf(*this, loop.getInits());
  auto made = scf::WhileOp::create(builder, loc, types, inits);
  auto makeBlock = [&](Region &region, TypeRange types) {
    SmallVector<Location> locs(types.size(), loc);
    return builder.createBlock(&region, {}, types, locs);
  };
  Block *first = makeBlock(made.getBefore(), ValueRange(inits).getTypes());
  mapScalars(*this, loop.getBeforeArguments(), first->getArguments());
  if (failed(lowerBlock(*loop.getBeforeBody())))
    return failure();
  auto condition = loop.getConditionOp();
  SmallVector<Value> passed;
  lowerYields(condition, after, passed);
  scf::ConditionOp::create(builder, loc, scalar(condition.getCondition()), passed);

  Block *second = makeBlock(made.getAfter(), types);
  mapScalars(*this, loop.getAfterArguments(), second->getArguments());
  if (failed(lowerBlock(*loop.getAfterBody())))
    return failure();
  SmallVector<Value> yields;
  lowerYields(loop.getYieldOp(), before, yields);
  scf::YieldOp::create(builder, loc, yields);
  builder.setInsertionPointAfter(made);
  mapScalars(*this, loop.getResults(), made.getResults());
  return success();
}

LogicalResult Program::lowerBranches(Operation *op) {
  Location loc = op->getLoc();
  auto buffers = numbersOf(op, kBuffersAttr);
  SmallVector<Type> types;
  for (Type type : op->getResultTypes())
    if (!isa<RankedTensorType>(type))
      types.push_back(type);
  OperationState state(loc, op->getName(), scalarRange(op->getOperands()), types);
  for (NamedAttribute attribute : op->getAttrs())
    if (attribute.getName() != kBuffersAttr)
      state.addAttribute(attribute.getName(), attribute.getValue());
  for (unsigned i = 0; i < op->getNumRegions(); ++i)
    state.addRegion();
  Operation *made = builder.create(state);
  for (auto [from, to] : llvm::zip_equal(op->getRegions(), made->getRegions())) {
    if (from.empty())
      continue;
    builder.createBlock(&to);
    if (failed(lowerBlock(from.front())))
      return failure();
    SmallVector<Value> yields;
    lowerYields(from.front().getTerminator(), buffers, yields);
    scf::YieldOp::create(builder, loc, yields);
  }
  builder.setInsertionPointAfter(made);
  mapScalars(*this, op->getResults(), made->getResults());
  return success();
}
