// Integer arithmetic and conversions as the language defines them where processors and LLVM do not.
#include "kiln/Target/Common/DefinedArithmetic.h"
#include "kiln/Dialect/Tile/Transforms/RoundToOdd.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

static Value constantLike(OpBuilder &builder, Location loc, Type type, const APInt &value) {
  Type element = getElementTypeOrSelf(type);
  TypedAttr attr = builder.getIntegerAttr(element, value);
  if (auto shaped = dyn_cast<ShapedType>(type))
    attr = DenseElementsAttr::get(shaped, attr);
  return arith::ConstantOp::create(builder, loc, attr);
}

static unsigned bitsOf(Type type) {
  Type element = getElementTypeOrSelf(type);
  return isa<IndexType>(element) ? 64 : element.getIntOrFloatBitWidth();
}

/// Divisions: the divisor is replaced where it would fault, and the result of x / 0 is 0.
static Value guardDivision(Operation *op, bool isSigned) {
  APInt known;
  Value result = op->getResult(0);
  if (matchPattern(op->getOperand(1), m_ConstantInt(&known)) && !known.isZero() &&
      !known.isAllOnes())
    return result;
  OpBuilder builder(op);
  Location loc = op->getLoc();
  Value left = op->getOperand(0), right = op->getOperand(1);
  Type type = left.getType();
  unsigned bits = bitsOf(type);
  auto constant = [&](const APInt &value) { return constantLike(builder, loc, type, value); };
  auto equal = [&](Value a, Value b) -> Value {
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, a, b);
  };
  Value zero = constant(APInt(bits, 0)), one = constant(APInt(bits, 1));
  Value byZero = equal(right, zero), bad = byZero;
  if (isSigned && bits > 1) {
    Value overflows =
        arith::AndIOp::create(builder, loc, equal(right, constant(APInt::getAllOnes(bits))),
                              equal(left, constant(APInt::getSignedMinValue(bits))));
    bad = arith::OrIOp::create(builder, loc, bad, overflows);
  }
  op->setOperand(1, arith::SelectOp::create(builder, loc, bad, one, right));
  builder.setInsertionPointAfter(op);
  auto guarded = arith::SelectOp::create(builder, loc, byZero, zero, result);
  result.replaceAllUsesExcept(guarded, guarded);
  return guarded;
}

static Value guardShift(Operation *op) {
  APInt known;
  Value result = op->getResult(0);
  Type type = result.getType();
  unsigned bits = bitsOf(type);
  if (matchPattern(op->getOperand(1), m_ConstantInt(&known)) && known.ult(bits))
    return result;
  OpBuilder builder(op);
  Location loc = op->getLoc();
  Value amount = op->getOperand(1);
  Value last = constantLike(builder, loc, type, APInt(bits, bits - 1));
  Value wide = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ugt, amount, last);
  op->setOperand(1, arith::MinUIOp::create(builder, loc, amount, last));
  if (isa<arith::ShRSIOp>(op))
    return result;
  builder.setInsertionPointAfter(op);
  Value zero = constantLike(builder, loc, type, APInt(bits, 0));
  auto guarded = arith::SelectOp::create(builder, loc, wide, zero, result);
  result.replaceAllUsesExcept(guarded, guarded);
  return guarded;
}

/// Floats to integers, clamped. LLVM 22 makes of i1 a comparison with 0 for NVPTX, whatever was
/// asked, so these go by way of i8.
static Value saturate(Operation *op, bool isSigned) {
  OpBuilder builder(op);
  Location loc = op->getLoc();
  Type type = op->getResult(0).getType(), wide = type;
  bool isBit = bitsOf(type) == 1;
  if (isBit) {
    wide = builder.getI8Type();
    if (auto shaped = dyn_cast<ShapedType>(type))
      wide = shaped.clone(wide);
  }
  Value value = op->getOperand(0);
  if (getElementTypeOrSelf(value).getIntOrFloatBitWidth() < 32) {
    Type f32 = builder.getF32Type();
    if (auto shaped = dyn_cast<ShapedType>(value.getType()))
      f32 = shaped.clone(f32);
    value = arith::ExtFOp::create(builder, loc, f32, value);
  }
  StringRef name = isSigned ? "llvm.fptosi.sat" : "llvm.fptoui.sat";
  Value result =
      LLVM::CallIntrinsicOp::create(builder, loc, wide, builder.getStringAttr(name), value)
          ->getResult(0);
  if (isBit) {
    // Of -1 and below the bit is set where it is a sign; of 1 and above where it is a value.
    Value bound = constantLike(builder, loc, wide, APInt(8, isSigned ? 0 : 1));
    auto predicate = isSigned ? arith::CmpIPredicate::slt : arith::CmpIPredicate::uge;
    result = arith::CmpIOp::create(builder, loc, predicate, result, bound);
  }
  op->getResult(0).replaceAllUsesWith(result);
  op->erase();
  return result;
}

Value kiln::defineForAllInputs(Operation *op) {
  if (isa<arith::DivSIOp, arith::RemSIOp, arith::CeilDivSIOp, arith::FloorDivSIOp>(op))
    return guardDivision(op, /*isSigned=*/true);
  if (isa<arith::DivUIOp, arith::RemUIOp, arith::CeilDivUIOp>(op))
    return guardDivision(op, /*isSigned=*/false);
  if (isa<arith::ShLIOp, arith::ShRSIOp, arith::ShRUIOp>(op))
    return guardShift(op);
  if (isa<arith::FPToSIOp, arith::FPToUIOp>(op))
    return saturate(op, isa<arith::FPToSIOp>(op));
  return {};
}

static Type withElement(Type type, Type element) {
  auto shaped = dyn_cast<ShapedType>(type);
  return shaped ? Type(shaped.clone(element)) : element;
}

/// Through f32. Where the format ends before f32 runs out of bits for integers, whatever is rounded
/// twice is beyond it before and after; elsewhere the first rounding is to odd.
void kiln::convertIntegerOnce(Operation *op) {
  bool isSigned = isa<arith::SIToFPOp>(op);
  OpBuilder builder(op);
  Location loc = op->getLoc();
  Value value = op->getOperand(0);
  Type to = op->getResult(0).getType(), wide = withElement(to, builder.getF32Type());
  const llvm::fltSemantics &format = cast<FloatType>(getElementTypeOrSelf(to)).getFloatSemantics();
  const llvm::fltSemantics &single = llvm::APFloat::IEEEsingle();
  if (llvm::APFloat::semanticsMaxExponent(format) >=
      llvm::APFloat::ExponentType(llvm::APFloat::semanticsPrecision(single)))
    value = roundIntegerToOdd(builder, loc, value, isSigned);
  Value real = isSigned ? arith::SIToFPOp::create(builder, loc, wide, value).getResult()
                        : arith::UIToFPOp::create(builder, loc, wide, value).getResult();
  op->getResult(0).replaceAllUsesWith(arith::TruncFOp::create(builder, loc, to, real));
  op->erase();
}

Value kiln::fuseOnce(OpBuilder &builder, Location loc, ValueRange operands) {
  Type type = operands.front().getType(), wide = withElement(type, builder.getF64Type());
  SmallVector<Value> exact;
  for (Value operand : operands)
    exact.push_back(arith::ExtFOp::create(builder, loc, wide, operand));
  Value odd = fuseToOdd(builder, loc, exact[0], exact[1], exact[2]);
  return arith::TruncFOp::create(builder, loc, type, odd);
}
