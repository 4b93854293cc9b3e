// How a trace goes through a role's loops and conditions, by real numbers for its scalars.
#include "Tracer.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::protocol;
using namespace kiln::tile;

/// The number that is handed over as a use of a channel.
void Tracer::setHandedOver(Value value, unsigned channel, int64_t position, unsigned bits) {
  if (hasName(groups, channel)) {
    diverges |= hasPrograms(); // each has its own
    return setNamed(value, getName({channel, uint64_t(position), uint64_t(instance.program),
                                    instance.getNumber()}));
  }
  known(value) = {Known::Number, instance.getHandedOver(channel, position, bits)};
}

void Tracer::readNumber(ReadOp op) {
  Known buffer = get(op.getBuffer());
  RankedTensorType type = op.getType();
  known(op.getResult()) = {};
  if (buffer.kind == Known::Slot && type.getNumElements() == 1)
    setHandedOver(op.getResult(), buffer.channel, buffer.value,
                  type.getElementType().getIntOrFloatBitWidth());
}

/// What other programs have counted, which an atomic tells one role alone: in turn the number that
/// it is compared with, and the one before.
std::optional<int64_t> Tracer::drawCount(AtomicRMWOp atomic) {
  for (Operation *user : atomic->getUsers()) {
    auto comparison = dyn_cast<arith::CmpIOp>(user);
    if (std::optional<int64_t> with = comparison ? getNumber(comparison.getRhs()) : std::nullopt)
      return *with - (instance.program + counts++) % 2;
  }
  return std::nullopt;
}

/// What is loaded stands for whole numbers, each its own; of reals it has a name.
void Tracer::setLoaded(Value value, const LoadedPlace &loaded) {
  if (isa<FloatType>(value.getType())) {
    uint64_t name = getName({loaded.argument});
    for (int64_t at : loaded.place)
      name = getName({name, uint64_t(at)});
    return setNamed(value, name);
  }
  int64_t number = instance.getLoaded(loaded.argument, loaded.place);
  known(value) = {Known::Number, value.getType().isInteger(1) ? number % 2 : number};
}

/// What becomes of a tensor as a number: that of its name, what was loaded, or what this role alone
/// knows.
void Tracer::runToScalar(ToScalarOp op) {
  Known input = get(op.getInput());
  if (input.kind == Known::Number || input.kind == Known::Varying)
    known(op.getResult()) = input;
  else if (input.kind == Known::Named)
    setNamed(op.getResult(), uint64_t(input.value));
  else if (auto loaded = findLoaded(op, [&](Value value) { return getNumber(value); }))
    setLoaded(op.getResult(), *loaded);
  else
    nameOwn(op.getResult());
}

/// A number of each of the programs that are run together.
void Tracer::setVarying(unsigned value, ArrayRef<int64_t> numbers) {
  if (llvm::all_equal(numbers)) {
    values[value] = {Known::Number, numbers.front()};
    return;
  }
  values[value] = {Known::Varying, int64_t(varying.size())};
  varying.emplace_back(numbers);
}

/// Computes an op by what differs from program to program, for each of them. Whether there is any
/// such operand.
bool Tracer::runVarying(Operation *op) {
  if (together.size() == 1 || llvm::none_of(op->getOperands(), [&](Value operand) {
        return get(operand).kind == Known::Varying;
      }))
    return false;
  SmallVector<int64_t, 4> numbers;
  for (size_t i = 0; i < together.size() && !diverges; ++i) {
    auto getNumberHere = [&](Value value) { return getNumberOf(get(value), i); };
    Folded folded = fold(op, getNumberHere);
    std::optional<int64_t> number = folded.same ? getNumberHere(folded.same) : folded.number;
    // What is more than a number goes its own way.
    diverges |= !number || (folded.same && get(folded.same).skipped != 0);
    numbers.push_back(number.value_or(0));
  }
  if (!diverges)
    setVarying(decoded.getNumber(op->getResult(0)), numbers);
  return true;
}

/// The same of numbers that differ.
bool Tracer::computeVarying(const Step &step, const Known &first, const Known &second) {
  bool hasSecond = step.op->getNumOperands() > 1;
  SmallVector<int64_t, 8> numbers;
  for (size_t i = 0; i < together.size(); ++i) {
    std::optional<int64_t> a = getNumberOf(first, i), b = hasSecond ? getNumberOf(second, i) : 0;
    std::optional<int64_t> made = a && b ? protocol::compute(step.formula, *a, *b) : std::nullopt;
    if (!made)
      return false;
    numbers.push_back(*made);
  }
  setVarying(step.result, numbers);
  return true;
}

/// What most ops make of numbers that are the same for all, and no slots behind some that were
/// stepped over. Whether it is that.
bool Tracer::compute(const Step &step) {
  auto isPlain = [](const Known &it) { return it.kind == Known::Number && it.skipped == 0; };
  const Known &first = values[step.operands[0]], &second = values[step.operands[1]];
  if (step.kind == Step::Choose) {
    if (first.kind != Known::Number)
      return false;
    values[step.result] = values[step.operands[first.value ? 1 : 2]];
    return true;
  }
  bool hasSecond = step.op->getNumOperands() > 1;
  if (together.size() > 1 && first.skipped == 0 && second.skipped == 0)
    if (first.kind == Known::Varying || (hasSecond && second.kind == Known::Varying))
      return computeVarying(step, first, second);
  if (!isPlain(first) || (hasSecond && !isPlain(second)))
    return false;
  std::optional<int64_t> made = protocol::compute(step.formula, first.value, second.value);
  if (made)
    values[step.result] = {Known::Number, *made};
  return made.has_value();
}

/// What a launch knows, and what folders make of it.
LogicalResult Tracer::runScalar(Operation *op) {
  if (isa<arith::ConstantOp>(op) && get(op->getResult(0)).kind != Known::Nothing)
    return success();
  auto set = [&](int64_t value) {
    known(op->getResult(0)) = {Known::Number, value};
    return success();
  };
  if (auto id = dyn_cast<ProgramIdOp>(op)) {
    setVarying(decoded.getNumber(id.getResult()),
               llvm::map_to_vector<4>(together, [&](const Instance &program) {
                 return program.getProgram(id.getAxis());
               }));
    return success();
  }
  if (isa<NumProgramsOp>(op))
    return set(instance.getPrograms(cast<NumProgramsOp>(op).getAxis()));
  if (isa<CopyIdOp>(op)) {
    setVarying(decoded.getNumber(op->getResult(0)),
               llvm::map_to_vector<4>(
                   together, [](const Instance &instance) { return int64_t(instance.copy); }));
    return success();
  }
  if (auto dim = dyn_cast<DimOp>(op))
    if (auto view = dyn_cast<BlockArgument>(dim.getView()))
      if (dim.getView().getType().isDynamicDim(dim.getDim()))
        return set(instance.getExtent(view.getArgNumber(), dim.getDim()));
  if (isa<ReshapeOp, ConvertLayoutOp>(op)) {
    known(op->getResult(0)) = get(op->getOperand(0));
    return success();
  }
  if (op->getNumResults() != 1 || !op->getResult(0).getType().isIntOrIndexOrFloat()) {
    nameResults(op);
    return success();
  }
  Value number = op->getResult(0);
  if (const HandedOver *its = decoded.getHandedOver(number)) {
    setHandedOver(number, its->channel, puts[its->channel].next + its->behind, its->bits);
    return success();
  }
  auto getNumber = [&](Value value) { return this->getNumber(value); };
  if (auto scalar = dyn_cast<ToScalarOp>(op)) {
    runToScalar(scalar);
    return success();
  }
  if (auto atomic = dyn_cast<AtomicRMWOp>(op))
    if (std::optional<int64_t> count = drawCount(atomic))
      return set(*count);
  if (isa<AtomicRMWOp, AtomicCASOp>(op)) {
    nameOwn(number);
    return success();
  }
  if (runVarying(op))
    return success();
  Folded folded = fold(op, getNumber);
  auto select = dyn_cast<arith::SelectOp>(op);
  std::optional<int64_t> chosen = select ? getNumber(select.getCondition()) : std::nullopt;
  if (folded.number)
    known(number) = {Known::Number, *folded.number};
  else if (folded.same)
    known(number) = get(folded.same);
  else if (chosen)
    known(number) = get(*chosen ? select.getTrueValue() : select.getFalseValue());
  else
    nameResults(op);
  return success();
}

/// Whether a loop has nothing that another role or a later op could ask for.
bool Tracer::canSkip(Operation *loop) {
  auto isNumber = [](Type type) { return type.isIntOrIndexOrFloat(); };
  if (decoded.matters(loop) || llvm::any_of(loop->getResultTypes(), isNumber))
    return false;
  nameResults(loop);
  return true;
}

LogicalResult Tracer::runLoop(const Step &step) {
  auto loop = cast<scf::ForOp>(step.op);
  const Body &body = decoded.bodies[step.bodies[0]];
  if (canSkip(loop))
    return useInside(loop), success();
  std::optional<int64_t> first = getNumber(loop.getLowerBound());
  std::optional<int64_t> end = getNumber(loop.getUpperBound()), by = getNumber(loop.getStep());
  if (!first || !end || !by || *by <= 0) {
    for (Value value : loop.getResults())
      known(value) = {};
    if (!decoded.matters(loop))
      return useInside(loop), success();
    return fail(loop.emitOpError(
        "expected bounds that extents, scalar arguments, what is loaded or handed over and the "
        "program's place give, since roles must agree on its trips"));
  }
  // Each trip runs all ops of the body: whether there are too many is known before the first.
  APInt span = APInt(128, *end, /*isSigned=*/true) - APInt(128, *first, /*isSigned=*/true);
  int64_t ops = llvm::range_size(loop.getBody()->without_terminator());
  if ((span * ops).sgt(APInt(128, kMostSteps - steps) * *by)) {
    result.tooLong = loop;
    return failure();
  }
  SmallVector<Known> carried;
  for (Value init : loop.getInitArgs())
    carried.push_back(get(init));
  for (int64_t at = *first; at < *end; at += *by) {
    values[body.firstArgument] = {Known::Number, at};
    llvm::copy(carried, values.begin() + body.firstArgument + 1);
    if (failed(runBody(step.bodies[0])))
      return failure();
    for (auto [i, value] : llvm::enumerate(body.handedOn))
      carried[i] = values[value];
  }
  for (auto [value, last] : llvm::zip_equal(loop.getResults(), carried))
    known(value) = last;
  return success();
}

/// Whether a loop learns numbers of other roles or programs.
bool Tracer::isTold(Operation *loop) {
  return loop
      ->walk([&](Operation *op) {
        auto read = dyn_cast<ReadOp>(op);
        bool isRead = read && read.getType().getNumElements() == 1;
        bool isDrawn = llvm::any_of(op->getResults(), [&](Value value) {
          return value.getType().isIntOrIndexOrFloat() && decoded.getHandedOver(value);
        });
        return isRead || isDrawn || isa<AtomicRMWOp>(op) ? WalkResult::interrupt()
                                                         : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Which of the values that a loop carries, by their number, its condition follows from.
static llvm::SmallBitVector findTelling(scf::WhileOp loop) {
  llvm::SmallBitVector telling(loop.getNumOperands());
  SmallVector<Value> values = {loop.getConditionOp().getCondition()};
  DenseSet<Value> seen;
  while (!values.empty()) {
    Value value = values.pop_back_val();
    if (!seen.insert(value).second || !loop->isAncestor(value.getParentBlock()->getParentOp()))
      continue;
    auto argument = dyn_cast<BlockArgument>(value);
    if (argument && argument.getOwner() == loop.getBeforeBody()) {
      telling.set(argument.getArgNumber());
      values.push_back(loop.getYieldOp().getOperand(argument.getArgNumber()));
    } else if (argument && argument.getOwner() == loop.getAfterBody()) {
      values.push_back(loop.getConditionOp().getArgs()[argument.getArgNumber()]);
    } else {
      // What an inner loop or condition gives follows from all that it uses.
      Operation *op = argument ? argument.getOwner()->getParentOp() : value.getDefiningOp();
      op->walk([&](Operation *inner) { llvm::append_range(values, inner->getOperands()); });
    }
  }
  return telling;
}

LogicalResult Tracer::runWhile(const Step &step) {
  auto loop = cast<scf::WhileOp>(step.op);
  if (canSkip(loop))
    return useInside(loop), success();
  SmallVector<Known> carried;
  for (Value init : loop.getInits())
    carried.push_back(get(init));
  // Where all numbers come back that its condition follows from, and none has been drawn or told by
  // others meanwhile, it does not end. They are held against what they were 1, 2, 4, … trips after
  // the first.
  SmallVector<Known> before;
  auto drawnBefore = counts;
  bool isAlone = !isTold(loop);
  llvm::SmallBitVector telling = findTelling(loop);
  auto comesBack = [&] {
    return llvm::all_of(telling.set_bits(), [&](unsigned i) {
      bool hasValue = carried[i].kind == Known::Number || carried[i].kind == Known::Named;
      if (carried[i].kind != before[i].kind)
        return false;
      if (carried[i].kind == Known::Varying)
        return varying[carried[i].value] == varying[before[i].value];
      return !hasValue || carried[i].value == before[i].value;
    });
  };
  for (int64_t trip = 0;; ++trip) {
    if (isAlone && trip > 1 && counts == drawnBefore && comesBack()) {
      result.tooLong = loop;
      return failure();
    }
    if (llvm::isPowerOf2_64(trip)) {
      before = carried;
      drawnBefore = counts;
    }
    for (auto [argument, value] : llvm::zip_equal(loop.getBeforeArguments(), carried))
      known(argument) = value;
    if (failed(count(loop, 1)) || failed(runBody(step.bodies[0])))
      return failure();
    std::optional<int64_t> goesOn = getNumber(loop.getConditionOp().getCondition());
    if (!goesOn) {
      for (Value value : loop.getResults())
        known(value) = {};
      if (!decoded.matters(loop))
        return useInside(loop), success();
      return fail(loop.emitOpError(
          "expected a condition that extents, scalar arguments, what is loaded or handed over and "
          "the program's place give, since roles must agree on its trips"));
    }
    for (auto [i, value] : llvm::enumerate(loop.getConditionOp().getArgs())) {
      known(*goesOn ? Value(loop.getAfterArguments()[i]) : Value(loop.getResult(i))) = get(value);
    }
    if (!*goesOn)
      return success();
    if (failed(runBody(step.bodies[1])))
      return failure();
    for (auto [i, value] : llvm::enumerate(loop.getYieldOp().getOperands()))
      carried[i] = get(value);
  }
}

LogicalResult Tracer::runIf(const Step &step) {
  auto condition = cast<scf::IfOp>(step.op);
  std::optional<int64_t> is = getNumber(condition.getCondition());
  if (!is) {
    for (Value value : condition.getResults())
      known(value) = {};
    if (!decoded.matters(condition))
      return useInside(condition), success();
    return fail(condition.emitOpError(
        "expected a condition that extents, scalar arguments, what is loaded or handed over and "
        "the program's place give, since roles must agree on it"));
  }
  unsigned number = step.bodies[*is ? 0 : 1];
  if (number == 0) // there is no such branch
    return success();
  if (failed(runBody(number)))
    return failure();
  const Body &body = decoded.bodies[number];
  for (auto [value, made] : llvm::zip_equal(condition.getResults(), body.handedOn))
    known(value) = values[made];
  return success();
}
