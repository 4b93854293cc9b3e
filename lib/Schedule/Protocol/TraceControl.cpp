// How a trace goes through a role's loops and conditions, by real numbers for its scalars.
#include "Tracer.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::protocol;
using namespace kiln::tile;

/// A number that was loaded from a place that is known, which all roles find the same.
std::optional<int64_t> Tracer::findLoaded(ToScalarOp scalar) const {
  Operation *op = scalar.getInput().getDefiningOp();
  while (isa_and_nonnull<ReshapeOp, ConvertLayoutOp>(op))
    op = op->getOperand(0).getDefiningOp();
  auto load = dyn_cast_or_null<LoadOp>(op);
  auto view = load ? dyn_cast<BlockArgument>(load.getView()) : BlockArgument();
  if (!view || load.getType().getNumElements() != 1)
    return std::nullopt;
  SmallVector<int64_t> place;
  for (Value offset : load.getOffsets()) {
    std::optional<int64_t> number = getNumber(offset);
    if (!number)
      return std::nullopt;
    place.push_back(*number);
  }
  int64_t loaded = instance.getLoaded(view.getArgNumber(), place);
  return scalar.getType().isInteger(1) ? loaded % 2 : loaded;
}

/// What a launch knows, and what folders make of it.
LogicalResult Tracer::runScalar(Operation *op) {
  auto set = [&](int64_t value) {
    known[op->getResult(0)] = {Known::Number, value};
    return success();
  };
  if (isa<ProgramIdOp>(op))
    return set(cast<ProgramIdOp>(op).getAxis() == Axis::X ? instance.program : 0);
  if (isa<NumProgramsOp>(op))
    return set(cast<NumProgramsOp>(op).getAxis() == Axis::X ? instance.programs : 1);
  if (isa<CopyIdOp>(op))
    return set(result.copy);
  if (auto dim = dyn_cast<DimOp>(op))
    if (auto view = dyn_cast<BlockArgument>(dim.getView()))
      if (dim.getView().getType().isDynamicDim(dim.getDim()))
        return set(instance.getExtent(view.getArgNumber(), dim.getDim()));
  if (op->getNumResults() != 1 || !op->getResult(0).getType().isIntOrIndex())
    return success();
  known.erase(op->getResult(0));
  if (auto scalar = dyn_cast<ToScalarOp>(op)) {
    if (std::optional<int64_t> loaded = findLoaded(scalar))
      known[scalar.getResult()] = {Known::Number, *loaded};
    return success();
  }
  SmallVector<Attribute> operands;
  for (Value operand : op->getOperands()) {
    std::optional<int64_t> number = getNumber(operand);
    operands.push_back(number ? IntegerAttr::get(operand.getType(), *number) : Attribute());
  }
  SmallVector<OpFoldResult> folded;
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    folded.push_back(constant.getValue());
  } else if (llvm::any_of(operands, [](Attribute operand) { return !operand; }) ||
             failed(op->getName().foldHook(op, operands, folded)) || folded.size() != 1) {
    return success();
  }
  if (auto attribute = dyn_cast<Attribute>(folded.front())) {
    if (auto integer = dyn_cast<IntegerAttr>(attribute)) {
      bool isBit = integer.getType().isInteger(1);
      known[op->getResult(0)] = {Known::Number, isBit ? int64_t(integer.getValue().getZExtValue())
                                                      : integer.getValue().getSExtValue()};
    }
  } else {
    known[op->getResult(0)] = get(cast<Value>(folded.front()));
  }
  return success();
}

/// Whether a loop has nothing that another role or a later op could ask for.
bool Tracer::canSkip(Operation *loop) {
  auto isNumber = [](Type type) { return type.isIntOrIndex(); };
  if (matters(loop) || llvm::any_of(loop->getResultTypes(), isNumber))
    return false;
  for (Value value : loop->getResults())
    known.erase(value);
  return true;
}

LogicalResult Tracer::runLoop(scf::ForOp loop) {
  if (canSkip(loop))
    return success();
  std::optional<int64_t> first = getNumber(loop.getLowerBound());
  std::optional<int64_t> end = getNumber(loop.getUpperBound()), step = getNumber(loop.getStep());
  if (!first || !end || !step || *step <= 0) {
    for (Value value : loop.getResults())
      known.erase(value);
    if (!matters(loop))
      return success();
    return fail(loop.emitOpError(
        "expected bounds that extents, scalar arguments, what is loaded and the program's "
        "place give, since roles must agree on its trips"));
  }
  SmallVector<Known> carried;
  for (Value init : loop.getInitArgs())
    carried.push_back(get(init));
  for (int64_t at = *first; at < *end; at += *step) {
    known[loop.getInductionVar()] = {Known::Number, at};
    for (auto [argument, value] : llvm::zip_equal(loop.getRegionIterArgs(), carried))
      known[argument] = value;
    if (failed(runBlock(*loop.getBody())))
      return failure();
    for (auto [i, value] : llvm::enumerate(loop.getBody()->getTerminator()->getOperands()))
      carried[i] = get(value);
  }
  for (auto [value, last] : llvm::zip_equal(loop.getResults(), carried))
    known[value] = last;
  return success();
}

LogicalResult Tracer::runWhile(scf::WhileOp loop) {
  if (canSkip(loop))
    return success();
  SmallVector<Known> carried;
  for (Value init : loop.getInits())
    carried.push_back(get(init));
  while (true) {
    for (auto [argument, value] : llvm::zip_equal(loop.getBeforeArguments(), carried))
      known[argument] = value;
    if (failed(step(loop)) || failed(runBlock(*loop.getBeforeBody())))
      return failure();
    std::optional<int64_t> goesOn = getNumber(loop.getConditionOp().getCondition());
    if (!goesOn) {
      for (Value value : loop.getResults())
        known.erase(value);
      if (!matters(loop))
        return success();
      return fail(loop.emitOpError(
          "expected a condition that extents, scalar arguments, what is loaded and the program's "
          "place give, since roles must agree on its trips"));
    }
    for (auto [i, value] : llvm::enumerate(loop.getConditionOp().getArgs())) {
      known[*goesOn ? Value(loop.getAfterArguments()[i]) : Value(loop.getResult(i))] = get(value);
    }
    if (!*goesOn)
      return success();
    if (failed(runBlock(*loop.getAfterBody())))
      return failure();
    for (auto [i, value] : llvm::enumerate(loop.getYieldOp().getOperands()))
      carried[i] = get(value);
  }
}

LogicalResult Tracer::runIf(scf::IfOp condition) {
  std::optional<int64_t> is = getNumber(condition.getCondition());
  if (!is) {
    for (Value value : condition.getResults())
      known.erase(value);
    if (!matters(condition))
      return success();
    return fail(condition.emitOpError(
        "expected a condition that extents, scalar arguments, what is loaded and the "
        "program's place give, since roles must agree on it"));
  }
  Region &region = *is ? condition.getThenRegion() : condition.getElseRegion();
  if (region.empty())
    return success();
  if (failed(runBlock(region.front())))
    return failure();
  SmallVector<Known> values;
  for (Value value : region.front().getTerminator()->getOperands())
    values.push_back(get(value));
  for (auto [value, it] : llvm::zip_equal(condition.getResults(), values))
    known[value] = it;
  return success();
}
