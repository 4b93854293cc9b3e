// Exponentials and logarithms of f32 as polynomials, on scalars and vectors alike.
//
// exp: x = n·ln 2 + r with |r| <= ln 2 / 2, e^r by a polynomial, and 2^n by its exponent bits, in
// two factors so that subnormal results are rounded once and too large ones become infinity. log: x
// = m·2^e with m in [√½, √2), log m by a polynomial in m - 1, and e·ln 2 added in two parts. The
// coefficients are Chebyshev fits of (e^r - 1 - r) / r² and (log(1 + f) - f + f²/2) / f³, made with
// 40 digits and rounded to f32. Errors stay below 2 ulp; tests measure them.
#include "ExpandMath.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;

namespace {

/// Arithmetic on values of one shape.
struct Builder {
  OpBuilder &builder;
  Location loc;
  Type f32;
  Type i32 = withElement(builder.getI32Type());

  Type withElement(Type element) const {
    auto vector = dyn_cast<VectorType>(f32);
    return vector ? Type(VectorType::get(vector.getShape(), element)) : element;
  }
  Value constant(Type type, TypedAttr value) {
    if (auto vector = dyn_cast<VectorType>(type))
      value = DenseElementsAttr::get(vector, Attribute(value));
    return arith::ConstantOp::create(builder, loc, value);
  }
  Value real(double value) { return constant(f32, builder.getF32FloatAttr(value)); }
  Value word(uint32_t value) {
    return constant(i32, builder.getI32IntegerAttr(static_cast<int32_t>(value)));
  }
  Value fma(Value a, Value b, Value c) { return math::FmaOp::create(builder, loc, a, b, c); }
  Value mul(Value a, Value b) { return arith::MulFOp::create(builder, loc, a, b); }
  Value add(Value a, Value b) { return arith::AddFOp::create(builder, loc, a, b); }
  Value addI(Value a, Value b) { return arith::AddIOp::create(builder, loc, a, b); }
  Value subI(Value a, Value b) { return arith::SubIOp::create(builder, loc, a, b); }
  Value shiftLeft(Value a, int by) { return arith::ShLIOp::create(builder, loc, a, word(by)); }
  Value shiftRight(Value a, int by) { return arith::ShRSIOp::create(builder, loc, a, word(by)); }
  Value bits(Value value) { return arith::BitcastOp::create(builder, loc, i32, value); }
  Value number(Value bits) { return arith::BitcastOp::create(builder, loc, f32, bits); }
  Value compare(arith::CmpFPredicate how, Value a, Value b) {
    return arith::CmpFOp::create(builder, loc, how, a, b);
  }
  Value select(Value condition, Value yes, Value no) {
    return arith::SelectOp::create(builder, loc, condition, yes, no);
  }
  Value polynomial(Value x, ArrayRef<double> highestFirst) {
    Value sum = real(highestFirst.front());
    for (double next : highestFirst.drop_front())
      sum = fma(sum, x, real(next));
    return sum;
  }
};

constexpr double kLog2E = 1.44269504088896340736;
constexpr double kLn2High = 0.693359375, kLn2Low = -2.12194440054690583e-4;

/// 2^n · e^r for |r| <= ln 2 / 2. A NaN r makes the result NaN, whatever the exponent then is.
Value scaledExp(Builder &b, Value n, Value r, bool hasScale) {
  Value q = b.polynomial(r, {0.0013926177052780986, 0.00836317427456379, 0.041666556149721146,
                             0.16666577756404877, 0.5});
  Value p = b.add(b.fma(b.mul(q, r), r, r), b.real(1));
  Value integer = arith::FPToSIOp::create(b.builder, b.loc, b.i32, n);
  if (hasScale)
    return LLVM::CallIntrinsicOp::create(b.builder, b.loc, b.f32,
                                         b.builder.getStringAttr("llvm.ldexp"),
                                         ValueRange{p, integer})
        ->getResult(0);
  Value half = b.shiftRight(integer, 1);
  auto power = [&](Value exponent) {
    return b.number(b.shiftLeft(b.addI(exponent, b.word(127)), 23));
  };
  return b.mul(b.mul(p, power(half)), power(b.subI(integer, half)));
}

/// Keeps x within bounds; NaN stays.
Value clamp(Builder &b, Value x, double low, double high) {
  Value top = b.real(high), bottom = b.real(low);
  x = b.select(b.compare(arith::CmpFPredicate::OLT, top, x), top, x);
  return b.select(b.compare(arith::CmpFPredicate::OGT, bottom, x), bottom, x);
}

Value expandExp(Builder &b, Value x, bool hasScale) {
  Value bounded = clamp(b, x, -104.5, 89.0);
  Value n = math::RoundEvenOp::create(b.builder, b.loc, b.mul(bounded, b.real(kLog2E)));
  Value r = b.fma(n, b.real(-kLn2High), bounded);
  r = b.fma(n, b.real(-kLn2Low), r);
  return scaledExp(b, n, r, hasScale);
}

Value expandExp2(Builder &b, Value x, bool hasScale) {
  Value bounded = clamp(b, x, -151, 129);
  Value n = math::RoundEvenOp::create(b.builder, b.loc, bounded);
  Value f = arith::SubFOp::create(b.builder, b.loc, bounded, n);
  return scaledExp(b, n, b.mul(f, b.real(0.693147180559945309417)), hasScale);
}

Value expandLog(Builder &b, Value x, bool base2) {
  // A subnormal is scaled into the normal numbers first.
  Value tiny = b.compare(arith::CmpFPredicate::OLT, x, b.real(1.17549435e-38));
  Value scaled = b.select(tiny, b.mul(x, b.real(33554432.0)), x);
  Value shifted = b.subI(b.bits(scaled), b.word(0x3f3504f3));
  Value exponent = b.shiftRight(shifted, 23);
  Value mantissa = arith::AndIOp::create(b.builder, b.loc, shifted, b.word(0x7fffff));
  Value f = b.add(b.number(b.addI(mantissa, b.word(0x3f3504f3))), b.real(-1));
  Value e = arith::SIToFPOp::create(b.builder, b.loc, b.f32, exponent);
  e = b.select(tiny, b.add(e, b.real(-25)), e);

  Value p = b.polynomial(f, {0.06971611827611923, -0.11479733884334564, 0.11685419827699661,
                             -0.12425687164068222, 0.14249058067798615, -0.1666780263185501,
                             0.20000715553760529, -0.2499999701976776, 0.3333333134651184});
  Value square = b.mul(f, f);
  Value y = b.mul(b.mul(square, f), p);
  Value result;
  if (base2) {
    // log2(1 + f) = f·log2 e + …, with log2 e in two parts: 1 and the rest.
    y = b.fma(square, b.real(-0.5), y);
    Value rest = b.fma(y, b.real(kLog2E - 1), b.mul(f, b.real(kLog2E - 1)));
    result = b.add(e, b.add(f, b.add(y, rest)));
  } else {
    y = b.fma(e, b.real(kLn2Low), y);
    y = b.fma(square, b.real(-0.5), y);
    result = b.fma(e, b.real(kLn2High), b.add(f, y));
  }
  Value infinity = b.real(std::numeric_limits<double>::infinity());
  result = b.select(b.compare(arith::CmpFPredicate::OEQ, x, infinity), infinity, result);
  Value zero = b.real(0);
  result = b.select(b.compare(arith::CmpFPredicate::OEQ, x, zero),
                    b.real(-std::numeric_limits<double>::infinity()), result);
  Value nan = b.real(std::numeric_limits<double>::quiet_NaN());
  return b.select(b.compare(arith::CmpFPredicate::ULT, x, zero), nan, result);
}

template <typename Op>
struct Expand : OpRewritePattern<Op> {
  Expand(MLIRContext *context, bool hasScale)
      : OpRewritePattern<Op>(context, /*benefit=*/10), hasScale(hasScale) {}
  bool hasScale;

  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isF32())
      return rewriter.notifyMatchFailure(op, "is not on f32");
    Builder b{rewriter, op.getLoc(), op.getType()};
    Value x = op.getOperand(), result;
    bool scale = hasScale && isa<VectorType>(op.getType());
    if constexpr (std::is_same_v<Op, math::ExpOp>)
      result = expandExp(b, x, scale);
    else if constexpr (std::is_same_v<Op, math::Exp2Op>)
      result = expandExp2(b, x, scale);
    else
      result = expandLog(b, x, std::is_same_v<Op, math::Log2Op>);
    rewriter.replaceOp(op, result);
    return success();
  }
};

} // namespace

void kiln::cpu::populateExpandMathPatterns(RewritePatternSet &patterns, bool hasScale) {
  patterns
      .add<Expand<math::ExpOp>, Expand<math::Exp2Op>, Expand<math::LogOp>, Expand<math::Log2Op>>(
          patterns.getContext(), hasScale);
}
