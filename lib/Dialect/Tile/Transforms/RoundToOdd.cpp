// The first of two roundings, on bits: no code generator may take it for arithmetic that it can
// shorten.
#include "kiln/Dialect/Tile/Transforms/RoundToOdd.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace {
/// Builds arithmetic on values of one shape.
struct Bits {
  OpBuilder &builder;
  Location loc;

  Type like(Value value, Type element) {
    auto shaped = dyn_cast<ShapedType>(value.getType());
    return shaped ? Type(shaped.clone(element)) : element;
  }
  Value constant(Type type, uint64_t number) {
    Type element = getElementTypeOrSelf(type);
    TypedAttr attr = builder.getIntegerAttr(
        element, APInt(element.getIntOrFloatBitWidth(), number, false, /*implicitTrunc=*/true));
    if (auto shaped = dyn_cast<ShapedType>(type))
      attr = DenseElementsAttr::get(shaped, Attribute(attr));
    return arith::ConstantOp::create(builder, loc, attr);
  }
  template <typename Op>
  Value op(Value left, Value right) {
    return Op::create(builder, loc, left, right);
  }
  template <typename Op>
  Value op(Value left, uint64_t right) {
    return op<Op>(left, constant(left.getType(), right));
  }
  template <typename Op>
  Value cast(Value value, Type element) {
    return Op::create(builder, loc, like(value, element), value);
  }
  Value compare(arith::CmpIPredicate predicate, Value left, Value right) {
    return arith::CmpIOp::create(builder, loc, predicate, left, right);
  }
  Value compare(arith::CmpIPredicate predicate, Value left, uint64_t right) {
    return compare(predicate, left, constant(left.getType(), right));
  }
  Value select(Value condition, Value yes, Value no) {
    return arith::SelectOp::create(builder, loc, condition, yes, no);
  }
  /// What was rounded to nearest, with its last bit set where it is inexact: one pattern down
  /// first where it went away from zero.
  Value makeOdd(Value bits, Value isFurther, Value isInexact) {
    Type element = getElementTypeOrSelf(bits.getType());
    Value down = op<arith::SubIOp>(bits, cast<arith::ExtUIOp>(isFurther, element));
    return op<arith::OrIOp>(down, cast<arith::ExtUIOp>(isInexact, element));
  }
};
} // namespace

using arith::CmpIPredicate;

Value kiln::roundToOdd(OpBuilder &builder, Location loc, Value value) {
  Bits bits{builder, loc};
  Type i64 = builder.getI64Type(), f32 = builder.getF32Type();
  auto magnitudeOf = [&](Value wide) {
    return bits.op<arith::AndIOp>(bits.cast<arith::BitcastOp>(wide, i64), 0x7fffffffffffffffULL);
  };
  Value nearest = bits.cast<arith::TruncFOp>(value, f32);
  Value exact = magnitudeOf(value);
  Value got = magnitudeOf(bits.cast<arith::ExtFOp>(nearest, builder.getF64Type()));
  Value pattern = bits.cast<arith::BitcastOp>(nearest, builder.getI32Type());
  Value odd = bits.makeOdd(pattern, bits.compare(CmpIPredicate::ugt, got, exact),
                           bits.compare(CmpIPredicate::ne, got, exact));
  Value isNaN = bits.compare(CmpIPredicate::ugt, exact, 0x7ff0000000000000ULL);
  return bits.cast<arith::BitcastOp>(bits.select(isNaN, pattern, odd), f32);
}

/// From each size on, where f32 has no bit for the last ones, these are gathered in one. Twelve
/// more of them each time: all are below half a unit of a format of 11 bits.
Value kiln::roundIntegerToOdd(OpBuilder &builder, Location loc, Value value, bool isSigned) {
  constexpr unsigned first = 23, step = 12;
  Bits bits{builder, loc};
  Type type = value.getType();
  unsigned width = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
  if (width <= first + 1)
    return value;
  Value size = value;
  if (isSigned)
    size = bits.op<arith::XOrIOp>(value, bits.op<arith::ShRSIOp>(value, width - 1));
  Value low = bits.constant(type, 0);
  for (unsigned from = first; from < width; from += step) {
    Value isLarge = bits.compare(CmpIPredicate::uge, size, uint64_t(1) << from);
    uint64_t lost = llvm::maskTrailingOnes<uint64_t>(from - first + step);
    low = bits.select(isLarge, bits.constant(type, lost), low);
  }
  Value some = bits.compare(CmpIPredicate::ne, bits.op<arith::AndIOp>(value, low), 0);
  Value last = bits.op<arith::ShRUIOp>(bits.op<arith::AddIOp>(low, 1), 1);
  Value kept = bits.op<arith::AndIOp>(value, bits.op<arith::XOrIOp>(low, ~uint64_t(0)));
  return bits.op<arith::OrIOp>(kept, bits.select(some, last, bits.constant(type, 0)));
}

/// The sum's error is a number of f64 too (Knuth's two-sum).
Value kiln::fuseToOdd(OpBuilder &builder, Location loc, Value a, Value b, Value c) {
  Bits bits{builder, loc};
  Type i64 = builder.getI64Type();
  Value product = bits.op<arith::MulFOp>(a, b);
  Value sum = bits.op<arith::AddFOp>(product, c);
  Value other = bits.op<arith::SubFOp>(sum, product);
  Value error =
      bits.op<arith::AddFOp>(bits.op<arith::SubFOp>(product, bits.op<arith::SubFOp>(sum, other)),
                             bits.op<arith::SubFOp>(c, other));
  // Of infinities and NaN it is NaN, and there is nothing to gather.
  Value sumBits = bits.cast<arith::BitcastOp>(sum, i64);
  Value errorBits = bits.cast<arith::BitcastOp>(error, i64);
  Value size = bits.op<arith::AndIOp>(errorBits, 0x7fffffffffffffffULL);
  Value isInexact =
      bits.compare(CmpIPredicate::ult, bits.op<arith::SubIOp>(size, 1), 0x7ff0000000000000ULL - 1);
  Value areOpposed =
      bits.compare(CmpIPredicate::slt, bits.op<arith::XOrIOp>(sumBits, errorBits), 0);
  Value odd = bits.makeOdd(sumBits, bits.op<arith::AndIOp>(isInexact, areOpposed), isInexact);
  return bits.cast<arith::BitcastOp>(odd, builder.getF64Type());
}
