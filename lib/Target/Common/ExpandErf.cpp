// erf of f32 for targets whose exp2 is one instruction: two short polynomials, no division.
//
// |x| < 1: x·P(x²), P of degree 5. Beyond: 1 - 2^-Q(|x|), Q of degree 5, a fit of -log2(erfc) on
// [1, 4], past which the result is 1 in f32. The coefficients are minimax fits of the relative
// error of erf, made in double precision and rounded to f32; with both roundings and an exp2 of
// 2 ulp the result is within 2.5 ulp.
//
// Fast mathematics makes do with 1 - 2^-x·Q(x) throughout, Q of degree 4: within 7e-7 of erf, half
// the instructions.
#include "kiln/Target/Common/Constants.h"
#include "kiln/Target/Common/FastMath.h"
#include "kiln/Target/Common/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace kiln;

namespace {
struct ExpandErf : OpRewritePattern<math::ErfOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::ErfOp op, PatternRewriter &rewriter) const override {
    Type type = op.getType();
    if (!getElementTypeOrSelf(type).isF32())
      return rewriter.notifyMatchFailure(op, "expected f32");
    Location loc = op.getLoc();
    auto real = [&](double value) -> Value {
      return makeSplat(rewriter, loc, type, rewriter.getF32FloatAttr(value));
    };
    auto polynomial = [&](Value x, ArrayRef<double> highestFirst) {
      Value sum = real(highestFirst.front());
      for (double next : highestFirst.drop_front())
        sum = math::FmaOp::create(rewriter, loc, sum, x, real(next));
      return sum;
    };
    Value x = op.getOperand();
    if (isFast(op)) {
      // The flags let the code generator fuse what is around it as well.
      auto fast = op.getFastmath();
      Value size = math::AbsFOp::create(rewriter, loc, x, fast);
      Value log = arith::MulFOp::create(
          rewriter, loc, size,
          polynomial(size, {-0.0029441036749631166, 0.029589863494038582, -0.1486654430627823,
                            -0.9185094237327576, -1.6278890371322632}),
          fast);
      Value rest = math::Exp2Op::create(rewriter, loc, log, fast);
      Value outer = arith::SubFOp::create(rewriter, loc, real(1.0), rest, fast);
      rewriter.replaceOpWithNewOp<math::CopySignOp>(op, outer, x, fast);
      return success();
    }
    Value square = arith::MulFOp::create(rewriter, loc, x, x);
    Value inner =
        polynomial(square, {-0.0005631409585475922, 0.0049175480380654335, -0.02671130932867527,
                            0.11280179768800735, -0.37612324953079224, 1.1283791065216064});
    inner = arith::MulFOp::create(rewriter, loc, x, inner);
    Value size = math::AbsFOp::create(rewriter, loc, x);
    Value log = polynomial(size, {0.0016695455415174365, -0.021398041397333145, 0.12811154127120972,
                                  0.9438679814338684, 1.6123872995376587, 0.0037784981541335583});
    Value rest = math::Exp2Op::create(rewriter, loc, arith::NegFOp::create(rewriter, loc, log));
    Value outer = arith::SubFOp::create(rewriter, loc, real(1.0), rest);
    outer = math::CopySignOp::create(rewriter, loc, outer, x);
    Value isInner =
        arith::CmpFOp::create(rewriter, loc, arith::CmpFPredicate::OLT, size, real(1.0));
    rewriter.replaceOpWithNewOp<arith::SelectOp>(op, isInner, inner, outer);
    return success();
  }
};
} // namespace

void kiln::populateExpandErfPatterns(RewritePatternSet &patterns) {
  patterns.add<ExpandErf>(patterns.getContext(), /*benefit=*/2);
}
