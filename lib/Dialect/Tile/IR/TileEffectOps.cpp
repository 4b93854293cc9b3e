// Verifiers, effects and canonicalisation of checks, hints and foreign code.
#include "Checks.h"
#include "kiln/Dialect/Tile/IR/Tile.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace kiln::tile;

/// A check of what is always true says nothing.
template <typename Check>
static LogicalResult dropIfTrue(Check op, PatternRewriter &rewriter) {
  if (!matchPattern(op.getCondition(), m_One()))
    return rewriter.notifyMatchFailure(op, "the condition is not known to hold");
  rewriter.eraseOp(op);
  return success();
}

void AssertOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *) {
  patterns.add(dropIfTrue<AssertOp>);
}

void AssumeOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *) {
  patterns.add(dropIfTrue<AssumeOp>);
}

/// The program that a message names has all three coordinates, or is the one that speaks.
static LogicalResult verifyProgram(Operation *op, ValueRange program) {
  if (!program.empty() && program.size() != 3)
    return op->emitOpError("expected a program along x, y and z, got ")
           << program.size() << " coordinates";
  return success();
}

LogicalResult AssertOp::verify() { return verifyProgram(*this, getProgram()); }

LogicalResult PrintOp::verify() {
  if (failed(verifyProgram(*this, getProgram())))
    return failure();
  for (Value value : getValues())
    if (auto tensor = dyn_cast<RankedTensorType>(value.getType()))
      if (failed(verifyExtents(*this, getExtents(), tensor)))
        return failure();
  return success();
}

LogicalResult MultipleOfOp::verify() {
  int64_t divisor = getDivisor();
  if (divisor < 1)
    return emitOpError("expected a divisor of at least 1, got ") << divisor;
  return success();
}

OpFoldResult MultipleOfOp::fold(FoldAdaptor adaptor) {
  if (getDivisor() == 1)
    return getValue();
  auto inner = getValue().getDefiningOp<MultipleOfOp>();
  if (inner && inner.getDivisor() % getDivisor() == 0)
    return getValue();
  return adaptor.getValue();
}

//===- Foreign code -------------------------------------------------------------------------===//

using Effects = SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>;

/// What is not known to be pure may read and write anything.
static void addForeignEffects(bool pure, Effects &effects) {
  if (pure)
    return;
  effects.emplace_back(MemoryEffects::Read::get());
  effects.emplace_back(MemoryEffects::Write::get());
  effects.emplace_back(MemoryEffects::Read::get(), GlobalMemory::get());
  effects.emplace_back(MemoryEffects::Write::get(), GlobalMemory::get());
}

/// Operands and results have one shape: all scalars, or all tensors of one shape.
static LogicalResult verifyOneShape(Operation *op) {
  SmallVector<Type> types(op->getOperandTypes());
  llvm::append_range(types, op->getResultTypes());
  auto shapeOf = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor ? std::make_pair(true, tensor.getShape())
                  : std::make_pair(false, ArrayRef<int64_t>());
  };
  for (Type type : types)
    if (shapeOf(type) != shapeOf(types.front()))
      return op->emitOpError("expected operands and results of one shape, got ")
             << types.front() << " and " << type;
  return success();
}

LogicalResult InlineAsmOp::verify() {
  if (failed(verifyOneShape(*this)))
    return failure();
  int64_t pack = getPack();
  if (pack < 1)
    return emitOpError("expected to pack at least 1 element, got ") << pack;
  if (pack == 1 || ((*this)->getNumOperands() == 0 && (*this)->getNumResults() == 0))
    return success();
  Type type = (*this)->getNumResults() ? getResultTypes().front() : getOperandTypes().front();
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || tensor.getRank() == 0 || tensor.getShape().back() % pack)
    return emitOpError("expected a multiple of ")
           << pack << " elements in the last dimension to pack, got " << type;
  return success();
}

Speculation::Speculatability InlineAsmOp::getSpeculatability() {
  return getPure() ? Speculation::Speculatable : Speculation::NotSpeculatable;
}

void InlineAsmOp::getEffects(Effects &effects) { addForeignEffects(getPure(), effects); }

Speculation::Speculatability ExternCallOp::getSpeculatability() {
  return getPure() ? Speculation::Speculatable : Speculation::NotSpeculatable;
}

LogicalResult ExternCallOp::verify() {
  if (getSymbol().empty())
    return emitOpError("expected the name of a function");
  return verifyOneShape(*this);
}

void ExternCallOp::getEffects(Effects &effects) { addForeignEffects(getPure(), effects); }
