// Loops, branches, and what ends their bodies: all threads of a program go the same way.
#include "../ThreadPatterns.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

/// Values alone are carried.
static std::optional<std::string> whyCarried(Operation *op) {
  for (Type type : op->getOperandTypes())
    if (isa<ViewType, BufferType, PointerType>(type))
      return "expected tensors and scalars to be carried, got " + spell(type);
  return std::nullopt;
}

static SmallVector<Value> getAll(ThreadContext &context, ValueRange values) {
  return llvm::map_to_vector(values, [&](Value value) { return context.get(value); });
}

/// What is the same in all turns of a loop is computed in each: a program's numbers are few
/// instructions, and registers or predicates that held them would be missed where it has its loops.
static void keepInside(scf::ForOp loop) {
  MLIRContext *context = loop.getContext();
  auto licm = LLVM::LoopLICMAttr::get(context, /*disable=*/BoolAttr::get(context, true),
                                      /*versioningDisable=*/{});
  loop->setAttr(LLVM::LoopAnnotationAttr::name,
                LLVM::LoopAnnotationAttr::get(context, {}, {}, {}, {}, {}, licm, {}, {}, {}, {}, {},
                                              {}, {}, {}, {}));
}

/// Whether a number goes round a loop over programs through a branch. It is a slot or a phase of a
/// ring, the same in all lanes, which an assembler no longer sees of what two branches give: what
/// is addressed by it would be reckoned by each lane, in front of each product.
static bool goesThroughBranch(scf::ForOp loop, unsigned number) {
  auto joined = loop.getYieldedValues()[number].getDefiningOp<scf::IfOp>();
  return joined && loop->hasAttr(kProgramsAttrName) && !loop->getParentOfType<OneThreadOp>() &&
         loop.getRegionIterArg(number).getType().isInteger(32);
}

static LogicalResult lowerLoop(ThreadContext &context, scf::ForOp loop) {
  SmallVector<Value> inits = getAll(context, loop.getInitArgs());
  auto lowered =
      scf::ForOp::create(context, context.get(loop.getLowerBound()),
                         context.get(loop.getUpperBound()), context.get(loop.getStep()), inits);
  if (loop->hasAttr(kProgramsAttrName))
    keepInside(lowered);
  // Without results the builder makes a terminator of its own.
  Block *body = lowered.getBody();
  if (!body->empty())
    body->back().erase();
  context.set(loop.getInductionVar(), lowered.getInductionVar());
  OpBuilder::InsertionGuard guard(context);
  context.setInsertionPointToEnd(body);
  for (auto [number, from] : llvm::enumerate(loop.getRegionIterArgs())) {
    Value to = lowered.getRegionIterArg(number);
    if (goesThroughBranch(loop, number))
      to = context.sync.makeUniform(context, context.getLoc(), to);
    context.set(from, to);
  }
  if (failed(context.lower(*loop.getBody())))
    return failure();
  for (auto [from, to] : llvm::zip(loop.getResults(), lowered.getResults()))
    context.set(from, to);
  return success();
}

static LogicalResult lowerIf(ThreadContext &context, scf::IfOp branch) {
  SmallVector<Type> types;
  for (Type type : branch.getResultTypes())
    types.push_back(context.convert(type));
  auto lowered = scf::IfOp::create(context, types, context.get(branch.getCondition()),
                                   /*addThenBlock=*/true,
                                   /*addElseBlock=*/!branch.getElseRegion().empty());
  auto lowerRegion = [&](Region &from, Region &to) {
    if (from.empty())
      return success();
    OpBuilder::InsertionGuard guard(context);
    to.front().clear();
    context.setInsertionPointToEnd(&to.front());
    LogicalResult lowered = context.lower(from.front());
    return lowered;
  };
  if (failed(lowerRegion(branch.getThenRegion(), lowered.getThenRegion())) ||
      failed(lowerRegion(branch.getElseRegion(), lowered.getElseRegion())))
    return failure();
  for (auto [from, to] : llvm::zip(branch.getResults(), lowered.getResults()))
    context.set(from, to);
  return success();
}

static LogicalResult lowerWhile(ThreadContext &context, scf::WhileOp loop) {
  SmallVector<Type> types;
  for (Type type : loop.getResultTypes())
    types.push_back(context.convert(type));
  SmallVector<Value> inits = getAll(context, loop.getInits());
  auto lowered = scf::WhileOp::create(context, types, inits);
  auto lowerRegion = [&](Region &from, Region &to, TypeRange types) {
    OpBuilder::InsertionGuard guard(context);
    Block *body = context.createBlock(&to, to.end(), types,
                                      SmallVector<Location>(types.size(), context.getLoc()));
    for (auto [before, after] : llvm::zip(from.getArguments(), body->getArguments()))
      context.set(before, after);
    LogicalResult result = context.lower(from.front());
    return result;
  };
  if (failed(lowerRegion(loop.getBefore(), lowered.getBefore(), ValueRange(inits).getTypes())) ||
      failed(lowerRegion(loop.getAfter(), lowered.getAfter(), types)))
    return failure();
  for (auto [from, to] : llvm::zip(loop.getResults(), lowered.getResults()))
    context.set(from, to);
  return success();
}

void kiln::populateControlFlowPatterns(ThreadPatterns &patterns) {
  patterns.add<scf::ForOp>(lowerLoop).unsupportedIf(whyCarried);
  patterns.add<scf::IfOp>(lowerIf).unsupportedIf(whyCarried);
  patterns.add<scf::WhileOp>(lowerWhile).unsupportedIf(whyCarried);
  patterns
      .add<scf::ConditionOp>([](ThreadContext &context, scf::ConditionOp op) {
        SmallVector<Value> operands = getAll(context, op.getArgs());
        scf::ConditionOp::create(context, context.get(op.getCondition()), operands);
      })
      .unsupportedIf(whyCarried);
  patterns
      .add<scf::YieldOp>([](ThreadContext &context, scf::YieldOp op) {
        scf::YieldOp::create(context, getAll(context, op.getOperands()));
      })
      .unsupportedIf(whyCarried);
}
