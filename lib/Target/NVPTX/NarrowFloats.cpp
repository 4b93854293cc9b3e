// Conversions to and from floats of a byte by the chip's own instructions, two elements at a time.
//
// The instruction narrows to nearest, ties to even, and saturates. What this target promises for
// a magnitude past the largest differs (f8E4M3FN: NaN, f8E5M2: infinity), and for NaN the sign
// stays: both are put right by one comparison and one choice an element, which is a quarter of
// what integer arithmetic takes. Fast mathematics lets them saturate.
#include "NarrowFloats.h"
#include "kiln/Target/Common/FastMath.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;

namespace {

bool isByteFloat(Type type) { return isa<Float8E4M3FNType, Float8E5M2Type>(type); }

/// A vector of an even number of elements of `type`'s kind.
VectorType getPairs(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  if (!vector || vector.getRank() != 1 || vector.isScalable() || vector.getNumElements() % 2)
    return {};
  return vector;
}

/// f32 -> f8E4M3FN or f8E5M2.
struct Narrow : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::TruncFOp op, PatternRewriter &rewriter) const override {
    VectorType from = getPairs(op.getIn().getType()), to = getPairs(op.getType());
    if (!from || !from.getElementType().isF32() || !isByteFloat(to.getElementType()))
      return rewriter.notifyMatchFailure(op, "expected pairs of f32 to floats of 8 bits");
    Location loc = op.getLoc();
    Type i8 = rewriter.getI8Type();
    auto bytes = to.clone(i8);
    auto pair = VectorType::get({2}, i8);
    SmallVector<Value> parts;
    for (int64_t i = 0, e = from.getNumElements(); i < e; i += 2) {
      Value low = vector::ExtractOp::create(rewriter, loc, op.getIn(), i);
      Value high = vector::ExtractOp::create(rewriter, loc, op.getIn(), i + 1);
      // The first operand is what goes to the upper byte.
      Value both = NVVM::ConvertF32x2ToF8x2Op::create(
          rewriter, loc, pair, high, low, NVVM::FPRoundingMode::RN, NVVM::SaturationMode::SATFINITE,
          /*relu=*/false, to.getElementType());
      parts.push_back(vector::ExtractOp::create(rewriter, loc, both, int64_t(0)));
      parts.push_back(vector::ExtractOp::create(rewriter, loc, both, int64_t(1)));
    }
    Value rounded = vector::FromElementsOp::create(rewriter, loc, bytes, parts);
    if (kiln::isFast(op)) {
      rewriter.replaceOpWithNewOp<arith::BitcastOp>(op, to, rounded);
      return success();
    }

    auto splat = [&](VectorType type, TypedAttr value) -> Value {
      return arith::ConstantOp::create(rewriter, loc,
                                       DenseElementsAttr::get(type, Attribute(value)));
    };
    auto byte = [&](int value) { return splat(bytes, rewriter.getI8IntegerAttr(int8_t(value))); };
    auto real = [&](float value) { return splat(from, rewriter.getF32FloatAttr(value)); };
    // The least magnitude that does not round to a finite one: half a unit past the largest, whose
    // last bit decides the tie.
    bool infinities = isa<Float8E5M2Type>(to.getElementType());
    Value size = math::AbsFOp::create(rewriter, loc, op.getIn());
    Value finite = arith::CmpFOp::create(
        rewriter, loc, infinities ? arith::CmpFPredicate::OLT : arith::CmpFPredicate::OLE, size,
        real(infinities ? 61440.0f : 464.0f));
    auto words = from.clone(rewriter.getI32Type());
    Value bits = arith::BitcastOp::create(rewriter, loc, words, op.getIn());
    Value sign =
        arith::ShRUIOp::create(rewriter, loc, bits, splat(words, rewriter.getI32IntegerAttr(24)));
    sign = arith::AndIOp::create(rewriter, loc, arith::TruncIOp::create(rewriter, loc, bytes, sign),
                                 byte(0x80));
    Value beyond = byte(infinities ? 0x7c : 0x7f);
    if (infinities) {
      Value isNaN = arith::CmpFOp::create(rewriter, loc, arith::CmpFPredicate::UNO, size, size);
      beyond = arith::SelectOp::create(rewriter, loc, isNaN, byte(0x7e), beyond);
    }
    beyond = arith::OrIOp::create(rewriter, loc, sign, beyond);
    Value result = arith::SelectOp::create(rewriter, loc, finite, rounded, beyond);
    rewriter.replaceOpWithNewOp<arith::BitcastOp>(op, to, result);
    return success();
  }
};

/// f8E4M3FN or f8E5M2 -> f16, which holds every value of both, and on to f32.
struct Widen : OpRewritePattern<arith::ExtFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::ExtFOp op, PatternRewriter &rewriter) const override {
    VectorType from = getPairs(op.getIn().getType()), to = getPairs(op.getType());
    if (!from || !isByteFloat(from.getElementType()) ||
        !(to.getElementType().isF32() || to.getElementType().isF16()))
      return rewriter.notifyMatchFailure(op, "expected pairs of floats of 8 bits to f16 or f32");
    Location loc = op.getLoc();
    Type i8 = rewriter.getI8Type(), f16 = rewriter.getF16Type();
    Value bytes = arith::BitcastOp::create(rewriter, loc, from.clone(i8), op.getIn());
    auto pair = VectorType::get({2}, i8), halves = VectorType::get({2}, f16);
    SmallVector<Value> parts;
    for (int64_t i = 0, e = from.getNumElements(); i < e; i += 2) {
      Value low = vector::ExtractOp::create(rewriter, loc, bytes, i);
      Value high = vector::ExtractOp::create(rewriter, loc, bytes, i + 1);
      Value both = vector::FromElementsOp::create(rewriter, loc, pair, ValueRange{low, high});
      Value wide = NVVM::ConvertF8x2ToF16x2Op::create(rewriter, loc, halves, both, /*relu=*/false,
                                                      from.getElementType());
      parts.push_back(vector::ExtractOp::create(rewriter, loc, wide, int64_t(0)));
      parts.push_back(vector::ExtractOp::create(rewriter, loc, wide, int64_t(1)));
    }
    Value result = vector::FromElementsOp::create(rewriter, loc, to.clone(f16), parts);
    if (to.getElementType().isF32())
      result = arith::ExtFOp::create(rewriter, loc, to, result);
    rewriter.replaceOp(op, result);
    return success();
  }
};

/// bf16 -> f32 where subnormals are flushed: by a shift, for the instruction that flushes is one of
/// the few that a multiprocessor does sixteen of in a cycle.
struct WidenBFloat : OpRewritePattern<arith::ExtFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::ExtFOp op, PatternRewriter &rewriter) const override {
    Type from = op.getIn().getType(), to = op.getType();
    if (!getElementTypeOrSelf(from).isBF16() || !getElementTypeOrSelf(to).isF32())
      return rewriter.notifyMatchFailure(op, "expected bf16 to f32");
    Location loc = op.getLoc();
    auto with = [](Type type, Type element) -> Type {
      auto shaped = dyn_cast<ShapedType>(type);
      return shaped ? Type(shaped.clone(element)) : element;
    };
    Type words = with(to, rewriter.getI32Type());
    TypedAttr sixteen = rewriter.getI32IntegerAttr(16);
    if (auto shaped = dyn_cast<ShapedType>(words))
      sixteen = DenseElementsAttr::get(shaped, Attribute(sixteen));
    Value bits =
        arith::BitcastOp::create(rewriter, loc, with(from, rewriter.getI16Type()), op.getIn());
    bits = arith::ExtUIOp::create(rewriter, loc, words, bits);
    bits = arith::ShLIOp::create(rewriter, loc, bits,
                                 arith::ConstantOp::create(rewriter, loc, sixteen));
    rewriter.replaceOpWithNewOp<arith::BitcastOp>(op, to, bits);
    return success();
  }
};

} // namespace

void kiln::nvptx::populateFlushedFloatPatterns(RewritePatternSet &patterns) {
  patterns.add<WidenBFloat>(patterns.getContext(), /*benefit=*/2);
}

void kiln::nvptx::populateNarrowFloatPatterns(RewritePatternSet &patterns) {
  patterns.add<Narrow, Widen>(patterns.getContext(), /*benefit=*/2);
}
