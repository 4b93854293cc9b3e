// Integer division of vectors, by way of floats: processors divide integers one at a time.
//
// A float type with twice the integers' bits (nearly: 24 for 16, 53 for 32) holds both operands
// exactly, and its quotient, cut to a whole number, is theirs: one that is not whole lies at least
// 1/|y| below the next whole number, and rounding moves it by less. A divisor that is the same for
// all lanes is inverted once instead, away from zero: the product is then never below the quotient,
// and above it by less than that distance.
//
// 64 bits take two steps on magnitudes: the first quotient is off by 2^13 at most, the second by
// one, which the remainder's sign tells.
#include "DivideVectors.h"
#include "Math/Builder.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace kiln::cpu;

namespace {

struct Quotient {
  Value quotient, remainder;
};

bool isSignedDivision(Operation *op) {
  return isa<arith::DivSIOp, arith::RemSIOp, arith::FloorDivSIOp, arith::CeilDivSIOp>(op);
}

/// The divisor's one value for all lanes, if that can be seen.
Value uniform(Value divisor) {
  auto broadcast = divisor.getDefiningOp<vector::BroadcastOp>();
  if (!broadcast || isa<VectorType>(broadcast.getSource().getType()))
    return {};
  return broadcast.getSource();
}

class Divider {
public:
  Divider(Operation *op, VectorType type, MathBuilder floats)
      : op(op), type(type), x(op->getOperand(0)), y(op->getOperand(1)), f(floats),
        isSigned(isSignedDivision(op)) {}

  Quotient narrow();
  Quotient wide();
  void replace(Quotient found);

private:
  Value integer(const APInt &value) {
    return f.make<arith::ConstantOp>(
        DenseElementsAttr::get(type, f.builder.getIntegerAttr(type.getElementType(), value)));
  }
  Value integer(int64_t value) {
    return integer(APInt(type.getElementTypeBitWidth(), value, /*isSigned=*/true));
  }
  Value is(arith::CmpIPredicate how, Value a, Value b) { return f.make<arith::CmpIOp>(how, a, b); }
  Value isZero(Value v) { return is(arith::CmpIPredicate::eq, v, integer(0)); }
  Value toFloat(Type to, Value value, bool withSign) {
    return withSign ? f.cast<arith::SIToFPOp>(to, value) : f.cast<arith::UIToFPOp>(to, value);
  }
  Value inverse(Value divisor);

  Operation *op;
  VectorType type;
  Value x, y;
  MathBuilder f;
  bool isSigned;
};

/// 1 / y in floats, at least half an ulp above it by magnitude; 0 where y is 0. Of a scalar it is
/// computed where that is made a vector.
Value Divider::inverse(Value divisor) {
  Value scalar = uniform(divisor);
  Type to = f.floats;
  OpBuilder::InsertionGuard guard(f.builder);
  if (scalar) {
    f.builder.setInsertionPoint(divisor.getDefiningOp());
    to = getElementTypeOrSelf(to);
  }
  MathBuilder b(f.builder, f.loc, to);
  Value number = toFloat(to, scalar ? scalar : divisor, isSigned);
  Value found = b.divide(b.real(1), number);
  found = b.number(b.addI(b.bits(found), b.word(1)));
  found = b.select(b.compare(MathBuilder::Predicate::OEQ, number, b.real(0)), b.real(0), found);
  return scalar ? f.cast<vector::BroadcastOp>(f.floats, found) : found;
}

/// At most 16 bits in f32, at most 32 in f64.
Quotient Divider::narrow() {
  Value dividend = toFloat(f.floats, x, isSigned), none = isZero(y), real;
  if (uniform(y))
    real = f.mul(dividend, inverse(y));
  else
    real = f.divide(dividend, toFloat(f.floats, y, isSigned));
  // The sum's low bits hold the whole number, modulo the integers' width.
  Value magic = f.real(f.width() == 32 ? 0x1.8p23 : 0x1.8p52);
  Value quotient = f.cast<arith::TruncIOp>(type, f.bits(f.add(f.truncate(real), magic)));
  quotient = f.select(none, integer(0), quotient);
  Value rest = f.subI(x, f.mulI(quotient, y));
  return {quotient, f.select(none, integer(0), rest)};
}

/// Signed, of 64 bits.
Quotient Divider::wide() {
  Value signX = f.shiftRightSigned(x, 63), signY = f.shiftRightSigned(y, 63);
  auto withSign = [&](Value size, Value sign) { return f.subI(f.bitXor(size, sign), sign); };
  Value size = withSign(x, signX), by = withSign(y, signY), none = isZero(y);
  Value factor = f.magnitude(inverse(y));

  // What these convert is in range, and need not be clamped.
  Value first =
      f.cast<LLVM::FPToUIOp>(f.integers, f.mul(f.cast<arith::UIToFPOp>(f.floats, size), factor));
  Value rest = f.subI(size, f.mulI(first, by));
  Value second =
      f.cast<LLVM::FPToSIOp>(f.integers, f.mul(f.cast<arith::SIToFPOp>(f.floats, rest), factor));
  rest = f.subI(rest, f.mulI(second, by));
  Value quotient = f.addI(first, second), one = f.word(1);
  Value below = is(arith::CmpIPredicate::slt, rest, integer(0));
  quotient = f.select(below, f.subI(quotient, one), quotient);
  rest = f.select(below, f.addI(rest, by), rest);
  Value above = is(arith::CmpIPredicate::sge, rest, by);
  quotient = f.select(above, f.addI(quotient, one), quotient);
  rest = f.select(above, f.subI(rest, by), rest);

  // By a number above 2^62 it is one or nothing; sums with it would not fit.
  Value large = is(arith::CmpIPredicate::ugt, by, f.word(uint64_t(1) << 62));
  Value once = is(arith::CmpIPredicate::uge, size, by);
  quotient = f.select(large, f.select(once, one, integer(0)), quotient);
  rest = f.select(large, f.select(once, f.subI(size, by), size), rest);

  quotient = withSign(quotient, f.bitXor(signX, signY));
  return {f.select(none, integer(0), quotient), f.select(none, integer(0), withSign(rest, signX))};
}

void Divider::replace(Quotient found) {
  Value result = found.quotient;
  if (isa<arith::RemSIOp, arith::RemUIOp>(op)) {
    result = found.remainder;
  } else if (!isa<arith::DivSIOp, arith::DivUIOp>(op)) {
    Value moves = is(arith::CmpIPredicate::ne, found.remainder, integer(0));
    if (isSigned) {
      bool isFloor = isa<arith::FloorDivSIOp>(op);
      auto how = isFloor ? arith::CmpIPredicate::slt : arith::CmpIPredicate::sge;
      moves = f.bitAnd(moves, is(how, f.bitXor(found.remainder, y), integer(0)));
      result = f.select(moves, f.addI(result, integer(isFloor ? -1 : 1)), result);
    } else {
      result = f.select(moves, f.addI(result, integer(1)), result);
    }
  }
  Type given = op->getResult(0).getType();
  if (given != type)
    result = f.cast<arith::IndexCastOp>(given, result);
  op->getResult(0).replaceAllUsesWith(result);
  op->erase();
}

} // namespace

bool kiln::cpu::divideVectors(Operation *op, bool hasLongs) {
  if (!isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp, arith::FloorDivSIOp,
           arith::CeilDivSIOp, arith::CeilDivUIOp>(op))
    return false;
  auto type = dyn_cast<VectorType>(op->getResult(0).getType());
  if (!type || type.getRank() != 1)
    return false;
  Type element = type.getElementType();
  unsigned bits = isa<IndexType>(element) ? 64 : element.getIntOrFloatBitWidth();
  bool isLong = bits == 64;
  if (bits < 8 || (isLong ? !hasLongs || !isSignedDivision(op) : bits > 32))
    return false;
  // Of a known divisor LLVM makes products, where processors have those.
  APInt known;
  if (!isLong && matchPattern(op->getOperand(1), m_ConstantInt(&known)))
    return false;
  OpBuilder builder(op);
  if (isa<IndexType>(element)) {
    type = cast<VectorType>(type.clone(builder.getI64Type()));
    for (OpOperand &operand : op->getOpOperands()) {
      Value scalar = uniform(operand.get());
      Value cast =
          scalar
              ? arith::IndexCastOp::create(builder, op->getLoc(), builder.getI64Type(), scalar)
                    .getResult()
              : arith::IndexCastOp::create(builder, op->getLoc(), type, operand.get()).getResult();
      if (scalar)
        cast = vector::BroadcastOp::create(builder, op->getLoc(), type, cast);
      operand.set(cast);
    }
  }
  Type floats = type.clone(bits <= 16 ? Type(builder.getF32Type()) : builder.getF64Type());
  Divider divider(op, type, MathBuilder(builder, op->getLoc(), floats));
  divider.replace(isLong ? divider.wide() : divider.narrow());
  return true;
}
