// Arithmetic that is defined for all inputs, on types that the processor computes with.
#include "DivideVectors.h"
#include "kiln/Target/CPU/CPU.h"
#include "kiln/Target/CPU/Passes.h"
#include "kiln/Target/Common/DefinedArithmetic.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace kiln::cpu {
#define GEN_PASS_DEF_LEGALIZEARITHMETIC
#include "kiln/Target/CPU/Passes.h.inc"
} // namespace kiln::cpu

using namespace mlir;

namespace {

Type withElement(Type type, Type element) {
  auto shaped = dyn_cast<ShapedType>(type);
  return shaped ? Type(shaped.clone(element)) : element;
}

bool isNarrow(Type type) {
  auto element = dyn_cast<FloatType>(getElementTypeOrSelf(type));
  return element && element.getWidth() < 32;
}

/// An op of arith or math on narrow floats, in f32.
void widen(Operation *op) {
  OpBuilder builder(op);
  Location loc = op->getLoc();
  Type f32 = builder.getF32Type();
  for (OpOperand &operand : op->getOpOperands()) {
    Type type = operand.get().getType();
    if (isNarrow(type))
      operand.set(arith::ExtFOp::create(builder, loc, withElement(type, f32), operand.get()));
  }
  builder.setInsertionPointAfter(op);
  for (Value result : op->getResults()) {
    Type type = result.getType();
    if (!isNarrow(type))
      continue;
    result.setType(withElement(type, f32));
    auto narrow = arith::TruncFOp::create(builder, loc, type, result);
    result.replaceAllUsesExcept(narrow, narrow);
  }
}

/// A constant of bf16 as its bits: not every processor has the type.
void makeBits(arith::ConstantOp op) {
  OpBuilder builder(op);
  Type i16 = builder.getI16Type();
  TypedAttr bits;
  if (auto scalar = dyn_cast<FloatAttr>(op.getValue()))
    bits = builder.getIntegerAttr(i16, scalar.getValue().bitcastToAPInt());
  else if (auto elements = dyn_cast<DenseFPElementsAttr>(op.getValue()))
    bits = cast<TypedAttr>(
        elements.mapValues(i16, [](const APFloat &value) { return value.bitcastToAPInt(); }));
  if (!bits)
    return;
  Value constant = arith::ConstantOp::create(builder, op.getLoc(), bits);
  op.getResult().replaceAllUsesWith(
      arith::BitcastOp::create(builder, op.getLoc(), op.getType(), constant));
  op.erase();
}

struct LegalizePass : kiln::cpu::impl::LegalizeArithmeticBase<LegalizePass> {
  using LegalizeArithmeticBase::LegalizeArithmeticBase;

  void runOnOperation() override {
    auto target =
        dyn_cast_or_null<kiln::cpu::TargetAttr>(Attribute(kiln::getTarget(getOperation())));
    bool hasLongs = target && target.getVectorBits() == 512;
    getOperation()->walk([&](Operation *op) {
      if (kiln::cpu::divideVectors(op, hasLongs))
        return;
      // As one op, since what it becomes does not give 0 where its division does.
      if (isa<arith::CeilDivSIOp, arith::CeilDivUIOp, arith::FloorDivSIOp>(op))
        kiln::defineForAllInputs(op);
    });
    RewritePatternSet patterns(&getContext());
    arith::populateCeilFloorDivExpandOpsPatterns(patterns);
    GreedyRewriteConfig config;
    config.enableFolding(false).enableConstantCSE(false);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns), config)))
      return signalPassFailure();

    SmallVector<Operation *> ops;
    getOperation()->walk([&](Operation *op) {
      if (isa<arith::ArithDialect, math::MathDialect>(op->getDialect()))
        ops.push_back(op);
    });
    for (Operation *op : ops) {
      if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
        if (getElementTypeOrSelf(constant.getType()).isBF16())
          makeBits(constant);
        continue;
      }
      if (isa<arith::BitcastOp, arith::SelectOp>(op))
        continue;
      if (kiln::defineForAllInputs(op))
        continue;
      if (isa<arith::SIToFPOp, arith::UIToFPOp>(op)) {
        if (isNarrow(op->getResult(0).getType()))
          kiln::convertIntegerOnce(op);
      } else if (isa<math::FmaOp>(op) && isNarrow(op->getResult(0).getType())) {
        OpBuilder builder(op);
        op->getResult(0).replaceAllUsesWith(
            kiln::fuseOnce(builder, op->getLoc(), op->getOperands()));
        op->erase();
      } else if (isa<arith::ExtFOp, arith::TruncFOp>(op)) {
        // Between two narrow floats there is f32.
        if (isNarrow(op->getOperand(0).getType()) && isNarrow(op->getResult(0).getType())) {
          OpBuilder builder(op);
          Type to = op->getResult(0).getType();
          Value wide = arith::ExtFOp::create(
              builder, op->getLoc(), withElement(to, builder.getF32Type()), op->getOperand(0));
          op->getResult(0).replaceAllUsesWith(
              arith::TruncFOp::create(builder, op->getLoc(), to, wide));
          op->erase();
        }
      } else if (llvm::any_of(op->getOperandTypes(), isNarrow) ||
                 llvm::any_of(op->getResultTypes(), isNarrow)) {
        widen(op);
      }
    }
  }
};

} // namespace
