// Has an `scf.while` that leaves a trip at its beginning ask so in front of the trip.
//
//   while goes and not left:        while goes and not leaves:
//     leaves = …                      …
//     if not leaves:
//       …
//     left = leaves
//
// What a trip does then stands in no condition, so it can overlap with other trips. Where the trip
// has effects behind the condition, which the trip that is left has, too, the loop stays as it is.
#include "kiln/Dialect/Tile/IR/Decisions.h"
#include "kiln/Dialect/Tile/IR/Roles.h"
#include "kiln/Dialect/Tile/IR/Tile.h"
#include "kiln/Dialect/Tile/Transforms/Passes.h"
#include "kiln/Dialect/Tile/Transforms/Undecided.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace kiln::tile {
#define GEN_PASS_DEF_HOISTBREAKS
#include "kiln/Dialect/Tile/Transforms/Passes.h.inc"

static bool isNumber(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return !tensor || tensor.getNumElements() == 1;
}

/// Whether an op may run where its trip turns out not to be: it makes numbers, of numbers or of
/// what nobody writes, and nobody has decided anything of it.
static bool isAsked(Operation &op) {
  return op.getNumRegions() == 0 && findDecision(&op).empty() &&
         ((isMemoryEffectFree(&op) && isSpeculatable(&op)) || isSharedScalar(&op)) &&
         llvm::all_of(op.getOperandTypes(), isNumber) &&
         llvm::all_of(op.getResultTypes(), isNumber);
}

namespace {
class BreakHoister {
public:
  explicit BreakHoister(scf::WhileOp loop) : loop(loop), builder(loop) {}
  bool run();

private:
  bool findLeave();
  bool isAndOf(Value condition, Value part);
  Value findLeft(Value value);
  Value hand(Value value);
  Value clone(Value value, DenseMap<Value, Value> &made, function_ref<Value(Value)> find);

  scf::WhileOp loop;
  OpBuilder builder;
  /// Holds what the trip does if it is not left, in its second block.
  scf::IfOp leave;
  /// Which of the values that the loop carries says that a trip has been left.
  unsigned flag = 0;
  /// What stands in front of that in a trip, as it is in what becomes the condition's block.
  IRMapping mapping;
  /// What has been made in the condition's block of a trip's values, and of that block's.
  DenseMap<Value, Value> left, handedOn;
};
} // namespace

/// Whether a condition holds only if a part of it does.
bool BreakHoister::isAndOf(Value condition, Value part) {
  auto both = condition.getDefiningOp<arith::AndIOp>();
  return condition == part ||
         (both && (isAndOf(both.getLhs(), part) || isAndOf(both.getRhs(), part)));
}

bool BreakHoister::findLeave() {
  auto isPlain = [](Operation &op) { return isPure(&op) && op.getNumRegions() == 0; };
  if (!llvm::all_of(loop.getBeforeBody()->without_terminator(), isPlain))
    return false;
  Block *body = loop.getAfterBody();
  auto first = llvm::find_if_not(body->without_terminator(), isAsked);
  leave = dyn_cast<scf::IfOp>(*first);
  if (!leave || !leave.elseBlock() || !findDecision(leave).empty() ||
      !leave.thenBlock()->without_terminator().empty())
    return false;
  // What stands behind it runs in the trip that is left, too, and no longer will.
  auto hasNoEffect = [](Operation &op) { return isMemoryEffectFree(&op); };
  if (!llvm::all_of(llvm::make_range(std::next(first), body->without_terminator().end()),
                    hasNoEffect))
    return false;
  for (auto [index, value] : llvm::enumerate(loop.getYieldOp().getOperands())) {
    Value carried = loop.getBeforeArguments()[index];
    if (value != leave.getCondition() || !matchPattern(loop.getInits()[index], m_Zero()) ||
        !carried.hasOneUse())
      continue;
    auto goesOn = dyn_cast<arith::XOrIOp>(*carried.user_begin());
    bool isNot =
        goesOn &&
        matchPattern(goesOn.getLhs() == carried ? goesOn.getRhs() : goesOn.getLhs(), m_One());
    flag = index;
    if (isNot && isAndOf(loop.getConditionOp().getCondition(), goesOn))
      return true;
  }
  return false;
}

/// A value of an op that is made again in the condition's block; null if it cannot be.
Value BreakHoister::clone(Value value, DenseMap<Value, Value> &made,
                          function_ref<Value(Value)> find) {
  if (Value known = made.lookup(value))
    return known;
  Operation *op = value.getDefiningOp();
  if (!op || !isPure(op) || op->getNumRegions() || !llvm::all_of(op->getResultTypes(), isNumber))
    return {};
  IRMapping operands;
  for (Value operand : op->getOperands()) {
    Value found = find(operand);
    if (!found)
      return {};
    operands.map(operand, found);
  }
  Operation *copy = builder.clone(*op, operands);
  for (auto [from, to] : llvm::zip_equal(op->getResults(), copy->getResults()))
    made[from] = to;
  return made.lookup(value);
}

/// A value of a trip's block where the trip is left; null if that is not known.
Value BreakHoister::findLeft(Value value) {
  if (loop.isDefinedOutsideOfLoop(value))
    return value;
  if (Value known = mapping.lookupOrNull(value))
    return known;
  if (value.getDefiningOp() == leave)
    return findLeft(leave.thenYield().getOperand(cast<OpResult>(value).getResultNumber()));
  return clone(value, left, [&](Value operand) { return findLeft(operand); });
}

/// What the condition's block hands on, once a trip has been left; null if that is not known.
Value BreakHoister::hand(Value value) {
  if (loop.isDefinedOutsideOfLoop(value))
    return value;
  auto argument = dyn_cast<BlockArgument>(value);
  return argument ? findLeft(loop.getYieldOp().getOperand(argument.getArgNumber()))
                  : clone(value, handedOn, [&](Value operand) { return hand(operand); });
}

bool BreakHoister::run() {
  if (!findLeave())
    return false;
  Location loc = leave.getLoc();
  SmallVector<Value> inits(loop.getInits());
  inits.erase(inits.begin() + flag);
  auto made = scf::WhileOp::create(builder, loop.getLoc(), loop.getResultTypes(), inits);
  made->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  Block *before = builder.createBlock(&made.getBefore(), {}, ValueRange(inits).getTypes(),
                                      SmallVector<Location>(inits.size(), loop.getLoc()));
  SmallVector<Value> arguments(before->getArguments());
  arguments.insert(arguments.begin() + flag, arith::ConstantIntOp::create(builder, loc, 0, 1));
  IRMapping asked;
  asked.map(loop.getBeforeArguments(), arguments);
  for (Operation &op : loop.getBeforeBody()->without_terminator())
    builder.clone(op, asked);
  scf::ConditionOp condition = loop.getConditionOp();
  SmallVector<Value> handed = llvm::map_to_vector(
      condition.getArgs(), [&](Value value) { return asked.lookupOrDefault(value); });
  mapping.map(loop.getAfterArguments(), handed);
  for (Operation &op : *loop.getAfterBody()) {
    if (&op == leave)
      break;
    builder.clone(op, mapping);
  }
  Value goes = asked.lookupOrDefault(condition.getCondition());
  Value leaves = mapping.lookupOrDefault(leave.getCondition());
  Value stays =
      arith::XOrIOp::create(builder, loc, leaves, arith::ConstantIntOp::create(builder, loc, 1, 1));
  Value isLeft = arith::AndIOp::create(builder, loc, goes, leaves);
  // What the loop is worth is what it would hand on behind the trip that is left.
  for (auto [value, result, from] :
       llvm::zip_equal(handed, loop.getResults(), condition.getArgs())) {
    Value then = result.use_empty() ? value : hand(from);
    if (!then || (then != value && isa<ShapedType>(then.getType()))) {
      made.erase();
      return false;
    }
    if (then != value)
      value = arith::SelectOp::create(builder, loc, isLeft, then, value);
  }
  scf::ConditionOp::create(builder, condition.getLoc(),
                           arith::AndIOp::create(builder, loc, goes, stays), handed);
  loop.getYieldOp()->eraseOperand(flag);
  made.getAfter().takeBody(loop.getAfter());
  IRRewriter rewriter(builder);
  SmallVector<Value> results(leave.elseYield().getOperands());
  rewriter.eraseOp(leave.elseYield());
  rewriter.inlineBlockBefore(leave.elseBlock(), leave);
  rewriter.replaceOp(leave, results);
  rewriter.replaceOp(loop, made.getResults());
  return true;
}

namespace {
struct HoistBreaks : public impl::HoistBreaksBase<HoistBreaks> {
  void runOnOperation() override {
    bool hasBreaks = false;
    getOperation().walk([&](scf::WhileOp loop) { hasBreaks |= BreakHoister(loop).run(); });
    if (!hasBreaks)
      return;
    canonicaliseUndecided(getOperation());
    mergeUndecided(getOperation());
  }
};
} // namespace
} // namespace kiln::tile
