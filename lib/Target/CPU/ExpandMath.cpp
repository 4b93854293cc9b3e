// Functions of f32, on scalars and vectors alike: exponentials and logarithms as polynomials in f32
// here, most others in f64 (Math/).
//
// exp: x = n·ln 2 + r with |r| <= ln 2 / 2, e^r by a polynomial, and 2^n by its exponent bits, in
// two factors so that subnormal results are rounded once and too large ones become infinity. log: x
// = m·2^e with m in [√½, √2), log m by a polynomial in m - 1, and e·ln 2 added in two parts. The
// coefficients are Chebyshev fits of (e^r - 1 - r) / r² and (log(1 + f) - f + f²/2) / f³, made with
// 40 digits and rounded to f32. Errors stay below 2 ulp; tests measure them.
#include "ExpandMath.h"
#include "Math/Wide.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using kiln::cpu::MathBuilder;
namespace wide = kiln::cpu::wide;

namespace {

constexpr double kLog2E = 1.44269504088896340736;
constexpr double kLn2High = 0.693359375, kLn2Low = -2.12194440054690583e-4;

/// 2^n · e^r for |r| <= ln 2 / 2. A NaN r makes the result NaN, whatever the exponent then is.
Value scaledExp(MathBuilder &b, Value n, Value r, bool hasScale) {
  Value q = b.polynomial(r, {0.0013926177052780986, 0.00836317427456379, 0.041666556149721146,
                             0.16666577756404877, 0.5});
  Value p = b.add(b.fma(b.mul(q, r), r, r), b.real(1));
  Value integer = arith::FPToSIOp::create(b.builder, b.loc, b.integers, n);
  if (hasScale)
    return LLVM::CallIntrinsicOp::create(b.builder, b.loc, b.floats,
                                         b.builder.getStringAttr("llvm.ldexp"),
                                         ValueRange{p, integer})
        ->getResult(0);
  Value half = b.shiftRightSigned(integer, 1);
  auto power = [&](Value exponent) {
    return b.number(b.shiftLeft(b.addI(exponent, b.word(127)), 23u));
  };
  return b.mul(b.mul(p, power(half)), power(b.subI(integer, half)));
}

Value expandExp(MathBuilder &b, Value x, bool hasScale) {
  Value bounded = b.clamp(x, -104.5, 89.0);
  Value n = math::RoundEvenOp::create(b.builder, b.loc, b.mul(bounded, b.real(kLog2E)));
  Value r = b.fma(n, b.real(-kLn2High), bounded);
  r = b.fma(n, b.real(-kLn2Low), r);
  return scaledExp(b, n, r, hasScale);
}

Value expandExp2(MathBuilder &b, Value x, bool hasScale) {
  Value bounded = b.clamp(x, -151, 129);
  Value n = math::RoundEvenOp::create(b.builder, b.loc, bounded);
  Value f = arith::SubFOp::create(b.builder, b.loc, bounded, n);
  return scaledExp(b, n, b.mul(f, b.real(0.693147180559945309417)), hasScale);
}

Value expandLog(MathBuilder &b, Value x, bool base2) {
  // A subnormal is scaled into the normal numbers first.
  Value tiny = b.compare(arith::CmpFPredicate::OLT, x, b.real(1.17549435e-38));
  Value scaled = b.select(tiny, b.mul(x, b.real(33554432.0)), x);
  Value shifted = b.subI(b.bits(scaled), b.word(0x3f3504f3));
  Value exponent = b.shiftRightSigned(shifted, 23);
  Value mantissa = arith::AndIOp::create(b.builder, b.loc, shifted, b.word(0x7fffff));
  Value f = b.add(b.number(b.addI(mantissa, b.word(0x3f3504f3))), b.real(-1));
  Value e = arith::SIToFPOp::create(b.builder, b.loc, b.floats, exponent);
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
    MathBuilder b(rewriter, op.getLoc(), op.getType());
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

/// Operands to f64, the function there, and its result rounded to f32.
template <typename Op, auto function>
struct ExpandWide : OpRewritePattern<Op> {
  ExpandWide(MLIRContext *context) : OpRewritePattern<Op>(context, /*benefit=*/10) {}

  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    Type type = op.getType();
    if (!getElementTypeOrSelf(type).isF32())
      return rewriter.notifyMatchFailure(op, "is not on f32");
    Type f64 = rewriter.getF64Type();
    if (auto vector = dyn_cast<VectorType>(type))
      f64 = vector.clone(f64);
    MathBuilder b(rewriter, op.getLoc(), f64);
    SmallVector<Value, 2> operands;
    for (Value operand : op->getOperands())
      operands.push_back(b.cast<arith::ExtFOp>(f64, operand));
    Value result;
    if constexpr (std::is_invocable_v<decltype(function), MathBuilder &, Value>)
      result = function(b, operands[0]);
    else
      result = function(b, operands[0], operands[1]);
    rewriter.replaceOpWithNewOp<arith::TruncFOp>(op, type, result);
    return success();
  }
};

} // namespace

void kiln::cpu::populateExpandMathPatterns(RewritePatternSet &patterns, bool hasScale) {
  MLIRContext *context = patterns.getContext();
  patterns
      .add<Expand<math::ExpOp>, Expand<math::Exp2Op>, Expand<math::LogOp>, Expand<math::Log2Op>>(
          context, hasScale);
  patterns.add<ExpandWide<math::SinOp, wide::sin>, ExpandWide<math::CosOp, wide::cos>,
               ExpandWide<math::TanOp, wide::tan>, ExpandWide<math::AtanOp, wide::atan>,
               ExpandWide<math::Atan2Op, wide::atan2>, ExpandWide<math::SinhOp, wide::sinh>,
               ExpandWide<math::CoshOp, wide::cosh>, ExpandWide<math::AsinhOp, wide::asinh>,
               ExpandWide<math::AcoshOp, wide::acosh>, ExpandWide<math::AtanhOp, wide::atanh>,
               ExpandWide<math::ErfcOp, wide::erfc>, ExpandWide<math::Log10Op, wide::log10>,
               ExpandWide<math::PowFOp, wide::pow>, ExpandWide<math::CbrtOp, wide::cbrt>,
               ExpandWide<arith::RemFOp, wide::remainder>>(context);
}
